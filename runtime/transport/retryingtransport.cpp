#include "retryingtransport.h"

#include <mutex>
#include <utility>

namespace davit::transport {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// The tries of one exchange. The executor runs one callback at a time; the mutex is for the owner,
// who may let go on any thread.
class Tries final : public ResponseSink, public std::enable_shared_from_this<Tries>
{
public:
    Tries(Transport &inner, support::TimeSource &time, const Request &request,
        support::Executor &executor, ResponseSink &sink)
        : m_inner(inner)
        , m_time(time)
        , m_executor(executor)
        , m_sink(sink)
        , m_request(request)
        , m_startedAt(time.monotonic())
    { }

    void begin();
    void close();

    void onHead(const ResponseHead &head) override;
    void onBytes(const QByteArray &bytes) override;
    void onFinished(const Error &error) override;

private:
    bool mayRetry(milliseconds delay) const;
    bool isRefusal(const ResponseHead &head) const;
    milliseconds timeLeft() const;
    void tryLater(milliseconds delay, int httpStatus, const QString &why);

    Transport &m_inner;
    support::TimeSource &m_time;
    support::Executor &m_executor;
    ResponseSink &m_sink;
    const Request m_request;
    const support::TimeSource::Nanoseconds m_startedAt;
    // Confined to the executor:
    int m_retries = 0;
    bool m_hasPassedHead = false;
    milliseconds m_refusalDelay{-1}; // not negative: this try is a refusal, its body is dropped
    int m_refusalStatus = 0;
    QString m_earlier; // what the try before ended with
    std::mutex m_mutex;
    std::unique_ptr<Exchange> m_exchange; // GUARDED_BY(m_mutex)
    support::TimeSource::TimerId m_timer = 0; // GUARDED_BY(m_mutex)
    bool m_isClosed = false; // GUARDED_BY(m_mutex)
};

void Tries::begin()
{
    Request request = m_request;
    if (request.totalDeadline > 0ms)
        request.totalDeadline = std::max(timeLeft(), milliseconds(1));
    std::unique_ptr<Exchange> old; // destroyed outside the lock
    const std::lock_guard lock(m_mutex);
    m_timer = 0;
    if (m_isClosed)
        return;
    old = std::exchange(m_exchange, m_inner.start(request, m_executor, *this));
}

void Tries::close()
{
    std::unique_ptr<Exchange> last; // its end waits for a callback, which may want the lock
    {
        const std::lock_guard lock(m_mutex);
        m_isClosed = true;
        if (m_timer)
            m_time.cancel(m_timer);
        last = std::move(m_exchange);
    }
}

milliseconds Tries::timeLeft() const
{
    return m_request.totalDeadline
        - std::chrono::duration_cast<milliseconds>(m_time.monotonic() - m_startedAt);
}

bool Tries::mayRetry(milliseconds delay) const
{
    if (m_retries >= RetryingTransport::kMaxRetries)
        return false;
    return m_request.totalDeadline == 0ms ? delay <= RetryingTransport::kLongestWait
                                          : delay < timeLeft();
}

bool Tries::isRefusal(const ResponseHead &head) const
{
    if (head.retryAfter < 0ms)
        return false;
    return head.httpStatus == 429 || head.httpStatus == 503
        || (head.httpStatus >= 500 && m_request.method == "GET");
}

void Tries::onHead(const ResponseHead &head)
{
    if (isRefusal(head) && mayRetry(head.retryAfter)) {
        m_refusalDelay = head.retryAfter;
        m_refusalStatus = head.httpStatus;
        return;
    }
    m_hasPassedHead = true;
    m_sink.onHead(head);
}

void Tries::onBytes(const QByteArray &bytes)
{
    if (m_hasPassedHead)
        m_sink.onBytes(bytes);
}

void Tries::onFinished(const Error &error)
{
    if (m_refusalDelay >= 0ms)
        return tryLater(std::exchange(m_refusalDelay, milliseconds(-1)), m_refusalStatus,
            QStringLiteral("the server answered %1").arg(m_refusalStatus));
    if (!m_hasPassedHead && error.code() == ErrorCode::ConnectionLost && m_request.method == "GET"
        && mayRetry(1s)) {
        return tryLater(1s, 0, error.message());
    }
    if (error.isError() && m_retries > 0) {
        return m_sink.onFinished(Error(error.code(),
            QStringLiteral("%1 (after %2 tries; error from a previous attempt: %3)")
                .arg(error.message(), QString::number(m_retries + 1), m_earlier)));
    }
    m_sink.onFinished(error);
}

void Tries::tryLater(milliseconds delay, int httpStatus, const QString &why)
{
    ++m_retries;
    m_earlier = why;
    m_sink.onRetry(httpStatus, delay);
    const std::lock_guard lock(m_mutex);
    if (!m_isClosed) {
        m_timer
            = m_time.callAfter(delay, m_executor, [self = shared_from_this()] { self->begin(); });
    }
}

class RetryingExchange final : public Exchange
{
public:
    explicit RetryingExchange(std::shared_ptr<Tries> tries) : m_tries(std::move(tries)) { }
    ~RetryingExchange() override { m_tries->close(); }

private:
    const std::shared_ptr<Tries> m_tries;
};

} // namespace

RetryingTransport::RetryingTransport(std::unique_ptr<Transport> inner, support::TimeSource &time)
    : m_inner(std::move(inner)), m_time(time)
{ }

RetryingTransport::~RetryingTransport() = default;

std::unique_ptr<Exchange> RetryingTransport::start(
    const Request &request, support::Executor &executor, ResponseSink &sink)
{
    if (request.channel == Channel::Watch || request.channel == Channel::Lease)
        return m_inner->start(request, executor, sink);
    auto tries = std::make_shared<Tries>(*m_inner, m_time, request, executor, sink);
    tries->begin();
    return std::make_unique<RetryingExchange>(std::move(tries));
}

} // namespace davit::transport
