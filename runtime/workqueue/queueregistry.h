// The queues of all controllers, one for each plugin Id and controller name. They belong to the
// host and may outlive the plugin code that works on them: code that takes a name over finds keys,
// delays and failure counts as they were left. (The host replaces no code yet: a plugin's queues
// end with it.) Test: tst_priorityqueue, registry.
#pragma once

#include "priorityqueue.h"

namespace davit::workqueue {

class QueueRegistry
{
public:
    // Gives the observer of a new queue, or null. It outlives the registry. Called under the
    // registry's lock.
    using ObserverFactory
        = std::function<QueueObserver *(const QString &pluginId, const QString &controller)>;

    // `time` and `executor` outlive the registry and its queues.
    QueueRegistry(
        support::TimeSource &time, support::Executor &executor, ObserverFactory observers = {});
    ~QueueRegistry();
    Q_DISABLE_COPY_MOVE(QueueRegistry)

    // The queue, made at the first call. The delays of retries are those named last. [thread-safe]
    std::shared_ptr<PriorityQueue> queue(const QString &pluginId, const QString &controller,
        std::chrono::nanoseconds retryBase, std::chrono::nanoseconds retryMax);
    // Shuts the plugin's queues down and forgets them: the plugin is gone for good. [thread-safe]
    void remove(const QString &pluginId);

    struct Entry
    {
        QString pluginId;
        QString controller;
        std::shared_ptr<PriorityQueue> queue;
    };
    // Sorted by plugin and controller. [thread-safe]
    std::vector<Entry> entries() const;

private:
    struct Queue
    {
        std::shared_ptr<PriorityQueue> queue;
        ExponentialLimiter *limiter; // of the queue
    };

    support::TimeSource &m_time;
    support::Executor &m_executor;
    const ObserverFactory m_observers;
    mutable std::mutex m_mutex;
    std::map<std::pair<QString, QString>, Queue> m_queues; // GUARDED_BY(m_mutex)
};

} // namespace davit::workqueue
