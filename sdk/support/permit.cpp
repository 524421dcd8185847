#include "permit.h"

#include <algorithm>
#include <ctime>

namespace davit::support {

TimeSource::Nanoseconds sinceBoot(const TimeSource &time)
{
    if (&time != &systemTimeSource())
        return time.monotonic();
    timespec now{};
    (void)::clock_gettime(CLOCK_BOOTTIME, &now); // fails for unknown clocks only
    return std::chrono::seconds(now.tv_sec) + TimeSource::Nanoseconds(now.tv_nsec);
}

Permit::Permit(const TimeSource &time, const QString &refusal)
    : m_time(time), m_refusal(refusal) { }

bool Permit::extend(TimeSource::Nanoseconds end)
{
    Count present = m_end.load();
    for (;;) {
        if (present == kGone)
            return false;
        const Count now = sinceBoot(m_time).count();
        const bool isOver = now >= end.count() || (present != kNotYet && now >= present);
        if (isOver && present == kNotYet)
            return false; // too late for the first time; a later try may succeed
        const Count next = isOver ? kGone : std::max(present, end.count());
        if (m_end.compare_exchange_weak(present, next))
            return !isOver;
    }
}

void Permit::revoke()
{
    m_end.store(kGone);
}

bool Permit::isValid() const
{
    Count present = m_end.load();
    for (;;) {
        if (present < 0)
            return false;
        if (sinceBoot(m_time).count() < present)
            return true;
        // Whoever extends it at this moment must find out, or the refused one was refused for
        // nothing: only one of the two succeeds.
        if (m_end.compare_exchange_weak(present, kGone))
            return false;
    }
}

} // namespace davit::support
