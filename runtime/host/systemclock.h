// The host's clock as plugins see it.
#pragma once

#include <davit/priv/backends.h>
#include <support/timesource.h>

namespace davit::host {

class SystemClock final : public priv::ClockBackend
{
public:
    // Borrowed.
    explicit SystemClock(const support::TimeSource &time) : m_time(time) { }
    std::chrono::nanoseconds monotonic() const override { return m_time.monotonic(); }
    std::chrono::nanoseconds utc() const override { return m_time.utc(); }

private:
    const support::TimeSource &m_time;
};

} // namespace davit::host
