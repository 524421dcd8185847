// A delaying queue with a rate limiter: addRateLimited() is addAfter() by the limiter's delay. The
// limiter's history ends with forget(); done() is still needed (W-13). Test: tst_delayingqueue.
#pragma once

#include "delayingqueue.h"
#include "ratelimiter.h"

namespace davit::workqueue {

class RateLimitingQueue final : public DelayingQueue
{
public:
    // Without a limiter: defaultControllerLimiter(). `time`, `executor` and `observer` outlive the
    // queue.
    RateLimitingQueue(support::TimeSource &time, support::Executor &executor,
        std::unique_ptr<RateLimiter> limiter = {}, QueueObserver *observer = nullptr);
    ~RateLimitingQueue() override;

    void addRateLimited(const WorkKey &key); // [thread-safe]
    void forget(const WorkKey &key); // [thread-safe]
    qint64 requeues(const WorkKey &key) const; // [thread-safe]

private:
    const std::unique_ptr<RateLimiter> m_limiter; // own synchronisation
};

} // namespace davit::workqueue
