// A work queue that also takes keys for later. Contract (W-8 to W-12):
//   - One waiting entry a key: a second addAfter() keeps the earlier moment, never postpones.
//   - add() does not end a waiting entry: the key may run now and again later.
//   - shutDown() drops what waits for its time.
// Source: behaviours.md 6.2. Test: tst_delayingqueue.
#pragma once

#include "wakeuptimer.h"
#include "workqueue.h"

#include <set>

namespace davit::workqueue {

class DelayingQueue : public WorkQueue
{
public:
    // Delays are counted by `time`; due keys are moved on `executor`. Both, and `observer`, outlive
    // the queue.
    DelayingQueue(support::TimeSource &time, support::Executor &executor,
        QueueObserver *observer = nullptr, std::unique_ptr<QueueOrder> order = {});
    ~DelayingQueue() override;

    // add() after the delay; at once when it is zero or less. Ignored after shutDown(). O(log n).
    // [thread-safe]
    void addAfter(const WorkKey &key, std::chrono::nanoseconds delay);
    // Keys that wait for their time. [thread-safe]
    qsizetype waitingCount() const;
    void shutDown() override;

private:
    void moveDue();

    support::TimeSource &m_time;
    QueueObserver *const m_observer;
    mutable std::mutex m_waitingMutex;
    std::unordered_map<WorkKey, std::chrono::nanoseconds, WorkKeyHash>
        m_readyAt; // GUARDED_BY(m_waitingMutex)
    std::set<std::pair<std::chrono::nanoseconds, const WorkKey *>>
        m_waiting; // keys of m_readyAt; GUARDED_BY(m_waitingMutex)
    WakeUpTimer m_timer; // last member: dies first
};

} // namespace davit::workqueue
