#include "workqueue.h"

#include <algorithm>

namespace davit::workqueue {

WorkQueue::WorkQueue(
    const support::TimeSource &time, QueueObserver *observer, std::unique_ptr<QueueOrder> order)
    : m_time(time)
    , m_observer(observer)
    , m_order(order ? std::move(order) : std::make_unique<FifoOrder>())
{ }

WorkQueue::~WorkQueue() = default;

void WorkQueue::add(const WorkKey &key)
{
    const std::lock_guard lock(m_mutex);
    if (m_isShuttingDown)
        return;
    const bool isProcessing = m_processing.count(key) > 0;
    if (m_dirty.count(key) > 0) {
        if (!isProcessing)
            m_order->touch(key);
        return;
    }
    m_dirty.emplace(key, m_time.monotonic());
    if (m_observer)
        m_observer->added();
    if (!isProcessing)
        pushLocked(key);
}

void WorkQueue::pushLocked(const WorkKey &key)
{
    m_order->push(key);
    if (m_observer)
        m_observer->depthChanged(0, m_order->length());
    m_wake.notify_one();
}

std::optional<WorkKey> WorkQueue::takeLocked()
{
    if (m_order->length() == 0)
        return std::nullopt;
    const WorkKey key = m_order->pop();
    const auto now = m_time.monotonic();
    const auto dirty = m_dirty.find(key);
    if (m_observer) {
        m_observer->depthChanged(0, m_order->length());
        m_observer->handedOut(now - dirty->second);
    }
    m_dirty.erase(dirty);
    m_processing.emplace(key, now);
    return key;
}

std::optional<WorkKey> WorkQueue::get()
{
    std::unique_lock lock(m_mutex);
    m_wake.wait(lock, [this] { return m_order->length() > 0 || m_isShuttingDown; });
    return takeLocked();
}

std::optional<WorkKey> WorkQueue::tryGet()
{
    const std::lock_guard lock(m_mutex);
    return takeLocked();
}

Status WorkQueue::done(const WorkKey &key)
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_processing.find(key);
    if (found == m_processing.end())
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("work queue: done with %1, which was not handed out")
                .arg(toString(key)));
    if (m_observer)
        m_observer->finished(m_time.monotonic() - found->second);
    m_processing.erase(found);
    if (m_dirty.count(key) > 0) {
        if (m_isDraining)
            m_mustDrain.insert(key);
        pushLocked(key);
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
    return m_order->length();
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
    stats.ready = m_order->length();
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
