#include "meteredtransport.h"

#include <QtCore/qurl.h>

namespace davit::client {
namespace {

const QString kNoAnswer = QStringLiteral("<error>"); // as client-go calls it

} // namespace

// The sink that stands between the inner exchange and the caller's; the caller owns it.
class MeteredTransport::Metered final : public transport::Exchange, public transport::ResponseSink
{
public:
    Metered(
        MeteredTransport &owner, const transport::Request &request, transport::ResponseSink &sink)
        : m_owner(owner)
        , m_method(request.method)
        , m_isWatch(request.channel == transport::Channel::Watch)
        , m_sink(sink)
        , m_start(owner.m_time.monotonic())
    { }
    ~Metered() override { m_inner.reset(); }

    void run(const transport::Request &request, support::Executor &executor)
    {
        m_inner = m_owner.m_inner.start(request, executor, *this);
    }
    void onHead(const transport::ResponseHead &head) override
    {
        count(QString::number(head.httpStatus));
        m_sink.onHead(head);
    }
    void onBytes(const QByteArray &bytes) override
    {
        m_bytes += bytes.size();
        m_sink.onBytes(bytes);
    }
    void onRetry(int httpStatus, std::chrono::milliseconds wait) override
    {
        m_owner.retried(m_method, httpStatus == 0 ? kNoAnswer : QString::number(httpStatus));
        m_sink.onRetry(httpStatus, wait);
    }
    void onFinished(const Error &error) override
    {
        count(kNoAnswer);
        if (!error.isError() && !m_isWatch)
            m_owner.sized(m_method, "rest_client_response_size_bytes",
                "Response size in bytes. Broken down by verb and host.", m_bytes);
        m_sink.onFinished(error);
    }

private:
    void count(const QString &code)
    {
        if (m_isCounted)
            return;
        m_isCounted = true;
        m_owner.ended(m_method, code, m_owner.m_time.monotonic() - m_start);
    }

    MeteredTransport &m_owner;
    const QByteArray m_method;
    const bool m_isWatch;
    transport::ResponseSink &m_sink;
    const std::chrono::nanoseconds m_start;
    std::unique_ptr<transport::Exchange> m_inner;
    qint64 m_bytes = 0; // of the body; confined to the exchange's executor
    bool m_isCounted = false; // confined to the exchange's executor
};

MeteredTransport::MeteredTransport(transport::Transport &inner,
    observability::MetricsRegistry &metrics, const support::TimeSource &time)
    : m_inner(inner), m_metrics(metrics), m_time(time), m_host(QUrl(inner.serverName()).authority())
{ }

MeteredTransport::~MeteredTransport() = default;

std::unique_ptr<transport::Exchange> MeteredTransport::start(
    const transport::Request &request, support::Executor &executor, transport::ResponseSink &sink)
{
    auto metered = std::make_unique<Metered>(*this, request, sink);
    sized(request.method, "rest_client_request_size_bytes",
        "Request size in bytes. Broken down by verb and host.", request.body.size());
    metered->run(request, executor);
    return metered;
}

QString MeteredTransport::serverName() const
{
    return m_inner.serverName();
}

void MeteredTransport::retried(const QByteArray &method, const QString &code)
{
    m_metrics
        .counter(QStringLiteral("rest_client_request_retries_total"),
            QStringLiteral(
                "Number of request retries, partitioned by status code, verb, and host."),
            {{QStringLiteral("code"), code}, {QStringLiteral("verb"), QString::fromLatin1(method)},
                {QStringLiteral("host"), m_host}})
        .increment();
}

void MeteredTransport::ended(
    const QByteArray &method, const QString &code, std::chrono::nanoseconds duration)
{
    const QString verb = QString::fromLatin1(method);
    m_metrics
        .counter(QStringLiteral("rest_client_requests_total"),
            QStringLiteral(
                "Number of HTTP requests, partitioned by status code, method, and host."),
            {{QStringLiteral("code"), code}, {QStringLiteral("method"), verb},
                {QStringLiteral("host"), m_host}})
        .increment();
    m_metrics
        .histogram(QStringLiteral("rest_client_request_duration_seconds"),
            QStringLiteral("Time from sending a request to its status line, in seconds."),
            observability::requestTimeBuckets(),
            {{QStringLiteral("verb"), verb}, {QStringLiteral("host"), m_host}})
        .observe(std::chrono::duration<double>(duration).count());
}

void MeteredTransport::sized(
    const QByteArray &method, const char *name, const char *help, qint64 bytes)
{
    m_metrics
        .histogram(QLatin1StringView(name), QLatin1StringView(help), observability::sizeBuckets(),
            {{QStringLiteral("verb"), QString::fromLatin1(method)},
                {QStringLiteral("host"), m_host}})
        .observe(double(bytes));
}

} // namespace davit::client
