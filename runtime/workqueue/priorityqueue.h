// The queue of controllers: keys with priorities, delays and back-off, handed to one worker at a
// time. Contract (W-16 to W-25):
//   - One entry a key. Adding again raises the priority, never lowers it, and brings the moment
//   forward, never back.
//   - Ready keys come by priority, then by age. A key that waited for its time is as old as that
//   moment (B38).
//   - A key that is processed may be ready again; it is handed out after done().
//   - It outlives the consumers that take from it: a consumer is detached while keys stay, so that
//   a plugin can be replaced without losing one, and without a key ever being in two hands.
//   - shutDown() drops what is ready and what waits.
//   - done() of a key that was not handed out is an error (Davit decides otherwise, W-3).
// Source: controller-runtime's priorityqueue, BEHAVIOURS.md. Test: tst_priorityqueue.
#pragma once

#include "cause.h"
#include "indexedheap.h"
#include "keytable.h"
#include "queueobserver.h"
#include "ratelimiter.h"
#include "wakeuptimer.h"

#include <condition_variable>
#include <forward_list>
#include <optional>
#include <set>

namespace davit::workqueue {

struct AddOptions
{
    std::chrono::nanoseconds after{0};
    bool isRateLimited = false; // the limiter's delay, at most `after` when that is set (W-17)
    std::chrono::nanoseconds atLeast{
        0}; // what the server asked for; the limiter's delay may be longer
    int priority = 0;
    Cause cause;
};

struct WorkItem
{
    WorkKey key;
    int priority = 0;
    std::vector<Cause> causes; // newest first, at most PriorityQueue::kMaxCauses
};

class PriorityQueue
{
public:
    using Consumer = quint64; // 0 is none
    static constexpr int kLowPriority = -100; // W-25
    static constexpr size_t kMaxCauses = 4;

    // `time`, `executor` (which moves what is due) and `observer` (may be null) outlive the queue.
    PriorityQueue(support::TimeSource &time, support::Executor &executor,
        std::unique_ptr<RateLimiter> limiter, QueueObserver *observer = nullptr);
    // No consumer may be inside get().
    ~PriorityQueue();
    Q_DISABLE_COPY_MOVE(PriorityQueue)

    // Ignored after shutDown(). O(log n). [thread-safe]
    void add(const WorkKey &key, const AddOptions &options = {});
    // One who takes keys from now on. [thread-safe]
    Consumer attach();
    // Its get() calls answer nothing from now on; what it processes stays its own until done().
    // [thread-safe]
    void detach(Consumer consumer);
    // The next ready key; blocks while there is none or the queue is paused. Nothing once the
    // consumer is detached or the queue shut down. [worker-thread]
    std::optional<WorkItem> get(Consumer consumer);
    // The next ready key, or nothing at once. [thread-safe]
    std::optional<WorkItem> tryGet(Consumer consumer);
    // InvalidArgument when the key was not handed out. [thread-safe]
    Status done(const WorkKey &key);
    // Keys stay, get() waits. [thread-safe]
    void pause();
    void resume();
    // Failures so far; forgetting clears them. [thread-safe]
    qint64 requeues(const WorkKey &key) const;
    void forget(const WorkKey &key);
    // Ready keys, those that are processed at the same time included. [thread-safe]
    qsizetype length() const;
    bool isShutDown() const; // [thread-safe]
    // What this consumer was handed and has not done. [thread-safe]
    std::vector<WorkKey> processing(Consumer consumer) const;
    void shutDown(); // [thread-safe]
    QueueStats stats() const; // [thread-safe]

private:
    enum class State : quint8 {
        Waiting, // for its moment; in m_waiting
        InLine, // ready; in m_ready
        Held // ready, but in someone's hands until done()
    };
    struct Entry
    {
        quint32 place = 0; // in m_waiting or m_ready
        int priority = 0;
        quint64 sequence = 0;
        // When it will be ready, or since when it is; zero when nobody observes that.
        std::chrono::nanoseconds moment{0};
        std::forward_list<Cause> causes; // newest first
        State state = State::Waiting;
    };
    using Entries = KeyTable<PackedKey, Entry>;
    using Item = Entries::value_type;
    struct ByPriority
    {
        static quint32 &place(Item &item) { return item.second.place; }
        static bool isBefore(const Item &a, const Item &b);
    };
    struct Running
    {
        Consumer consumer;
        std::chrono::nanoseconds since;
    };

    void waitLocked(Item &item, std::chrono::nanoseconds moment);
    void makeReadyLocked(Item &item, std::chrono::nanoseconds since);
    void lineUpLocked(Item &item);
    void addAgainLocked(Item &item, const AddOptions &options, std::chrono::nanoseconds delay);
    void raisePriorityLocked(Item &item, int priority);
    void promoteDueLocked();
    void wakeUp();
    std::optional<WorkItem> takeLocked(Consumer consumer);
    bool mayTakeLocked(Consumer consumer) const;
    void changeDepthLocked(int priority, qsizetype by);

    support::TimeSource &m_time;
    QueueObserver *const m_observer;
    const std::unique_ptr<RateLimiter> m_limiter; // own synchronisation
    mutable std::mutex m_mutex;
    std::condition_variable m_wake;
    Entries m_entries; // GUARDED_BY(m_mutex), as all that follows
    IndexedHeap<Item, ByPriority> m_ready; // of m_entries: what may be handed out
    IndexedHeap<Item, EarliestFirst<Item>> m_waiting; // of m_entries
    KeyTable<PackedKey, Running> m_processing;
    std::set<Consumer> m_consumers;
    std::map<int, qsizetype> m_depth; // by priority; some are zero
    Consumer m_lastConsumer = 0;
    quint64 m_lastSequence = 0;
    bool m_isPaused = false;
    bool m_isShutDown = false;
    WakeUpTimer m_timer; // last member: dies first
};

} // namespace davit::workqueue
