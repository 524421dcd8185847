// Who counts what a queue does; the metrics of BEHAVIOURS.md are made from it. Contract: called
// under the queue's lock, from any thread; an observer returns at once and never calls the queue.
#pragma once

#include <QtCore/qglobal.h>
#include <chrono>
#include <map>

namespace davit::workqueue {

class QueueObserver
{
public:
    virtual ~QueueObserver();
    // Items that are ready at this priority now; never below 0. Queues without priorities use 0.
    virtual void depthChanged(int priority, qsizetype items) = 0;
    // An item joined those that need work.
    virtual void added() = 0;
    // An item was handed out after it had waited, ready, for so long.
    virtual void handedOut(std::chrono::nanoseconds waited) = 0;
    // An item's work ended; it took so long.
    virtual void finished(std::chrono::nanoseconds worked) = 0;
    // An item was added with a delay.
    virtual void retried() = 0;
};

// A queue at one moment.
struct QueueStats
{
    qsizetype ready = 0;
    qsizetype waiting = 0; // delayed
    qsizetype processing = 0;
    std::chrono::nanoseconds unfinishedWork{0}; // sum of the ages of what is being processed
    std::chrono::nanoseconds longestRunning{0};
    std::map<int, qsizetype> readyByPriority; // priorities without items are left out
};

} // namespace davit::workqueue
