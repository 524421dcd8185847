// Sums of moments and delays that may be as long as the type holds, such as ExponentialLimiter's
// nanoseconds::max(). Test: tst_timesource, momentAfter.
#pragma once

#include <chrono>

namespace davit::support {

// `now + delay`, or the greatest moment where that does not fit: never a moment in the past (B35).
// Precondition: `now` is not negative. [thread-safe]
constexpr std::chrono::nanoseconds momentAfter(
    std::chrono::nanoseconds now, std::chrono::nanoseconds delay) noexcept
{
    return delay < std::chrono::nanoseconds::max() - now ? now + delay
                                                         : std::chrono::nanoseconds::max();
}

} // namespace davit::support
