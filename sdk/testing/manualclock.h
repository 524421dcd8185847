// Time that stands still until a test moves it, and an executor that runs nothing until told to.
// Contract:
//   - advance() goes from timer to timer: each is posted at its own due time, in the order of due
//     times (equal ones in the order they were set).
//   - With an executor given, its works are run after every step, so a work that sets the next
//     timer inside the advanced span sees it fire in the same call.
// Test: tst_timesource.
#pragma once

#include <support/timesource.h>

#include <deque>
#include <map>
#include <mutex>
#include <optional>

namespace davit::testing {

class ManualExecutor final : public support::Executor
{
public:
    // [thread-safe]
    void post(Work work) override;
    // Runs the oldest work; false when none waits. On the caller's thread. [thread-safe]
    bool runOne();
    // Runs works until none waits, those that they post included; gives their number. [thread-safe]
    int runAll();
    // [thread-safe]
    int pendingItems() const;

private:
    mutable std::mutex m_mutex;
    std::deque<Work> m_waiting; // GUARDED_BY(m_mutex)
};

class ManualClock final : public support::TimeSource
{
public:
    // monotonic() starts at zero, utc() at `utcStart`: 2026-01-01T00:00:00Z when left out.
    explicit ManualClock(Nanoseconds utcStart = std::chrono::seconds(1767225600));

    // [thread-safe]
    Nanoseconds monotonic() const override;
    Nanoseconds utc() const override;
    TimerId callAfter(
        Nanoseconds delay, support::Executor &executor, support::Executor::Work work) override;
    void cancel(TimerId id) override;

    // Moves both clocks. `executor` may be null. [thread-safe]
    void advance(Nanoseconds span, ManualExecutor *executor = nullptr);
    // Moves utc() alone, as someone who sets the machine's clock does. [thread-safe]
    void shiftUtc(Nanoseconds span);
    // Timers that wait, and how long until the first one. [thread-safe]
    int pendingTimers() const;
    std::optional<Nanoseconds> untilNextTimer() const;

private:
    struct Timer
    {
        TimerId id;
        support::Executor *executor;
        support::Executor::Work work;
    };

    bool fireOneUntil(Nanoseconds end);

    mutable std::mutex m_mutex;
    std::multimap<Nanoseconds, Timer> m_timers; // GUARDED_BY(m_mutex)
    Nanoseconds m_now{0}; // GUARDED_BY(m_mutex)
    Nanoseconds m_utcOffset; // GUARDED_BY(m_mutex)
    TimerId m_lastId = 0; // GUARDED_BY(m_mutex)
};

} // namespace davit::testing
