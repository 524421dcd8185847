#include "servercalls.h"

#include <transport/retryingtransport.h>

#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <condition_variable>

namespace davit::host {

namespace {

using namespace std::chrono_literals;

constexpr qsizetype kMaxFaultBytes = 1024 * 1024;

class Gatherer final : public transport::ResponseSink
{
public:
    explicit Gatherer(ServerCalls::Take take) : m_take(std::move(take)) { }

    void onHead(const transport::ResponseHead &head) override
    {
        m_answer.httpStatus = head.httpStatus;
    }
    void onBytes(const QByteArray &bytes) override
    {
        if (m_isOver)
            return;
        if (m_take && m_answer.isGood()) {
            m_isOver = !m_take(bytes);
        } else {
            m_answer.body += bytes;
            m_isOver = !m_answer.isGood() && m_answer.body.size() >= kMaxFaultBytes;
            m_answer.isCut = m_isOver;
        }
        if (m_isOver)
            end();
    }
    void onFinished(const Error &error) override
    {
        if (m_isOver)
            return;
        m_answer.error = error;
        end();
    }
    void end()
    {
        const std::lock_guard lock(m_mutex);
        m_isDone = true;
        m_changed.notify_all();
    }
    ServerAnswer wait()
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_isDone; });
        return m_answer;
    }

private:
    const ServerCalls::Take m_take;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    ServerAnswer m_answer; // the strand's until m_isDone
    bool m_isOver = false; // nobody listens any more; the strand's
    bool m_isDone = false; // GUARDED_BY(m_mutex)
};

// 20 s for the server, and time for an exec plugin that needs a person.
transport::Request boundedQuestion(transport::Request request)
{
    request.headDeadline = 10s;
    request.bodyDeadline = 10s;
    request.totalDeadline = 90s;
    return request;
}

// A server's words are one line on a terminal, whatever they hold.
QString oneLine(const QString &text)
{
    return withoutControls(text).simplified();
}

// "403 Forbidden: what the server wrote", of a Status or of plain text.
QString faultOf(const ServerAnswer &answer)
{
    if (answer.error.isError())
        return oneLine(answer.error.message());
    const QJsonObject status = QJsonDocument::fromJson(answer.body).object();
    QString text = QString::number(answer.httpStatus);
    const QString reason = status.value(QLatin1StringView("reason")).toString();
    QString message = status.value(QLatin1StringView("message")).toString();
    if (message.isEmpty() && status.isEmpty())
        message = QString::fromUtf8(answer.body.left(200));
    if (!reason.isEmpty())
        text += u' ' + reason;
    if (!message.isEmpty() && message != reason)
        text += QStringLiteral(": ") + message;
    if (answer.isCut)
        text += QStringLiteral(" (its body is longer than 1 MiB and was cut)");
    return oneLine(text);
}

} // namespace

QString withoutControls(QString text)
{
    for (QChar &c : text) {
        if (c.category() == QChar::Other_Control)
            c = u' ';
    }
    return text;
}

ServerCalls::ServerCalls(const transport::ClusterConfig &config) : m_strand(m_pool)
{
    transport::TransportOptions options;
    options.onPeer = [this](const transport::PeerFacts &facts) {
        const std::lock_guard lock(m_mutex);
        m_peer = facts;
    };
    m_transport = std::make_unique<transport::RetryingTransport>(
        transport::makeQnamTransport(config, options), support::systemTimeSource());
}

ServerCalls::~ServerCalls()
{
    m_transport.reset();
    m_strand.stop();
}

transport::PeerFacts ServerCalls::peer() const
{
    const std::lock_guard lock(m_mutex);
    return m_peer;
}

ServerAnswer ServerCalls::get(const QByteArray &target)
{
    transport::Request request;
    request.target = target;
    return ask(boundedQuestion(request));
}

ServerAnswer ServerCalls::post(const QByteArray &target, const QByteArray &json)
{
    transport::Request request;
    request.method = "POST";
    request.target = target;
    request.body = json;
    return ask(boundedQuestion(request));
}

ServerAnswer ServerCalls::stream(const QByteArray &target, const Take &take)
{
    transport::Request request;
    request.target = target;
    request.accept = "application/json, */*";
    const QByteArrayList query = target.mid(target.indexOf('?') + 1).split('&');
    if (query.contains("watch=1") || query.contains("watch=true"))
        request.channel = transport::Channel::Watch;
    request.silenceLimit = 10min;
    return ask(request, take);
}

QString ServerCalls::strangeAnswer(const ServerAnswer &answer, const QString &wanted) const
{
    return QStringLiteral("its answer (HTTP %1) is no %2; look at what stands before %3")
        .arg(answer.httpStatus)
        .arg(wanted, serverName());
}

ServerAnswer ServerCalls::ask(const transport::Request &request, const Take &take)
{
    Gatherer gatherer(take);
    ServerAnswer answer;
    {
        const auto exchange = m_transport->start(request, m_strand, gatherer);
        answer = gatherer.wait();
    }
    answer.isCertificateRefused
        = answer.error.code() == ErrorCode::TlsFailure && peer().isClientCertificateRefused;
    if (!answer.isGood())
        answer.fault = faultOf(answer);
    return answer;
}

QueryExit exitOf(const ServerAnswer &answer)
{
    if (answer.isGood())
        return QueryExit::Done;
    if (answer.isCertificateRefused)
        return QueryExit::RefusedCredentials;
    switch (answer.error.code()) {
    case ErrorCode::Unset:
        break;
    case ErrorCode::InvalidConfiguration:
    case ErrorCode::InvalidArgument:
    case ErrorCode::Unsupported:
        return QueryExit::Configuration;
    default:
        return QueryExit::NoConnection;
    }
    return answer.httpStatus == 401 ? QueryExit::RefusedCredentials
        : answer.httpStatus == 403  ? QueryExit::MissingRights
                                    : QueryExit::Failure;
}

} // namespace davit::host
