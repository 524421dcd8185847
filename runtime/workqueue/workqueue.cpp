#include "workqueue.h"

#include <algorithm>

namespace davit::workqueue {

WorkQueue::WorkQueue(
    const support::TimeSource &time, QueueObserver *observer, std::unique_ptr<QueueOrder> order)
    : m_time(time), m_observer(observer), m_order(std::move(order))
{ }

WorkQueue::~WorkQueue() = default;

void WorkQueue::add(const WorkKey &key)
{
    const SoughtKey sought(key);
    const std::lock_guard lock(m_mutex);
    if (m_isShuttingDown)
        return;
    const bool isProcessing = m_processing.find(sought) != m_processing.end();
    if (m_dirty.find(sought) != m_dirty.end()) {
        if (m_order && !isProcessing)
            m_order->touch(key);
        return;
    }
    const auto dirty = m_dirty.try_emplace(HashedKey(sought)).first;
    if (m_observer) {
        dirty->second = m_time.monotonic();
        m_observer->added();
    }
    if (!isProcessing)
        pushLocked(dirty->first);
}

qsizetype WorkQueue::lengthLocked() const
{
    return m_order ? m_order->length() : qsizetype(m_fifo.size());
}

void WorkQueue::pushLocked(const HashedKey &key)
{
    if (m_order)
        m_order->push(key.key);
    else
        m_fifo.push_back(&key);
    if (m_observer)
        m_observer->depthChanged(0, lengthLocked());
    m_wake.notify_one();
}

std::optional<WorkKey> WorkQueue::takeLocked()
{
    if (lengthLocked() == 0)
        return std::nullopt;
    Moments::node_type taken;
    if (m_order) {
        taken = m_dirty.extract(HashedKey(SoughtKey(m_order->pop())));
    } else {
        taken = m_dirty.extract(*m_fifo.front());
        m_fifo.pop_front();
    }
    const auto now = m_time.monotonic();
    if (m_observer) {
        m_observer->depthChanged(0, lengthLocked());
        m_observer->handedOut(now - taken.mapped());
    }
    taken.mapped() = now;
    return m_processing.insert(std::move(taken)).position->first.key;
}

std::optional<WorkKey> WorkQueue::get()
{
    std::unique_lock lock(m_mutex);
    m_wake.wait(lock, [this] { return lengthLocked() > 0 || m_isShuttingDown; });
    return takeLocked();
}

std::optional<WorkKey> WorkQueue::tryGet()
{
    const std::lock_guard lock(m_mutex);
    return takeLocked();
}

Status WorkQueue::done(const WorkKey &key)
{
    const SoughtKey sought(key);
    const std::lock_guard lock(m_mutex);
    const auto found = m_processing.find(sought);
    if (found == m_processing.end())
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("work queue: done with %1, which was not handed out")
                .arg(toString(key)));
    if (m_observer)
        m_observer->finished(m_time.monotonic() - found->second);
    m_processing.erase(found);
    const auto dirty = m_dirty.find(sought);
    if (dirty != m_dirty.end()) {
        if (m_isDraining)
            m_mustDrain.insert(key);
        pushLocked(dirty->first);
    } else {
        m_mustDrain.erase(key);
    }
    if (m_processing.empty() && m_mustDrain.empty())
        m_drained.notify_all();
    return Status::ok();
}

qsizetype WorkQueue::length() const
{
    const std::lock_guard lock(m_mutex);
    return lengthLocked();
}

bool WorkQueue::isShuttingDown() const
{
    const std::lock_guard lock(m_mutex);
    return m_isShuttingDown;
}

void WorkQueue::shutDown()
{
    const std::lock_guard lock(m_mutex);
    m_isShuttingDown = true;
    m_isDraining = false;
    m_wake.notify_all();
    m_drained.notify_all();
}

void WorkQueue::shutDownWithDrain()
{
    std::unique_lock lock(m_mutex);
    m_isShuttingDown = true;
    m_isDraining = true;
    m_wake.notify_all();
    m_drained.wait(
        lock, [this] { return (m_processing.empty() && m_mustDrain.empty()) || !m_isDraining; });
}

QueueStats WorkQueue::stats() const
{
    const std::lock_guard lock(m_mutex);
    QueueStats stats;
    stats.ready = lengthLocked();
    if (stats.ready > 0)
        stats.readyByPriority[0] = stats.ready;
    stats.processing = qsizetype(m_processing.size());
    const auto now = m_time.monotonic();
    for (const auto &running : m_processing) {
        stats.unfinishedWork += now - running.second;
        stats.longestRunning = std::max(stats.longestRunning, now - running.second);
    }
    return stats;
}

} // namespace davit::workqueue
