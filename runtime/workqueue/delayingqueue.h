// A work queue that also takes keys for later. Contract (W-8 to W-12):
//   - One waiting entry a key: a second addAfter() keeps the earlier moment, never postpones.
//   - add() does not end a waiting entry: the key may run now and again later.
//   - shutDown() drops what waits for its time.
// Source: BEHAVIOURS.md. Test: tst_delayingqueue.
#pragma once

#include "indexedheap.h"
#include "keytable.h"
#include "wakeuptimer.h"
#include "workqueue.h"

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
    struct Wait
    {
        std::chrono::nanoseconds moment{0};
        quint64 sequence = 0; // what is due at one moment keeps its order
        quint32 place = 0; // in m_byMoment
    };
    using Waits = KeyTable<PackedKey, Wait>;
    using Item = Waits::value_type;

    void moveDue();

    support::TimeSource &m_time;
    QueueObserver *const m_observer;
    mutable std::mutex m_waitingMutex;
    Waits m_waits; // GUARDED_BY(m_waitingMutex)
    IndexedHeap<Item, EarliestFirst<Item>> m_byMoment; // of m_waits; GUARDED_BY(m_waitingMutex)
    quint64 m_lastSequence = 0; // GUARDED_BY(m_waitingMutex)
    WakeUpTimer m_timer; // last member: dies first
};

} // namespace davit::workqueue
