// What one plugin did wrong, and what of its code runs now. Contract:
//   - Each fault is counted, and logged once; beyond the error budget of a window each one once a
//   minute, with the count: a timer of 5 ms goes on throwing after its plugin was given up.
//   - When the error budget is used up within its window, `onOverBudget` is called with a sentence.
//   - Calls are known by thread, so that one that never returns, or that ends the process, can be
//   named.
// Test: tst_pluginfaults.
#pragma once

#include <davit/logging.h>
#include <davit/priv/plugincall.h>

#include <QtCore/qset.h>

#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace davit::support {
class TimeSource;
}

namespace davit::pluginhost {

struct FaultSettings
{
    int budget = 10; // this many faults …
    std::chrono::nanoseconds window = std::chrono::minutes(1); // … within this time are too many
    // How long anything but a reconcile may take.
    std::chrono::nanoseconds callLimit = std::chrono::seconds(60);
    // Hears of each fault, on its thread and within it; for metrics. Empty: nobody.
    std::function<void(const QString &pluginId, const char *entry, const QString &subject)> onFault;
};

// The plugin code that a thread runs. Null outside of any; the texts live as long as the call.
struct RunningCode
{
    const char *pluginId = nullptr;
    const char *entry = nullptr;
    QStringView subject;
};

class PluginFaults final : public priv::FaultSink
{
public:
    // `onOverBudget` is called on the thread of the fault, at each fault that is over the budget.
    PluginFaults(const QString &pluginId, const support::TimeSource &time, const Logger &log,
        const FaultSettings &settings, std::function<void(const QString &reason)> onOverBudget);
    Q_DISABLE_COPY_MOVE(PluginFaults)

    void fault(const char *entry, const QString &subject, const QString &what) noexcept override;
    void entered(const char *entry, const QString &subject) noexcept override;
    void left() noexcept override;

    // Since the start. [thread-safe]
    quint64 count() const;
    // Faults within the window up to now. [thread-safe]
    int recent() const;
    // What was thrown last; empty before the first fault. [thread-safe]
    QString last() const;
    // "shutdown (replicator)": the oldest call that runs now, or empty. [thread-safe]
    QString running() const;
    // "slot added (v1 Secret) has not returned for 61 s" about a call that is over the limit, or
    // empty. [thread-safe]
    QString overdue() const;
    // Of the calling thread and of any plugin; may be called by a signal handler. [thread-safe]
    static RunningCode runningHere() noexcept;

private:
    struct Call
    {
        std::thread::id thread;
        const char *entry;
        QString subject;
        std::chrono::nanoseconds begin;
        RunningCode outer; // what it interrupted
    };
    int recentLocked(std::chrono::nanoseconds now) const;
    bool isToldLocked(
        std::chrono::nanoseconds now, const QString &line); // of a fault that is not counted yet

    const QByteArray m_pluginId; // UTF-8
    const support::TimeSource &m_time;
    const Logger m_log;
    const FaultSettings m_settings;
    const std::function<void(const QString &)> m_onOverBudget;
    mutable std::mutex m_mutex;
    std::vector<Call> m_calls; // GUARDED_BY(m_mutex); a few, the innermost of a thread last
    std::deque<std::chrono::nanoseconds> m_times; // GUARDED_BY(m_mutex); of the last faults
    std::chrono::nanoseconds m_toldAt{0}; // GUARDED_BY(m_mutex); since when m_told gathers
    QSet<QString> m_told; // GUARDED_BY(m_mutex)
    quint64 m_count = 0; // GUARDED_BY(m_mutex)
    QString m_last; // GUARDED_BY(m_mutex)
};

} // namespace davit::pluginhost
