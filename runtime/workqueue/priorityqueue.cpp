#include "priorityqueue.h"

#include <algorithm>

namespace davit::workqueue {
namespace {

using std::chrono::nanoseconds;

void remember(std::vector<Cause> &causes, const Cause &cause)
{
    if (cause.type == Cause::Type::Unset)
        return;
    if (causes.size() == PriorityQueue::kMaxCauses)
        causes.pop_back();
    causes.insert(causes.begin(), cause);
}

} // namespace

PriorityQueue::PriorityQueue(support::TimeSource &time, support::Executor &executor,
    std::unique_ptr<RateLimiter> limiter, QueueObserver *observer)
    : m_time(time)
    , m_observer(observer)
    , m_limiter(std::move(limiter))
    , m_timer(time, executor, [this] { wakeUp(); })
{ }

PriorityQueue::~PriorityQueue() = default;

void PriorityQueue::add(const WorkKey &key, const AddOptions &options)
{
    const std::lock_guard lock(m_mutex);
    if (m_isShutDown)
        return;
    promoteDueLocked();
    nanoseconds delay = std::max(options.after, nanoseconds::zero());
    if (options.isRateLimited) {
        const nanoseconds limited = m_limiter->when(key);
        delay = delay == nanoseconds::zero() ? limited : std::min(delay, limited);
    }
    delay = std::max(delay, options.atLeast);
    if (delay > nanoseconds::zero() && m_observer)
        m_observer->retried();

    const auto [entry, isNew] = m_entries.try_emplace(key);
    remember(entry->second.causes, options.cause);
    if (!isNew) {
        addAgainLocked(*entry, options, delay);
    } else {
        entry->second.priority = options.priority;
        if (delay == nanoseconds::zero()) {
            makeReadyLocked(*entry, m_time.monotonic());
        } else {
            entry->second.moment = m_time.monotonic() + delay;
            m_waiting.emplace(entry->second.moment, &entry->first);
        }
    }
    if (!m_waiting.empty())
        m_timer.armAt(m_waiting.begin()->first);
}

void PriorityQueue::addAgainLocked(
    Entries::value_type &entry, const AddOptions &options, nanoseconds delay)
{
    Entry &e = entry.second;
    if (options.priority > e.priority) {
        if (e.isReady) {
            const bool wasInLine = m_ready.erase({e.priority, e.sequence, &entry.first}) > 0;
            changeDepthLocked(e.priority, -1);
            changeDepthLocked(options.priority, 1);
            e.sequence = ++m_lastSequence;
            if (wasInLine)
                m_ready.insert({options.priority, e.sequence, &entry.first});
        }
        e.priority = options.priority;
    }
    if (e.isReady)
        return;
    const nanoseconds now = m_time.monotonic();
    if (now + delay >= e.moment)
        return;
    m_waiting.erase({e.moment, &entry.first});
    if (delay == nanoseconds::zero()) {
        makeReadyLocked(entry, now);
    } else {
        e.moment = now + delay;
        m_waiting.emplace(e.moment, &entry.first);
    }
}

void PriorityQueue::makeReadyLocked(Entries::value_type &entry, nanoseconds since)
{
    Entry &e = entry.second;
    e.isReady = true;
    e.moment = since;
    e.sequence = ++m_lastSequence;
    changeDepthLocked(e.priority, 1);
    if (m_observer)
        m_observer->added();
    if (m_processing.count(entry.first) > 0)
        return; // joins the line at done()
    m_ready.insert({e.priority, e.sequence, &entry.first});
    m_wake.notify_one();
}

void PriorityQueue::changeDepthLocked(int priority, qsizetype by)
{
    const qsizetype depth = m_depth[priority] += by;
    if (m_observer)
        m_observer->depthChanged(priority, depth);
    if (depth == 0)
        m_depth.erase(priority);
}

void PriorityQueue::promoteDueLocked()
{
    if (m_waiting.empty())
        return;
    const nanoseconds now = m_time.monotonic();
    while (!m_waiting.empty() && m_waiting.begin()->first <= now) {
        const auto [moment, key] = *m_waiting.begin();
        m_waiting.erase(m_waiting.begin());
        makeReadyLocked(*m_entries.find(*key), moment);
    }
}

void PriorityQueue::wakeUp()
{
    const std::lock_guard lock(m_mutex);
    m_timer.fired();
    promoteDueLocked();
    if (!m_waiting.empty())
        m_timer.armAt(m_waiting.begin()->first);
}

PriorityQueue::Consumer PriorityQueue::attach()
{
    const std::lock_guard lock(m_mutex);
    m_consumers.insert(++m_lastConsumer);
    return m_lastConsumer;
}

void PriorityQueue::detach(Consumer consumer)
{
    const std::lock_guard lock(m_mutex);
    m_consumers.erase(consumer);
    m_wake.notify_all();
}

bool PriorityQueue::mayTakeLocked(Consumer consumer) const
{
    return !m_isShutDown && m_consumers.count(consumer) > 0;
}

std::optional<WorkItem> PriorityQueue::get(Consumer consumer)
{
    std::unique_lock lock(m_mutex);
    for (;;) {
        if (!mayTakeLocked(consumer)) {
            m_wake.notify_one(); // the wake-up that brought us here may have been meant for another
            return std::nullopt;
        }
        if (!m_isPaused) {
            promoteDueLocked();
            if (!m_ready.empty())
                return takeLocked(consumer);
        }
        m_wake.wait(lock);
    }
}

std::optional<WorkItem> PriorityQueue::tryGet(Consumer consumer)
{
    const std::lock_guard lock(m_mutex);
    if (!mayTakeLocked(consumer) || m_isPaused)
        return std::nullopt;
    promoteDueLocked();
    return m_ready.empty() ? std::nullopt : takeLocked(consumer);
}

std::optional<WorkItem> PriorityQueue::takeLocked(Consumer consumer)
{
    const auto entry = m_entries.find(*m_ready.begin()->key);
    m_ready.erase(m_ready.begin());
    const nanoseconds now = m_time.monotonic();
    const nanoseconds waited = now - entry->second.moment;
    WorkItem item{entry->first, entry->second.priority, std::move(entry->second.causes)};
    m_entries.erase(entry);
    m_processing.emplace(item.key, Running{consumer, now});
    changeDepthLocked(item.priority, -1);
    if (m_observer)
        m_observer->handedOut(waited);
    return item;
}

Status PriorityQueue::done(const WorkKey &key)
{
    const std::lock_guard lock(m_mutex);
    const auto running = m_processing.find(key);
    if (running == m_processing.end())
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("work queue: done with %1, which was not handed out")
                .arg(toString(key)));
    if (m_observer)
        m_observer->finished(m_time.monotonic() - running->second.since);
    m_processing.erase(running);
    const auto entry = m_entries.find(key);
    if (entry != m_entries.end() && entry->second.isReady) {
        m_ready.insert({entry->second.priority, entry->second.sequence, &entry->first});
        m_wake.notify_one();
    }
    return Status::ok();
}

