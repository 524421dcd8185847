#include "backofftransport.h"

#include "delayedexchange.h"

#include <algorithm>

namespace davit::transport {
namespace {

// The server was tried and did not answer.
bool isNoAnswer(const Error &error)
{
    switch (error.code()) {
    case ErrorCode::ConnectionRefused:
    case ErrorCode::ConnectionLost:
    case ErrorCode::OutcomeUnknown:
    case ErrorCode::Timeout:
    case ErrorCode::TlsFailure:
    case ErrorCode::MalformedReply:
        return true;
    default:
        return false;
    }
}

} // namespace

// The sink that stands between the inner exchange and the caller's; the caller owns it.
class BackoffTransport::Watched final : public Exchange, public ResponseSink
{
public:
    Watched(BackoffTransport &owner, ResponseSink &sink) : m_owner(owner), m_sink(sink) { }
    ~Watched() override { m_inner.reset(); }

    void setInner(std::unique_ptr<Exchange> inner) { m_inner = std::move(inner); }
    void onHead(const ResponseHead &head) override
    {
        m_hasHead = true;
        if (head.httpStatus == 429 || head.httpStatus > 499)
            m_owner.failed();
        else
            m_owner.worked();
        m_sink.onHead(head);
    }
    void onBytes(const QByteArray &bytes) override { m_sink.onBytes(bytes); }
    void onRetry(int httpStatus, std::chrono::milliseconds wait) override
    {
        m_sink.onRetry(httpStatus, wait);
    }
    void onFinished(const Error &error) override
    {
        if (!m_hasHead && isNoAnswer(error))
            m_owner.failed();
        m_sink.onFinished(error);
    }

private:
    BackoffTransport &m_owner;
    ResponseSink &m_sink;
    std::unique_ptr<Exchange> m_inner;
    bool m_hasHead = false; // confined to the exchange's executor
};

BackoffTransport::BackoffTransport(std::unique_ptr<Transport> inner, support::TimeSource &time,
    const HostBackoff &backoff, OnWait onWait)
    : m_inner(std::move(inner)), m_time(time), m_backoff(backoff), m_onWait(std::move(onWait))
{ }

BackoffTransport::~BackoffTransport() = default;

BackoffTransport::Nanoseconds BackoffTransport::wait() const
{
    const std::lock_guard lock(m_mutex);
    return std::max(m_failedAt + m_delay - m_time.monotonic(), Nanoseconds(0));
}

void BackoffTransport::failed()
{
    const std::lock_guard lock(m_mutex);
    const Nanoseconds now = m_time.monotonic();
    const bool isForgotten = m_delay.count() == 0 || now - m_failedAt > 2 * m_backoff.longest;
    m_delay = std::min<Nanoseconds>(
        isForgotten ? Nanoseconds(m_backoff.base) : 2 * m_delay, m_backoff.longest);
    m_failedAt = now;
}

void BackoffTransport::worked()
{
    const std::lock_guard lock(m_mutex);
    m_delay = Nanoseconds(0);
}

std::unique_ptr<Exchange> BackoffTransport::start(
    const Request &request, support::Executor &executor, ResponseSink &sink)
{
    if (request.channel != Channel::Call && request.channel != Channel::List)
        return m_inner->start(request, executor, sink);
    const Nanoseconds delay = wait();
    const bool hasDeadline = request.totalDeadline.count() > 0;
    if (hasDeadline && delay >= request.totalDeadline)
        return DelayedExchange::refused(tooLate(request, delay), executor, sink);
    auto watched = std::make_unique<Watched>(*this, sink);
    watched->setInner(delay.count() == 0 ? m_inner->start(request, executor, *watched)
                                         : std::make_unique<DelayedExchange>(
                                             *m_inner, m_time, request, executor, *watched, delay));
    if (m_onWait && delay.count() > 0)
        m_onWait(request, delay);
    return watched;
}

Error BackoffTransport::tooLate(const Request &request, Nanoseconds wait) const
{
    return Error(ErrorCode::Timeout,
        QStringLiteral("%1 %2%3: it was not sent: the server refused or broke what it was asked "
                       "before, and the next request is due in %4 s, after this one's deadline; "
                       "KUBE_CLIENT_BACKOFF_DURATION is the longest wait")
            .arg(QString::fromLatin1(request.method), serverName(),
                QString::fromLatin1(request.target.split('?').first()))
            .arg(double(wait.count()) / 1e9));
}

} // namespace davit::transport
