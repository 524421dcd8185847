// One timer that a queue sets to its earliest moment. Contract:
//   - armAt() and fired() are called under the owner's lock; the wake-up runs on the executor and
//   takes that lock itself.
//   - After the destructor no wake-up runs any more; it waits for one that runs, so it must not be
//   called under the owner's lock.
// Test: tst_delayingqueue.
#pragma once

#include <QtCore/qglobal.h>
#include <functional>
#include <memory>
#include <support/timesource.h>

namespace davit::workqueue {

class WakeUpTimer
{
public:
    // `time` and `executor` outlive the timer.
    WakeUpTimer(
        support::TimeSource &time, support::Executor &executor, std::function<void()> onWakeUp);
    ~WakeUpTimer();
    Q_DISABLE_COPY_MOVE(WakeUpTimer)

    // Makes sure that a wake-up comes at or soon after this moment of monotonic(). One that is set
    // for an earlier moment stays.
    void armAt(std::chrono::nanoseconds moment);
    // A wake-up runs: none is set any more.
    void fired();
    void disarm();

private:
    struct Target;

    support::TimeSource &m_time;
    support::Executor &m_executor;
    const std::shared_ptr<Target> m_target;
    support::TimeSource::TimerId m_id = 0; // the owner's lock
    std::chrono::nanoseconds m_moment{0}; // the owner's lock
};

} // namespace davit::workqueue
