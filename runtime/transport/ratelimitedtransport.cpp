#include "ratelimitedtransport.h"

#include <algorithm>
#include <utility>

namespace davit::transport {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

// A request that has its token but not yet its time. The mutex is for the owner, who may let go on
// any thread.
class RateLimitedTransport::Waiting : public std::enable_shared_from_this<Waiting>
{
public:
    Waiting(RateLimitedTransport &limiter, const Request &request, support::Executor &executor,
        ResponseSink &sink)
        : m_limiter(limiter), m_executor(executor), m_sink(sink), m_request(request)
    { }

    void wait(Nanoseconds delay)
    {
        if (m_request.totalDeadline.count() > 0)
            m_request.totalDeadline -= duration_cast<milliseconds>(delay);
        const std::lock_guard lock(m_mutex);
        m_timer = m_limiter.m_time.callAfter(
            delay, m_executor, [self = shared_from_this()] { self->send(); });
    }
    // Tells, from the executor, that its time would have come too late.
    void refuse()
    {
        m_executor.post([self = shared_from_this()] {
            {
                const std::lock_guard lock(self->m_mutex);
                if (self->m_isClosed)
                    return;
            }
            self->m_sink.onFinished(Error(ErrorCode::Timeout,
                QStringLiteral("%1 %2%3: it was not sent: its turn under the rate limit of %4 "
                               "requests a second comes after its deadline; raise --kube-api-qps")
                    .arg(QString::fromLatin1(self->m_request.method), self->m_limiter.serverName(),
                        QString::fromLatin1(self->m_request.target.split('?').first()))
                    .arg(self->m_limiter.m_limit.requestsPerSecond)));
        });
    }
    void close()
    {
        std::unique_ptr<Exchange> last; // its end waits for a callback
        {
            const std::lock_guard lock(m_mutex);
            m_isClosed = true;
            last = std::move(m_exchange);
            if (m_timer == 0)
                return;
            m_limiter.m_time.cancel(std::exchange(m_timer, 0)); // its executor need not live longer
        }
        m_limiter.giveBack();
    }

private:
    void send()
    {
        const std::lock_guard lock(m_mutex);
        if (m_isClosed)
            return;
        m_timer = 0;
        m_exchange = m_limiter.m_inner->start(m_request, m_executor, m_sink);
    }

    RateLimitedTransport &m_limiter;
    support::Executor &m_executor;
    ResponseSink &m_sink;
    Request m_request;
    std::mutex m_mutex;
    std::unique_ptr<Exchange> m_exchange; // GUARDED_BY(m_mutex)
    support::TimeSource::TimerId m_timer = 0; // GUARDED_BY(m_mutex)
    bool m_isClosed = false; // GUARDED_BY(m_mutex)
};

class RateLimitedTransport::WaitingExchange final : public Exchange
{
public:
    explicit WaitingExchange(std::shared_ptr<Waiting> waiting) : m_waiting(std::move(waiting)) { }
    ~WaitingExchange() override { m_waiting->close(); }

private:
    const std::shared_ptr<Waiting> m_waiting;
};

RateLimitedTransport::RateLimitedTransport(
    std::unique_ptr<Transport> inner, support::TimeSource &time, RateLimit limit)
    : m_inner(std::move(inner))
    , m_time(time)
    , m_limit(std::move(limit))
    , m_interval(m_limit.requestsPerSecond > 0 ? Nanoseconds(
                     std::max(std::int64_t(1e9 / m_limit.requestsPerSecond), std::int64_t(1)))
                                               : Nanoseconds(0))
{ }

RateLimitedTransport::~RateLimitedTransport() = default;

RateLimitedTransport::Nanoseconds RateLimitedTransport::take(Nanoseconds longest)
{
    const std::lock_guard lock(m_mutex);
    const Nanoseconds now = m_time.monotonic();
    const Nanoseconds full = std::max(m_full, now) + m_interval;
    const Nanoseconds wait
        = std::max(full - now - m_interval * std::max(m_limit.burst, 1), Nanoseconds(0));
    if (wait > longest)
        return Nanoseconds(-1);
    m_full = full;
    return wait;
}

void RateLimitedTransport::giveBack()
{
    const std::lock_guard lock(m_mutex);
    m_full -= m_interval;
}

std::unique_ptr<Exchange> RateLimitedTransport::start(
    const Request &request, support::Executor &executor, ResponseSink &sink)
{
    const bool isLimited = m_interval.count() > 0
        && (request.channel == Channel::Call || request.channel == Channel::List);
    if (!isLimited)
        return m_inner->start(request, executor, sink);
    const bool hasDeadline = request.totalDeadline.count() > 0;
    const Nanoseconds wait = take(hasDeadline ? request.totalDeadline : Nanoseconds::max());
    if (wait.count() == 0)
        return m_inner->start(request, executor, sink);
    auto waiting = std::make_shared<Waiting>(*this, request, executor, sink);
    if (wait.count() < 0)
        waiting->refuse();
    else
        waiting->wait(wait);
    if (m_limit.onWait && wait.count() > 0)
        m_limit.onWait(request, wait);
    return std::make_unique<WaitingExchange>(std::move(waiting));
}

} // namespace davit::transport
