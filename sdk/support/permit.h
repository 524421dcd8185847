// The right to act until a moment, for work that another process takes over afterwards. Contract:
//   - Each question reads the clock: a process that was stopped for a while, or a machine that
//   slept, finds the right gone before anything else has noticed.
//   - Once someone was told that it is gone, it never comes back.
//   - It says that a thing may begin, never that it arrives in time: nothing here fences what is on
//   the wire (BEHAVIOURS.md L-15).
// Test: tst_timesource, permit.
#pragma once

#include "timesource.h"

#include <QtCore/qstring.h>
#include <atomic>

namespace davit::support {

// The time that permits run by: on the machine's clocks CLOCK_BOOTTIME, which goes on while the
// machine sleeps, as others do; on a clock of a test its monotonic(). [thread-safe]
TimeSource::Nanoseconds sinceBoot(const TimeSource &time);

class Permit
{
public:
    // Nothing may be done until the first extend(). `time` outlives the permit. `refusal` says why
    // something may not be done: "this process does not hold the Lease ops/davit".
    Permit(const TimeSource &time, const QString &refusal);
    Q_DISABLE_COPY_MOVE(Permit)

    // From now on until `end`, a time of sinceBoot(). False when the right has run out
    // or was revoked before: then it stays so. An earlier end than the present one changes nothing.
    // [thread-safe]
    bool extend(TimeSource::Nanoseconds end);
    // Gone for good. [thread-safe]
    void revoke();
    // Whether it may be done now. [thread-safe]
    bool isValid() const;
    const QString &refusal() const { return m_refusal; }

private:
    using Count = TimeSource::Nanoseconds::rep;
    static constexpr Count kNotYet = -1;
    static constexpr Count kGone = -2;

    const TimeSource &m_time;
    const QString m_refusal;
    mutable std::atomic<Count> m_end{kNotYet};
};

} // namespace davit::support
