// Growing delays between attempts. One instance serves one loop; it belongs to that loop's thread.
// Source: BEHAVIOURS.md R-1 to R-5 (reflector), E-16 (retry helpers). Test: tst_backoff.
#pragma once

#include "timesource.h"

#include <functional>

namespace davit::support {

// What a server may ask for at most (Retry-After) of who goes on without an end (B14).
inline constexpr std::chrono::minutes kLongestAskedWait{5};

struct BackoffSettings
{
    std::chrono::nanoseconds initial = std::chrono::milliseconds(800);
    double factor = 2.0;
    // Each delay d becomes uniform in [d, d * (1 + jitter)).
    double jitter = 1.0;
    // The greatest delay before jitter.
    std::chrono::nanoseconds cap = std::chrono::seconds(30);
    // Delays start anew when more than this has passed since they last did; zero means never. A
    // factor of zero or less has the same effect.
    std::chrono::nanoseconds resetInterval = std::chrono::minutes(2);
    // How often the delay grows; then it stays. The cap binds first unless it is very high.
    int steps = 38;
};

class Backoff
{
public:
    // `random` gives numbers in [0, 1); tests give their own. `time` outlives the backoff.
    Backoff(const TimeSource &time, const BackoffSettings &settings,
        std::function<double()> random = {});

    // The delay before the next attempt; consumes one step. Never overflows (B35).
    std::chrono::nanoseconds next();
    // Back to the first delay at once.
    void reset();

private:
    const TimeSource &m_time;
    const BackoffSettings m_settings;
    std::function<double()> m_random;
    double m_currentNs;
    int m_stepsLeft;
    std::chrono::nanoseconds m_lastReset;
};

} // namespace davit::support
