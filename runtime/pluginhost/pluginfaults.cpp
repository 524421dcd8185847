#include "pluginfaults.h"

#include <support/timesource.h>

#include <algorithm>
#include <cstring>

namespace davit::pluginhost {

namespace {

QString named(const char *entry, const QString &subject)
{
    return subject.isEmpty() ? QString::fromLatin1(entry)
                             : QStringLiteral("%1 (%2)").arg(QLatin1StringView(entry), subject);
}

qint64 seconds(std::chrono::nanoseconds time)
{
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

constexpr qsizetype kMaxTold = 20; // different ones a minute

constinit thread_local RunningCode t_running;

} // namespace

PluginFaults::PluginFaults(const QString &pluginId, const support::TimeSource &time,
    const Logger &log, const FaultSettings &settings,
    std::function<void(const QString &)> onOverBudget)
    : m_pluginId(pluginId.toUtf8())
    , m_time(time)
    , m_log(log)
    , m_settings(settings)
    , m_onOverBudget(std::move(onOverBudget))
{ }

void PluginFaults::fault(const char *entry, const QString &subject, const QString &what) noexcept
{
    QString reason;
    quint64 count = 0;
    bool isTold = false;
    {
        const std::lock_guard lock(m_mutex);
        const auto now = m_time.monotonic();
        isTold = isToldLocked(now, named(entry, subject) + what);
        count = ++m_count;
        m_last = what;
        m_times.push_back(now);
        while (int(m_times.size()) > m_settings.budget)
            m_times.pop_front();
        if (recentLocked(now) >= m_settings.budget)
            reason = QStringLiteral("%1 faults within %2 s, the last in %3: %4")
                         .arg(m_settings.budget)
                         .arg(seconds(m_settings.window))
                         .arg(named(entry, subject), what);
    }
    if (m_settings.onFault)
        m_settings.onFault(QString::fromUtf8(m_pluginId), entry, subject);
    if (isTold)
        m_log.error("plugin code threw",
            {{"entry", QString::fromLatin1(entry)}, {"subject", subject}, {"what", what},
                {"faultsSoFar", count}});
    if (!reason.isEmpty())
        m_onOverBudget(reason);
}

bool PluginFaults::isToldLocked(std::chrono::nanoseconds now, const QString &line)
{
    const bool isWithinBudget = m_count == 0 || recentLocked(now) < m_settings.budget;
    if (isWithinBudget || now - m_toldAt >= std::chrono::minutes(1)) {
        m_told.clear();
        m_toldAt = now;
    }
    if (m_told.size() >= kMaxTold || m_told.contains(line))
        return false;
    m_told.insert(line);
    return true;
}

void PluginFaults::entered(const char *entry, const QString &subject) noexcept
{
    const auto now = m_time.monotonic();
    const RunningCode outer = std::exchange(t_running, {m_pluginId.constData(), entry, subject});
    const std::lock_guard lock(m_mutex);
    m_calls.push_back({std::this_thread::get_id(), entry, subject, now, outer});
}

void PluginFaults::left() noexcept
{
    const auto self = std::this_thread::get_id();
    const std::lock_guard lock(m_mutex);
    const auto call = std::find_if(
        m_calls.rbegin(), m_calls.rend(), [&](const Call &c) { return c.thread == self; });
    if (call == m_calls.rend())
        return;
    t_running = call->outer;
    m_calls.erase(std::next(call).base());
}

RunningCode PluginFaults::runningHere() noexcept
{
    return t_running;
}

quint64 PluginFaults::count() const
{
    const std::lock_guard lock(m_mutex);
    return m_count;
}

int PluginFaults::recent() const
{
    const std::lock_guard lock(m_mutex);
    return recentLocked(m_time.monotonic());
}

QString PluginFaults::last() const
{
    const std::lock_guard lock(m_mutex);
    return m_last;
}

QString PluginFaults::running() const
{
    const std::lock_guard lock(m_mutex);
    // "event" is the frame around all others on the plugin's thread.
    const auto call = std::find_if(m_calls.begin(), m_calls.end(),
        [](const Call &c) { return std::strcmp(c.entry, "event") != 0; });
    return call == m_calls.end() ? QString() : named(call->entry, call->subject);
}

int PluginFaults::recentLocked(std::chrono::nanoseconds now) const
{
    return int(std::count_if(m_times.begin(), m_times.end(),
        [&](std::chrono::nanoseconds time) { return now - time < m_settings.window; }));
}

QString PluginFaults::overdue() const
{
    const std::lock_guard lock(m_mutex);
    const auto now = m_time.monotonic();
    for (const Call &call : m_calls)
        if (std::strcmp(call.entry, "reconcile") != 0 && now - call.begin > m_settings.callLimit)
            return QStringLiteral("%1 has not returned for %2 s")
                .arg(named(call.entry, call.subject))
                .arg(seconds(now - call.begin));
    return {};
}

} // namespace davit::pluginhost
