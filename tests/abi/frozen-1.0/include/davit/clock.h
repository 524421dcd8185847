// The host's clock. Plugins that take time from here can be tested with a manual one.
// Host-provided. Test: tst_hostcontext, clocks.
#pragma once

#include <QtCore/qdatetime.h>
#include <chrono>
#include <davit/fwd.h>

DAVIT_BEGIN_NAMESPACE
class DAVIT_EXPORT Clock
{
public:
    // The machine's clock.
    Clock();
    Clock(const Clock &other);
    Clock &operator=(const Clock &other);
    ~Clock();
    explicit Clock(priv::ClockBackend &backend); // host only; borrowed

    // Never goes back; its start is arbitrary. [thread-safe]
    std::chrono::nanoseconds monotonic() const;
    // UTC, to the millisecond. [thread-safe]
    QDateTime utcNow() const;
    // Blocks the caller for that long; a test's clock may just go on. [worker-thread]
    void sleepFor(std::chrono::nanoseconds span) const;

private:
    priv::ClockBackend *m_backend; // borrowed; null means the machine's clock
};
DAVIT_END_NAMESPACE
