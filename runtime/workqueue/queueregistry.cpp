#include "queueregistry.h"

namespace davit::workqueue {

QueueRegistry::QueueRegistry(
    support::TimeSource &time, support::Executor &executor, ObserverFactory observers)
    : m_time(time), m_executor(executor), m_observers(std::move(observers))
{ }

QueueRegistry::~QueueRegistry() = default;

std::shared_ptr<PriorityQueue> QueueRegistry::queue(const QString &pluginId,
    const QString &controller, std::chrono::nanoseconds retryBase,
    std::chrono::nanoseconds retryMax)
{
    const std::lock_guard lock(m_mutex);
    const auto [entry, isNew] = m_queues.try_emplace({pluginId, controller});
    if (!isNew) {
        entry->second.limiter->setDelays(retryBase, retryMax);
        return entry->second.queue;
    }
    auto limiter = std::make_unique<ExponentialLimiter>(retryBase, retryMax);
    entry->second.limiter = limiter.get();
    QueueObserver *observer = m_observers ? m_observers(pluginId, controller) : nullptr;
    entry->second.queue
        = std::make_shared<PriorityQueue>(m_time, m_executor, std::move(limiter), observer);
    return entry->second.queue;
}

void QueueRegistry::remove(const QString &pluginId)
{
    std::vector<std::shared_ptr<PriorityQueue>> removed; // die outside the lock
    const std::lock_guard lock(m_mutex);
    for (auto entry = m_queues.begin(); entry != m_queues.end();) {
        if (entry->first.first != pluginId) {
            ++entry;
            continue;
        }
        entry->second.queue->shutDown();
        removed.push_back(std::move(entry->second.queue));
        entry = m_queues.erase(entry);
    }
}

std::vector<QueueRegistry::Entry> QueueRegistry::entries() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<Entry> entries;
    for (const auto &[name, queue] : m_queues)
        entries.push_back({name.first, name.second, queue.queue});
    return entries;
}

} // namespace davit::workqueue
