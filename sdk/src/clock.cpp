#include <davit/clock.h>
#include <davit/priv/backends.h>
#include <thread>

DAVIT_BEGIN_NAMESPACE

Clock::Clock() : m_backend(nullptr) { }

Clock::Clock(priv::ClockBackend &backend) : m_backend(&backend) { }

Clock::Clock(const Clock &other) = default;
Clock &Clock::operator=(const Clock &other) = default;
Clock::~Clock() = default;

std::chrono::nanoseconds Clock::monotonic() const
{
    return m_backend
        ? m_backend->monotonic()
        : std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch());
}

QDateTime Clock::utcNow() const
{
    using std::chrono::milliseconds;
    const std::chrono::nanoseconds now = m_backend
        ? m_backend->utc()
        : std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch());
    return QDateTime::fromMSecsSinceEpoch(std::chrono::duration_cast<milliseconds>(now).count())
        .toUTC();
}

void Clock::sleepFor(std::chrono::nanoseconds span) const
{
    if (m_backend)
        m_backend->sleepFor(span);
    else
        std::this_thread::sleep_for(span);
}

DAVIT_END_NAMESPACE
