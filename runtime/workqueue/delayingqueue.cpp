#include "delayingqueue.h"

namespace davit::workqueue {

DelayingQueue::DelayingQueue(support::TimeSource &time, support::Executor &executor,
    QueueObserver *observer, std::unique_ptr<QueueOrder> order)
    : WorkQueue(time, observer, std::move(order))
    , m_time(time)
    , m_observer(observer)
    , m_timer(time, executor, [this] { moveDue(); })
{ }

DelayingQueue::~DelayingQueue() = default;

void DelayingQueue::addAfter(const WorkKey &key, std::chrono::nanoseconds delay)
{
    if (isShuttingDown())
        return;
    if (m_observer)
        m_observer->retried();
    if (delay <= std::chrono::nanoseconds::zero()) {
        add(key);
        return;
    }
    const std::lock_guard lock(m_waitingMutex);
    const auto moment = m_time.monotonic() + delay;
    const auto [entry, isNew] = m_readyAt.emplace(key, moment);
    if (!isNew) {
        if (entry->second <= moment)
            return;
        m_waiting.erase({entry->second, &entry->first});
        entry->second = moment;
    }
    m_waiting.emplace(moment, &entry->first);
    m_timer.armAt(m_waiting.begin()->first);
}

void DelayingQueue::moveDue()
{
    const std::lock_guard lock(m_waitingMutex);
    m_timer.fired();
    const auto now = m_time.monotonic();
    while (!m_waiting.empty() && m_waiting.begin()->first <= now) {
        const WorkKey key = *m_waiting.begin()->second;
        m_waiting.erase(m_waiting.begin());
        m_readyAt.erase(key);
        add(key);
    }
    if (!m_waiting.empty())
        m_timer.armAt(m_waiting.begin()->first);
}

qsizetype DelayingQueue::waitingCount() const
{
    const std::lock_guard lock(m_waitingMutex);
    return qsizetype(m_readyAt.size());
}

void DelayingQueue::shutDown()
{
    WorkQueue::shutDown();
    const std::lock_guard lock(m_waitingMutex);
    m_timer.disarm();
    m_waiting.clear();
    m_readyAt.clear();
}

} // namespace davit::workqueue
