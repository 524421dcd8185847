#include "priorityqueue.h"

#include <support/moment.h>

#include <algorithm>

namespace davit::workqueue {
namespace {

using std::chrono::nanoseconds;
using support::momentAfter;

// A controller has two priorities or three, whose counts come and go with each key.
constexpr size_t kKeptLevels = 8;

void remember(std::forward_list<Cause> &causes, const Cause &cause)
{
    if (cause.type == Cause::Type::Unset)
        return;
    causes.push_front(cause);
    size_t kept = 1;
    for (auto last = causes.begin(); std::next(last) != causes.end(); ++last) {
        if (kept++ == PriorityQueue::kMaxCauses) {
            causes.erase_after(last);
            break;
        }
    }
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

bool PriorityQueue::ByPriority::isBefore(const Item &a, const Item &b)
{
    return a.second.priority != b.second.priority ? a.second.priority > b.second.priority
                                                  : a.second.sequence < b.second.sequence;
}

void PriorityQueue::add(const WorkKey &key, const AddOptions &options)
{
    const SoughtKey sought(key);
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

    const auto known = m_entries.find(sought);
    if (known != m_entries.end()) {
        remember(known->second.causes, options.cause);
        addAgainLocked(*known, options, delay);
    } else {
        Item &item = *m_entries.try_emplace(PackedKey(sought)).first;
        remember(item.second.causes, options.cause);
        item.second.priority = options.priority;
        if (delay == nanoseconds::zero())
            makeReadyLocked(item, m_observer ? m_time.monotonic() : nanoseconds::zero());
        else
            waitLocked(item, momentAfter(m_time.monotonic(), delay));
    }
    if (!m_waiting.isEmpty())
        m_timer.armAt(m_waiting.first().second.moment);
}

void PriorityQueue::addAgainLocked(Item &item, const AddOptions &options, nanoseconds delay)
{
    if (options.priority > item.second.priority)
        raisePriorityLocked(item, options.priority);
    if (item.second.state != State::Waiting)
        return;
    const nanoseconds now = m_time.monotonic();
    const nanoseconds moment = momentAfter(now, delay);
    if (moment >= item.second.moment)
        return;
    m_waiting.remove(item);
    if (delay == nanoseconds::zero())
        makeReadyLocked(item, now);
    else
        waitLocked(item, moment);
}

// Goes behind the others of its new level (W-18).
void PriorityQueue::raisePriorityLocked(Item &item, int priority)
{
    Entry &entry = item.second;
    if (entry.state == State::InLine)
        m_ready.remove(item);
    if (entry.state != State::Waiting) {
        changeDepthLocked(entry.priority, -1);
        changeDepthLocked(priority, 1);
        entry.sequence = ++m_lastSequence;
    }
    entry.priority = priority;
    if (entry.state == State::InLine)
        m_ready.push(item);
}

void PriorityQueue::waitLocked(Item &item, nanoseconds moment)
{
    item.second.moment = moment;
    item.second.sequence = ++m_lastSequence; // what is due at one moment keeps its order
    m_waiting.push(item);
}

void PriorityQueue::makeReadyLocked(Item &item, nanoseconds since)
{
    Entry &entry = item.second;
    entry.moment = since;
    entry.sequence = ++m_lastSequence;
    changeDepthLocked(entry.priority, 1);
    if (m_observer)
        m_observer->added();
    entry.state = State::Held;
    if (m_processing.find(item.first) == m_processing.end())
        lineUpLocked(item);
}

void PriorityQueue::lineUpLocked(Item &item)
{
    item.second.state = State::InLine;
    m_ready.push(item);
    m_wake.notify_one();
}

void PriorityQueue::changeDepthLocked(int priority, qsizetype by)
{
    const qsizetype depth = m_depth[priority] += by;
    if (m_observer)
        m_observer->depthChanged(priority, depth);
    if (depth == 0 && m_depth.size() > kKeptLevels)
        m_depth.erase(priority);
}

void PriorityQueue::promoteDueLocked()
{
    if (m_waiting.isEmpty())
        return;
    const nanoseconds now = m_time.monotonic();
    while (!m_waiting.isEmpty() && m_waiting.first().second.moment <= now) {
        Item &due = m_waiting.first();
        m_waiting.remove(due);
        makeReadyLocked(due, due.second.moment);
    }
}

void PriorityQueue::wakeUp()
{
    const std::lock_guard lock(m_mutex);
    m_timer.fired();
    promoteDueLocked();
    if (!m_waiting.isEmpty())
        m_timer.armAt(m_waiting.first().second.moment);
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
            if (!m_ready.isEmpty())
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
    return m_ready.isEmpty() ? std::nullopt : takeLocked(consumer);
}

std::optional<WorkItem> PriorityQueue::takeLocked(Consumer consumer)
{
    Item &first = m_ready.first();
    m_ready.remove(first);
    const Entries::node_type taken = m_entries.extract(first.first);
    Entry &entry = taken.mapped();
    const nanoseconds now = m_time.monotonic();
    m_processing.try_emplace(taken.key(), Running{consumer, now});
    changeDepthLocked(entry.priority, -1);
    if (m_observer)
        m_observer->handedOut(now - entry.moment);
    return WorkItem{taken.key().unpacked(), entry.priority,
        {std::make_move_iterator(entry.causes.begin()),
            std::make_move_iterator(entry.causes.end())}};
}

Status PriorityQueue::done(const WorkKey &key)
{
    const SoughtKey sought(key);
    const std::lock_guard lock(m_mutex);
    const auto running = m_processing.find(sought);
    if (running == m_processing.end())
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("work queue: done with %1, which was not handed out")
                .arg(toString(key)));
    if (m_observer)
        m_observer->finished(m_time.monotonic() - running->second.since);
    m_processing.erase(running);
    const auto held = m_entries.find(sought);
    if (held != m_entries.end() && held->second.state == State::Held)
        lineUpLocked(*held);
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
            keys.push_back(running.first.unpacked());
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
    for (const auto &[priority, depth] : m_depth) {
        if (m_observer && depth > 0)
            m_observer->depthChanged(priority, 0);
    }
    m_depth.clear();
    m_wake.notify_all();
}

QueueStats PriorityQueue::stats() const
{
    const std::lock_guard lock(m_mutex);
    const nanoseconds now = m_time.monotonic();
    QueueStats stats;
    for (const auto &[priority, items] : m_depth) {
        if (items > 0)
            stats.readyByPriority[priority] = items;
        stats.ready += items;
    }
    // What is due counts as ready, whether or not the timer's work has run yet.
    stats.waiting = qsizetype(m_waiting.size());
    m_waiting.visitFront([&](const Item &item) {
        if (item.second.moment > now)
            return false;
        --stats.waiting;
        ++stats.ready;
        ++stats.readyByPriority[item.second.priority];
        return true;
    });
    stats.processing = qsizetype(m_processing.size());
    for (const auto &running : m_processing) {
        stats.unfinishedWork += now - running.second.since;
        stats.longestRunning = std::max(stats.longestRunning, now - running.second.since);
    }
    return stats;
}

} // namespace davit::workqueue
