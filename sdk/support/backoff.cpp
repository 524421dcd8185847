#include "backoff.h"

#include <QtCore/qrandom.h>
#include <algorithm>
#include <utility>

namespace davit::support {

Backoff::Backoff(
    const TimeSource &time, const BackoffSettings &settings, std::function<double()> random)
    : m_time(time)
    , m_settings(settings)
    , m_random(
          random ? std::move(random) : [] { return QRandomGenerator::global()->generateDouble(); })
    , m_currentNs(double(settings.initial.count()))
    , m_stepsLeft(settings.steps)
    , m_lastReset(time.monotonic())
{ }

std::chrono::nanoseconds Backoff::next()
{
    const auto now = m_time.monotonic();
    const bool resets = m_settings.resetInterval.count() > 0 && m_settings.factor > 0;
    if (resets && now - m_lastReset > m_settings.resetInterval)
        reset();
    const double base = m_currentNs;
    if (m_settings.factor > 0 && m_stepsLeft > 0)
        m_currentNs = std::min(base * m_settings.factor, double(m_settings.cap.count()));
    m_stepsLeft = std::max(m_stepsLeft - 1, 0);
    const double jittered
        = m_settings.jitter > 0 ? base * (1.0 + m_random() * m_settings.jitter) : base;
    return std::chrono::nanoseconds(std::int64_t(jittered));
}

void Backoff::reset()
{
    m_currentNs = double(m_settings.initial.count());
    m_stepsLeft = m_settings.steps;
    m_lastReset = m_time.monotonic();
}

} // namespace davit::support
