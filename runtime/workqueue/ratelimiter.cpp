#include "ratelimiter.h"

#include <algorithm>
#include <limits>

namespace davit::workqueue {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

using Attempts = KeyTable<PackedKey, qint64>;

// Adds one attempt and answers how many there were before.
qint64 countAttempt(Attempts &attempts, const WorkKey &key)
{
    const SoughtKey sought(key);
    const auto found = attempts.find(sought);
    if (found == attempts.end()) {
        attempts.try_emplace(PackedKey(sought), 1);
        return 0;
    }
    const qint64 before = found->second;
    if (before < std::numeric_limits<qint64>::max())
        ++found->second;
    return before;
}

qint64 attemptsOf(const Attempts &attempts, const WorkKey &key)
{
    const auto found = attempts.find(SoughtKey(key));
    return found == attempts.end() ? 0 : found->second;
}

void forgetAttempts(Attempts &attempts, const WorkKey &key)
{
    if (const auto found = attempts.find(SoughtKey(key)); found != attempts.end())
        attempts.erase(found);
}

} // namespace

RateLimiter::~RateLimiter() = default;

ExponentialLimiter::ExponentialLimiter(nanoseconds base, nanoseconds max) : m_base(base), m_max(max)
{ }

nanoseconds ExponentialLimiter::delay(nanoseconds base, nanoseconds max, qint64 failures)
{
    // base * 2^failures > max, asked without the product: it may not fit.
    if (failures >= 63 || base.count() > (max.count() >> failures))
        return max;
    return nanoseconds(base.count() << failures);
}

void ExponentialLimiter::setDelays(nanoseconds base, nanoseconds max)
{
    const std::lock_guard lock(m_mutex);
    m_base = base;
    m_max = max;
}

nanoseconds ExponentialLimiter::when(const WorkKey &key)
{
    const std::lock_guard lock(m_mutex);
    return delay(m_base, m_max, countAttempt(m_failures, key));
}

qint64 ExponentialLimiter::requeues(const WorkKey &key) const
{
    const std::lock_guard lock(m_mutex);
    return attemptsOf(m_failures, key);
}

void ExponentialLimiter::forget(const WorkKey &key)
{
    const std::lock_guard lock(m_mutex);
    forgetAttempts(m_failures, key);
}

qsizetype ExponentialLimiter::rememberedKeys() const
{
    const std::lock_guard lock(m_mutex);
    return qsizetype(m_failures.size());
}

FastSlowLimiter::FastSlowLimiter(nanoseconds fast, nanoseconds slow, qint64 fastAttempts)
    : m_fast(fast), m_slow(slow), m_fastAttempts(fastAttempts)
{ }

nanoseconds FastSlowLimiter::when(const WorkKey &key)
{
    const std::lock_guard lock(m_mutex);
    return countAttempt(m_attempts, key) < m_fastAttempts ? m_fast : m_slow;
}

qint64 FastSlowLimiter::requeues(const WorkKey &key) const
{
    const std::lock_guard lock(m_mutex);
    return attemptsOf(m_attempts, key);
}

void FastSlowLimiter::forget(const WorkKey &key)
{
    const std::lock_guard lock(m_mutex);
    forgetAttempts(m_attempts, key);
}

BucketLimiter::BucketLimiter(const support::TimeSource &time, double ratePerSecond, int burst)
    : m_time(time)
    , m_ratePerSecond(ratePerSecond)
    , m_burst(burst)
    , m_tokens(burst)
    , m_countedAt(time.monotonic())
{ }

nanoseconds BucketLimiter::when(const WorkKey &)
{
    const std::lock_guard lock(m_mutex);
    const nanoseconds now = m_time.monotonic();
    const double seconds = std::chrono::duration<double>(now - m_countedAt).count();
    m_tokens = std::min(m_burst, m_tokens + seconds * m_ratePerSecond) - 1;
    m_countedAt = now;
    if (m_tokens >= 0)
        return 0ns;
    const double wait = std::min(-m_tokens / m_ratePerSecond, 1e9); // far below the type's range
    return std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(wait));
}

qint64 BucketLimiter::requeues(const WorkKey &) const
{
    return 0;
}

void BucketLimiter::forget(const WorkKey &) { }

MaxOfLimiter::MaxOfLimiter(std::vector<std::unique_ptr<RateLimiter>> limiters)
    : m_limiters(std::move(limiters))
{ }

nanoseconds MaxOfLimiter::when(const WorkKey &key)
{
    nanoseconds greatest = 0ns;
    for (const auto &limiter : m_limiters)
        greatest = std::max(greatest, limiter->when(key));
    return greatest;
}

qint64 MaxOfLimiter::requeues(const WorkKey &key) const
{
    qint64 greatest = 0;
    for (const auto &limiter : m_limiters)
        greatest = std::max(greatest, limiter->requeues(key));
    return greatest;
}

void MaxOfLimiter::forget(const WorkKey &key)
{
    for (const auto &limiter : m_limiters)
        limiter->forget(key);
}

MaxWaitLimiter::MaxWaitLimiter(std::unique_ptr<RateLimiter> inner, nanoseconds max)
    : m_inner(std::move(inner)), m_max(max)
{ }

nanoseconds MaxWaitLimiter::when(const WorkKey &key)
{
    return std::min(m_inner->when(key), m_max);
}

qint64 MaxWaitLimiter::requeues(const WorkKey &key) const
{
    return m_inner->requeues(key);
}

void MaxWaitLimiter::forget(const WorkKey &key)
{
    m_inner->forget(key);
}

std::unique_ptr<RateLimiter> defaultControllerLimiter(const support::TimeSource &time)
{
    std::vector<std::unique_ptr<RateLimiter>> limiters;
    limiters.push_back(std::make_unique<ExponentialLimiter>(5ms, 1000s));
    limiters.push_back(std::make_unique<BucketLimiter>(time, 10, 100));
    return std::make_unique<MaxOfLimiter>(std::move(limiters));
}

std::unique_ptr<RateLimiter> defaultItemLimiter()
{
    return std::make_unique<ExponentialLimiter>(1ms, 1000s);
}

} // namespace davit::workqueue
