// How long a key that failed waits for its next turn. when() answers the delay and counts an
// attempt; forget() clears what is remembered of the key. No jitter here.
// Source: BEHAVIOURS.md; case B35: delays never shrink, overflow or go beyond their greatest.
// Test: tst_ratelimiter.
#pragma once

#include "keytable.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <support/timesource.h>
#include <vector>

namespace davit::workqueue {

class RateLimiter
{
public:
    virtual ~RateLimiter();
    virtual std::chrono::nanoseconds when(const WorkKey &key) = 0; // [thread-safe]
    virtual qint64 requeues(const WorkKey &key) const = 0; // [thread-safe]
    virtual void forget(const WorkKey &key) = 0; // [thread-safe]
};

// base * 2^failures, at most max.
class ExponentialLimiter final : public RateLimiter
{
public:
    ExponentialLimiter(std::chrono::nanoseconds base, std::chrono::nanoseconds max);
    std::chrono::nanoseconds when(const WorkKey &key) override;
    qint64 requeues(const WorkKey &key) const override;
    void forget(const WorkKey &key) override;
    // From the next attempt on; what is counted stays. [thread-safe]
    void setDelays(std::chrono::nanoseconds base, std::chrono::nanoseconds max);
    // Keys that failures are remembered of. [thread-safe]
    qsizetype rememberedKeys() const;
    // The delay after so many earlier failures; exact, never overflows. [thread-safe]
    static std::chrono::nanoseconds delay(
        std::chrono::nanoseconds base, std::chrono::nanoseconds max, qint64 failures);

private:
    mutable std::mutex m_mutex;
    std::chrono::nanoseconds m_base; // GUARDED_BY(m_mutex)
    std::chrono::nanoseconds m_max; // GUARDED_BY(m_mutex)
    KeyTable<PackedKey, qint64> m_failures; // GUARDED_BY(m_mutex)
};

// `fast` for the first `fastAttempts` attempts, then `slow`.
class FastSlowLimiter final : public RateLimiter
{
public:
    FastSlowLimiter(
        std::chrono::nanoseconds fast, std::chrono::nanoseconds slow, qint64 fastAttempts);
    std::chrono::nanoseconds when(const WorkKey &key) override;
    qint64 requeues(const WorkKey &key) const override;
    void forget(const WorkKey &key) override;

private:
    const std::chrono::nanoseconds m_fast;
    const std::chrono::nanoseconds m_slow;
    const qint64 m_fastAttempts;
    mutable std::mutex m_mutex;
    KeyTable<PackedKey, qint64> m_attempts; // GUARDED_BY(m_mutex)
};

// One token bucket for all keys: each attempt reserves a token and waits for it.
class BucketLimiter final : public RateLimiter
{
public:
    // `ratePerSecond` above 0; `time` outlives the limiter.
    BucketLimiter(const support::TimeSource &time, double ratePerSecond, int burst);
    std::chrono::nanoseconds when(const WorkKey &key) override;
    qint64 requeues(const WorkKey &key) const override; // 0
    void forget(const WorkKey &key) override; // nothing

private:
    const support::TimeSource &m_time;
    const double m_ratePerSecond;
    const double m_burst;
    std::mutex m_mutex;
    double m_tokens; // below 0: reserved ahead; GUARDED_BY(m_mutex)
    std::chrono::nanoseconds m_countedAt; // GUARDED_BY(m_mutex)
};

// Asks every limiter and takes the greatest answer.
class MaxOfLimiter final : public RateLimiter
{
public:
    explicit MaxOfLimiter(std::vector<std::unique_ptr<RateLimiter>> limiters);
    std::chrono::nanoseconds when(const WorkKey &key) override;
    qint64 requeues(const WorkKey &key) const override;
    void forget(const WorkKey &key) override;

private:
    const std::vector<std::unique_ptr<RateLimiter>> m_limiters;
};

// At most `max` of what another limiter says.
class MaxWaitLimiter final : public RateLimiter
{
public:
    MaxWaitLimiter(std::unique_ptr<RateLimiter> inner, std::chrono::nanoseconds max);
    std::chrono::nanoseconds when(const WorkKey &key) override;
    qint64 requeues(const WorkKey &key) const override;
    void forget(const WorkKey &key) override;

private:
    const std::unique_ptr<RateLimiter> m_inner;
    const std::chrono::nanoseconds m_max;
};

// 5 ms to 1000 s a key, and 10 a second with a burst of 100 over all keys: the preset of queues
// without priorities.
std::unique_ptr<RateLimiter> defaultControllerLimiter(const support::TimeSource &time);
// 1 ms to 1000 s a key.
std::unique_ptr<RateLimiter> defaultItemLimiter();

} // namespace davit::workqueue
