#include "delayingqueue.h"

#include <support/moment.h>

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
    const SoughtKey sought(key);
    const std::lock_guard lock(m_waitingMutex);
    const auto moment = support::momentAfter(m_time.monotonic(), delay);
    auto wait = m_waits.find(sought);
    if (wait == m_waits.end()) {
        wait = m_waits.try_emplace(PackedKey(sought)).first;
    } else {
        if (wait->second.moment <= moment)
            return;
        m_byMoment.remove(*wait);
    }
    wait->second.moment = moment;
    wait->second.sequence = ++m_lastSequence;
    m_byMoment.push(*wait);
    m_timer.armAt(m_byMoment.first().second.moment);
}

void DelayingQueue::moveDue()
{
    const std::lock_guard lock(m_waitingMutex);
    m_timer.fired();
    const auto now = m_time.monotonic();
    while (!m_byMoment.isEmpty() && m_byMoment.first().second.moment <= now) {
        Item &due = m_byMoment.first();
        m_byMoment.remove(due);
        add(m_waits.extract(due.first).key().unpacked());
    }
    if (!m_byMoment.isEmpty())
        m_timer.armAt(m_byMoment.first().second.moment);
}

qsizetype DelayingQueue::waitingCount() const
{
    const std::lock_guard lock(m_waitingMutex);
    return qsizetype(m_waits.size());
}

void DelayingQueue::shutDown()
{
    WorkQueue::shutDown();
    const std::lock_guard lock(m_waitingMutex);
    m_timer.disarm();
    m_byMoment.clear();
    m_waits.clear();
}

} // namespace davit::workqueue
