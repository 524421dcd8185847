// The one source of time: what the runtime reads, and what wakes it up later. Contract:
//   - monotonic() never goes back; it is what waits are measured in. utc() is for what people and
//   servers read.
//   - callAfter() posts to the executor once, at or after the delay; cancel() before that makes
//   sure it does not.
// Tests use davit::testing::ManualClock, which stands behind the same class.
#pragma once

#include "executor.h"

#include <chrono>
#include <cstdint>

namespace davit::support {

class TimeSource
{
public:
    using Nanoseconds = std::chrono::nanoseconds;
    // 0 is no timer.
    using TimerId = std::uint64_t;

    virtual ~TimeSource() = default;
    // Time since an arbitrary start. [thread-safe]
    virtual Nanoseconds monotonic() const = 0;
    // Time since 1970-01-01T00:00:00Z. [thread-safe]
    virtual Nanoseconds utc() const = 0;
    // Posts `work` to `executor` after `delay` (at once when it is zero or less). `executor`
    // outlives the timer. [thread-safe]
    virtual TimerId callAfter(Nanoseconds delay, Executor &executor, Executor::Work work) = 0;
    // Forgets a timer that has not fired. A work that is already posted still runs: the owner
    // checks its own state. [thread-safe]
    virtual void cancel(TimerId id) = 0;
};

// The machine's clocks, with one thread for all timers; it starts at the first use and lives as
// long as the process. [thread-safe]
TimeSource &systemTimeSource();

} // namespace davit::support