void PriorityQueue::pause()
{
    const std::lock_guard lock(m_mutex);
    m_isPaused = true;
}

void PriorityQueue::resume()
{
    const std::lock_guard lock(m_mutex);
    m_isPaused = false;
    m_wake.notify_all();
}

qint64 PriorityQueue::requeues(const WorkKey &key) const
{
    return m_limiter->requeues(key);
}

void PriorityQueue::forget(const WorkKey &key)
{
    m_limiter->forget(key);
}

qsizetype PriorityQueue::length() const
{
    return stats().ready;
}

bool PriorityQueue::isShutDown() const
{
    const std::lock_guard lock(m_mutex);
    return m_isShutDown;
}

std::vector<WorkKey> PriorityQueue::processing(Consumer consumer) const
{
    const std::lock_guard lock(m_mutex);
    std::vector<WorkKey> keys;
    for (const auto &running : m_processing) {
        if (running.second.consumer == consumer)
            keys.push_back(running.first);
    }
    return keys;
}

void PriorityQueue::shutDown()
{
    const std::lock_guard lock(m_mutex);
    m_isShutDown = true;
    m_timer.disarm();
    m_ready.clear();
    m_waiting.clear();
    m_entries.clear();
    while (!m_depth.empty())
        changeDepthLocked(m_depth.begin()->first, -m_depth.begin()->second);
    m_wake.notify_all();
}

QueueStats PriorityQueue::stats() const
{
    const std::lock_guard lock(m_mutex);
    const nanoseconds now = m_time.monotonic();
    QueueStats stats;
    stats.readyByPriority = m_depth;
    for (const auto &[priority, items] : m_depth)
        stats.ready += items;
    // What is due counts as ready, whether or not the timer's work has run yet.
    auto due = m_waiting.begin();
    for (; due != m_waiting.end() && due->first <= now; ++due) {
        ++stats.ready;
        ++stats.readyByPriority[m_entries.at(*due->second).priority];
    }
    stats.waiting = qsizetype(std::distance(due, m_waiting.end()));
    stats.processing = qsizetype(m_processing.size());
    for (const auto &running : m_processing) {
        stats.unfinishedWork += now - running.second.since;
        stats.longestRunning = std::max(stats.longestRunning, now - running.second.since);
    }
    return stats;
}

} // namespace davit::workqueue
