#include "benchinput.h"

#include <QtCore/qbytearray.h>
#include <chrono>

namespace bench {
namespace {

qint64 number(const char *name, qint64 fallback)
{
    bool isNumber = false;
    const qint64 value = qgetenv(name).toLongLong(&isNumber);
    return isNumber ? value : fallback;
}

} // namespace

BenchInput readInput()
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    BenchInput input;
    input.objects = number("BENCH_N", input.objects);
    input.burstEvents = number("BENCH_EVENTS", input.burstEvents);
    input.pacedEvents = number("BENCH_LAT", input.pacedEvents);
    input.plugins = int(std::max<qint64>(1, number("BENCH_PLUGINS", input.plugins)));
    input.asksForProtobuf = qgetenv("BENCH_ENCODING") != "json";
    input.isStripped = number("BENCH_STRIP", 1) != 0;
    input.isHeld = !qEnvironmentVariableIsEmpty("BENCH_HOLD");
    input.startNanoseconds
        = number("BENCH_T0", std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    return input;
}

} // namespace bench
