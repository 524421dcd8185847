// The classic work queue: each key is handed to one worker at a time, and a key that is added while
// it is worked on is handed out exactly once more. Contract (W-1 to W-7):
//   - add() of what waits already changes nothing; add() of what is processed queues it again at
//   done().
//   - After shutDown() nothing is accepted; what waits is still handed out, then get() answers
//   nothing.
//   - Davit decides otherwise than client-go in W-3: done() of a key that was not handed out is an
//   error, never a second entry.
// Source: client-go util/workqueue, BEHAVIOURS.md. Test: tst_workqueue.
#pragma once

#include "keytable.h"
#include "queueobserver.h"
#include "queueorder.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <support/timesource.h>
#include <unordered_set>

namespace davit::workqueue {

class WorkQueue
{
public:
    // `time` and `observer` (may be null) outlive the queue. Without an order: first in, first out.
    explicit WorkQueue(const support::TimeSource &time, QueueObserver *observer = nullptr,
        std::unique_ptr<QueueOrder> order = {});
    // No worker may be inside get().
    virtual ~WorkQueue();
    Q_DISABLE_COPY_MOVE(WorkQueue)

    // Ignored after shutDown(). O(1). [thread-safe]
    void add(const WorkKey &key);
    // The next key; blocks while there is none. Nothing once the queue is shut down and empty.
    // [worker-thread]
    std::optional<WorkKey> get();
    // The next key, or nothing at once. [thread-safe]
    std::optional<WorkKey> tryGet();
    // The work on a key from get() has ended. InvalidArgument when it was not handed out.
    // [thread-safe]
    Status done(const WorkKey &key);
    // Keys that wait; neither those processed nor those delayed. [thread-safe]
    qsizetype length() const;
    bool isShuttingDown() const; // [thread-safe]
    // Ends the queue, and a drain that waits. [thread-safe]
    virtual void shutDown();
    // Ends the queue and blocks until what is processed now, and what was added again meanwhile, is
    // done. What merely waits holds nobody up. shutDown() ends the wait. [worker-thread]
    void shutDownWithDrain();
    QueueStats stats() const; // [thread-safe]

private:
    using Moments = KeyTable<HashedKey, std::chrono::nanoseconds>;

    qsizetype lengthLocked() const;
    void pushLocked(const HashedKey &key);
    std::optional<WorkKey> takeLocked();

    const support::TimeSource &m_time;
    QueueObserver *const m_observer; // borrowed, may be null
    mutable std::mutex m_mutex;
    std::condition_variable m_wake;
    std::condition_variable m_drained;
    const std::unique_ptr<QueueOrder> m_order; // null: m_fifo; GUARDED_BY(m_mutex)
    Moments m_dirty; // since when, counted for an observer; GUARDED_BY(m_mutex)
    std::deque<const HashedKey *> m_fifo; // keys of m_dirty; GUARDED_BY(m_mutex)
    Moments m_processing; // since when; GUARDED_BY(m_mutex)
    std::unordered_set<WorkKey, WorkKeyHash>
        m_mustDrain; // queued again by done() in a drain; GUARDED_BY(m_mutex)
    bool m_isShuttingDown = false; // GUARDED_BY(m_mutex)
    bool m_isDraining = false; // GUARDED_BY(m_mutex)
};

} // namespace davit::workqueue
