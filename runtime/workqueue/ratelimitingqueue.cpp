#include "ratelimitingqueue.h"

namespace davit::workqueue {

RateLimitingQueue::RateLimitingQueue(support::TimeSource &time, support::Executor &executor,
    std::unique_ptr<RateLimiter> limiter, QueueObserver *observer)
    : DelayingQueue(time, executor, observer)
    , m_limiter(limiter ? std::move(limiter) : defaultControllerLimiter(time))
{ }

RateLimitingQueue::~RateLimitingQueue() = default;

void RateLimitingQueue::addRateLimited(const WorkKey &key)
{
    addAfter(key, m_limiter->when(key));
}

void RateLimitingQueue::forget(const WorkKey &key)
{
    m_limiter->forget(key);
}

qint64 RateLimitingQueue::requeues(const WorkKey &key) const
{
    return m_limiter->requeues(key);
}

} // namespace davit::workqueue
