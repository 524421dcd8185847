#include "ratelimitedtransport.h"

#include "delayedexchange.h"

#include <algorithm>

namespace davit::transport {

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
    if (wait.count() < 0)
        return DelayedExchange::refused(tooLate(request), executor, sink);
    auto waiting = std::make_unique<DelayedExchange>(
        *m_inner, m_time, request, executor, sink, wait, [this] { giveBack(); });
    if (m_limit.onWait)
        m_limit.onWait(request, wait);
    return waiting;
}

Error RateLimitedTransport::tooLate(const Request &request) const
{
    return Error(ErrorCode::Timeout,
        QStringLiteral("%1 %2%3: it was not sent: its turn under the rate limit of %4 requests a "
                       "second comes after its deadline; raise --kube-api-qps")
            .arg(QString::fromLatin1(request.method), serverName(),
                QString::fromLatin1(request.target.split('?').first()))
            .arg(m_limit.requestsPerSecond));
}

} // namespace davit::transport
