#include "serverwait.h"

#include "wrongscheme.h"

#include <algorithm>
#include <cmath>

namespace davit::host {

namespace {

constexpr qsizetype kLookedAtBytes = 4096;

support::BackoffSettings backoffSettings()
{
    support::BackoffSettings settings;
    settings.resetInterval = std::chrono::nanoseconds(0); // one server, one wait
    settings.jitter = 0.2;
    return settings;
}

} // namespace

ServerWait::ServerWait(transport::Transport &transport, support::Executor &executor,
    support::TimeSource &time, const QString &source, const Logger &log)
    : m_transport(transport)
    , m_executor(executor)
    , m_time(time)
    , m_source(source)
    , m_log(log)
    , m_backoff(time, backoffSettings())
    , m_isAlive(std::make_shared<bool>(true))
{ }

ServerWait::~ServerWait()
{
    *m_isAlive = false;
    m_time.cancel(m_timer);
}

void ServerWait::start(Done done, Waiting waiting)
{
    m_done = std::move(done);
    m_waiting = std::move(waiting);
    ask();
}

void ServerWait::ask()
{
    transport::Request request;
    request.target = "/api/v1";
    request.channel = transport::Channel::Lease; // nothing is tried again there unseen
    request.headDeadline = std::chrono::seconds(10);
    request.totalDeadline = std::chrono::seconds(20);
    m_head = {};
    m_body.clear();
    m_exchange = m_transport.start(request, m_executor, *this);
}

void ServerWait::onHead(const transport::ResponseHead &head)
{
    m_head = head;
}

void ServerWait::onBytes(const QByteArray &bytes)
{
    if (m_body.size() < kLookedAtBytes)
        m_body += bytes.left(kLookedAtBytes - m_body.size());
}

QString ServerWait::refusal(const Error &error) const
{
    const QString server = m_transport.serverName();
    if (const QString fault = wrongScheme(server, m_source, {error, m_head.httpStatus, m_body});
        !fault.isEmpty())
        return fault;
    if (error.code() == ErrorCode::TlsFailure && isFaultOfProxy(error))
        return QStringLiteral("%1; check proxy-url in %2, or HTTPS_PROXY and its kin")
            .arg(error.message(), m_source);
    if (error.code() == ErrorCode::TlsFailure)
        return QStringLiteral("the TLS connection to the API server %1 failed (%2); check the "
                              "certificates and the CA in %3")
            .arg(server, error.message(), m_source);
    if (error.code() == ErrorCode::InvalidConfiguration
        || error.code() == ErrorCode::InvalidArgument)
        return error.message();
    if (error.isError())
        return {};
    switch (m_head.httpStatus) {
    case 401:
        return QStringLiteral(
            "the API server %1 does not accept the credentials (401 Unauthorized); "
            "check the user in %2")
            .arg(server, m_source);
    case 403:
        return QStringLiteral("the API server %1 does not let this user look at its API (403 "
                              "Forbidden); grant it the ClusterRole system:discovery, or check the "
                              "user in %2")
            .arg(server, m_source);
    default:
        break;
    }
    const bool isAnswer = m_head.httpStatus == 200;
    if ((isAnswer && !m_body.contains("APIResourceList"))
        || (m_head.httpStatus >= 300 && m_head.httpStatus < 500 && m_head.httpStatus != 429
            && m_head.httpStatus != 408))
        return QStringLiteral("what answers at %1 is no Kubernetes API server (HTTP %2 to GET "
                              "/api/v1); check the server's address in %3")
            .arg(server)
            .arg(m_head.httpStatus)
            .arg(m_source);
    return {};
}

void ServerWait::onFinished(const Error &error)
{
    const QString sentence = refusal(error);
    if (!sentence.isEmpty())
        return m_done(Status(ErrorCode::InvalidConfiguration, sentence));
    if (!error.isError() && m_head.httpStatus == 200)
        return m_done(Status::ok());
    waitAfter(error.isError() ? error.message()
                              : QStringLiteral("HTTP status %1").arg(m_head.httpStatus));
}

void ServerWait::waitAfter(const QString &fault)
{
    const std::chrono::nanoseconds told
        = std::min<std::chrono::nanoseconds>(m_head.retryAfter, support::kLongestAskedWait);
    const std::chrono::nanoseconds delay
        = std::max<std::chrono::nanoseconds>(m_backoff.next(), told);
    m_log.warning("waiting for the API server",
        {{"server", m_transport.serverName()}, {"error", fault},
            {"retryInSeconds",
                std::round(std::chrono::duration<double>(delay).count() * 10) / 10}});
    if (m_waiting)
        m_waiting(QStringLiteral("waiting for the API server %1: %2")
                      .arg(m_transport.serverName(), fault));
    m_timer = m_time.callAfter(delay, m_executor, [this, isAlive = m_isAlive] {
        if (*isAlive)
            ask();
    });
}

} // namespace davit::host
