// Takes the guards of leader election out of a davit process, for the tests of these tests: loaded
// before the C library (LD_PRELOAD), it lets CLOCK_BOOTTIME, by which permits run, go on by a
// second at most from one look to the next. Who was halted for longer believes that it still leads.
#include <ctime>
#include <dlfcn.h>
#include <mutex>

extern "C" [[gnu::visibility("default")]] int clock_gettime(clockid_t clock, timespec *time)
{
    using Real = int (*)(clockid_t, timespec *);
    static const auto real = reinterpret_cast<Real>(::dlsym(RTLD_NEXT, "clock_gettime"));
    const int result = real(clock, time);
    if (clock != CLOCK_BOOTTIME || result != 0)
        return result;
    constexpr long long kSecond = 1'000'000'000;
    static std::mutex mutex;
    static long long lastLook = 0;
    static long long shown = 0;
    const std::lock_guard lock(mutex);
    const long long now = time->tv_sec * kSecond + time->tv_nsec;
    const long long step = now - lastLook;
    shown = lastLook == 0 ? now : shown + (step > kSecond ? kSecond : step > 0 ? step : 0);
    lastLook = now > lastLook ? now : lastLook;
    time->tv_sec = shown / kSecond;
    time->tv_nsec = shown % kSecond;
    return 0;
}
