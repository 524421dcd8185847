#include "qnamexchange.h"
#include "bodydevice.h"
#include "httpheaders.h"
#include "keepalive.h"
#include "proxyenvironment.h"
#include "tlsmaterial.h"

#include <QtCore/qpointer.h>
#include <QtCore/qregularexpression.h>
#include <algorithm>

namespace davit::transport {
namespace {

constexpr qint64 kReadBufferBytes = 1024 * 1024;
constexpr qint64 kPieceBytes = 256 * 1024;
// Below the 90 s after which API servers close an idle connection: no request races with that.
constexpr int kIdleConnectionSeconds = 60;

// "certificate expired", of OpenSSL's words for a TLS alert about our certificate, or that we have
// none. With TLS 1.3 it comes after our handshake, as an error of a read; nothing was executed.
QString certificateAlert(const QString &words)
{
    static const QRegularExpression alert(
        QStringLiteral(" alert ((?:no |bad |unsupported )certificate|certificate "
                       "(?:expired|revoked|unknown|required)|unknown ca|access denied)"));
    return alert.match(words).captured(1);
}

// Qt makes an error of each status from 400 on; the body is complete nevertheless.
bool isMadeFromStatus(QNetworkReply::NetworkError error)
{
    switch (error) {
    case QNetworkReply::ContentAccessDenied:
    case QNetworkReply::ContentOperationNotPermittedError:
    case QNetworkReply::ContentNotFoundError:
    case QNetworkReply::AuthenticationRequiredError:
    case QNetworkReply::ContentConflictError:
    case QNetworkReply::ContentGoneError:
    case QNetworkReply::UnknownContentError:
    case QNetworkReply::ProtocolInvalidOperationError:
    case QNetworkReply::InternalServerError:
    case QNetworkReply::OperationNotImplementedError:
    case QNetworkReply::ServiceUnavailableError:
    case QNetworkReply::UnknownServerError:
        return true;
    default:
        return false;
    }
}

bool isOfProxy(QNetworkReply::NetworkError error)
{
    return error >= QNetworkReply::ProxyConnectionRefusedError
        && error <= QNetworkReply::UnknownProxyError;
}

void setManual(QNetworkRequest &request)
{
    request.setAttribute(QNetworkRequest::Http2AllowedAttribute, false);
    request.setAttribute(
        QNetworkRequest::RedirectPolicyAttribute, QNetworkRequest::ManualRedirectPolicy);
    request.setAttribute(QNetworkRequest::CookieLoadControlAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::CookieSaveControlAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::AuthenticationReuseAttribute, QNetworkRequest::Manual);
    request.setAttribute(
        QNetworkRequest::CacheLoadControlAttribute, QNetworkRequest::AlwaysNetwork);
    request.setAttribute(QNetworkRequest::CacheSaveControlAttribute, false);
    request.setAttribute(
        QNetworkRequest::ConnectionCacheExpiryTimeoutSecondsAttribute, kIdleConnectionSeconds);
    request.setDecompressedSafetyCheckThreshold(-1);
}

// One header line for each value. A request of Qt has each name once, the line ends are ours:
// values with control characters were refused when the configuration was read, and so were several
// values where Qt takes no line ends (canRepeatHeaders).
void addHeader(QNetworkRequest &request, const QByteArray &name, const QList<QByteArray> &values)
{
    request.setRawHeader(name, values.join("\r\n" + name + ": "));
}

QString seconds(std::chrono::milliseconds time)
{
    return QString::number(double(time.count()) / 1000.0) + QStringLiteral(" s");
}

} // namespace

QnamExchange::QnamExchange(
    ExchangeContext &context, const Request &request, std::shared_ptr<HandOver> handOver)
    : m_context(context), m_request(request), m_handOver(std::move(handOver))
{
    m_limitTimer.setSingleShot(true);
    m_totalTimer.setSingleShot(true);
    connect(&m_limitTimer, &QTimer::timeout, this, &QnamExchange::onLimit);
    connect(&m_totalTimer, &QTimer::timeout, this, &QnamExchange::onTotalLimit);
}

QnamExchange::~QnamExchange()
{
    if (m_isDone)
        return; // the context may be gone
    m_context.pool->forget(*this);
    dropReply();
    releaseManager();
}

void QnamExchange::begin()
{
    if (m_context.configurationFault.isError())
        return fail(m_context.configurationFault);
    if (isWrite() && m_request.body.isEmpty() && m_request.method != "DELETE")
        return fail(failure(ErrorCode::InvalidArgument, QStringLiteral("it needs a body")));
    if (m_request.totalDeadline.count() > 0)
        m_totalTimer.start(m_request.totalDeadline);
    queueUp();
}

// Whose fault it is depends on what was waited for.
void QnamExchange::onTotalLimit()
{
    const QString awaited = m_isPreparing ? m_context.credential->awaited() : QString();
    const QString limit = seconds(m_totalTimer.intervalAsDuration());
    if (!awaited.isEmpty())
        return fail(failure(ErrorCode::Timeout,
            QStringLiteral("it was not sent: %1 has not given a credential within %2")
                .arg(awaited, limit)));
    fail(failure(mayHaveBeenExecuted() ? ErrorCode::OutcomeUnknown : ErrorCode::Timeout,
        QStringLiteral("no whole answer within ") + limit));
}

// For the credential, then for a connection.
void QnamExchange::queueUp()
{
    m_isPreparing = true;
    m_context.credential->prepare([self = QPointer(this)] {
        if (!self || self->m_isDone)
            return;
        self->m_isPreparing = false;
        self->m_context.pool->enqueue(self->m_request.channel, *self);
    });
}

void QnamExchange::onManager(ConnectionPool::Manager &manager)
{
    m_manager = &manager;
    send();
}

void QnamExchange::send()
{
    const Result<QByteArray> token = m_context.credential->token();
    if (!token.isOk())
        return fail(token.error());
    m_token = token.value();
    m_context.token.set({m_token});
    if (m_request.permit && !m_request.permit->isValid())
        return fail(refusal());
    const QNetworkRequest request = buildRequest(m_token);
    QNetworkAccessManager &qnam = *m_manager->qnam;
    if (isWrite()) {
        m_body = new BodyDevice(
            m_request.body.isEmpty() ? QByteArrayLiteral("{}") : m_request.body, m_request.permit);
        // Qt is in the middle of a read.
        connect(
            m_body, &BodyDevice::refused, this, [this] { fail(refusal()); }, Qt::QueuedConnection);
        m_reply = qnam.sendCustomRequest(request, m_request.method, m_body);
        m_body->setParent(m_reply);
    } else {
        m_reply = qnam.get(request);
    }
    m_reply->setReadBufferSize(kReadBufferBytes);
    connectReply();
    if (m_request.headDeadline.count() > 0)
        m_limitTimer.start(m_request.headDeadline);
}

QNetworkRequest QnamExchange::buildRequest(const QByteArray &token) const
{
    QNetworkRequest request(
        QUrl::fromEncoded(m_context.baseUrl + m_request.target, QUrl::StrictMode));
    setManual(request);
    request.setSslConfiguration(m_context.ssl);
    if (!m_context.config.tlsServerName.isEmpty())
        request.setPeerVerifyName(m_context.config.tlsServerName);
    request.setRawHeader("Accept", m_request.accept);
    request.setRawHeader("Accept-Encoding", "identity");
    request.setRawHeader(
        "User-Agent", m_request.userAgent.isEmpty() ? m_context.userAgent : m_request.userAgent);
    if (!token.isEmpty())
        request.setRawHeader("Authorization", "Bearer " + token);
    else if (const ClusterConfig &config = m_context.config; !config.basicUser.isEmpty())
        request.setRawHeader(
            "Authorization", basicAuthorization(config.basicUser, config.basicPassword));
    for (const auto &[name, values] : impersonationHeaders(m_context.config.impersonation))
        addHeader(request, name, values);
    if (isWrite()) {
        // A DELETE always has options: without a body Qt would send it again by itself.
        const bool isEmpty = m_request.body.isEmpty();
        request.setAttribute(QNetworkRequest::DoNotBufferUploadDataAttribute, true);
        request.setHeader(
            QNetworkRequest::ContentLengthHeader, isEmpty ? 2 : m_request.body.size());
        request.setRawHeader("Content-Type",
            m_request.contentType.isEmpty() ? QByteArrayLiteral("application/json")
                                            : m_request.contentType);
    }
    return request;
}

void QnamExchange::connectReply()
{
    connect(m_reply, &QNetworkReply::socketStartedConnecting, this,
        [this] { m_isNewConnection = true; });
    connect(m_reply, &QNetworkReply::metaDataChanged, this, &QnamExchange::onHeaders);
    connect(m_reply, &QNetworkReply::readyRead, this, [this] {
        onHeaders();
        drain();
    });
    connect(m_reply, &QNetworkReply::finished, this, &QnamExchange::onReplyFinished);
    if (m_context.config.server.scheme() != QLatin1String("https"))
        return;
    connect(m_reply, &QNetworkReply::encrypted, this, &QnamExchange::onEncrypted);
    connect(m_reply, &QNetworkReply::sslErrors, this, [this](const QList<QSslError> &errors) {
        QStringList texts;
        for (const QSslError &error : errors)
            texts.append(error.errorString());
        m_tlsErrors = texts.join(QStringLiteral(", "));
        tellPeer();
    });
}

// Qt accepts a name in the common name, and an address in a dNSName SAN. Nothing was sent yet.
void QnamExchange::onEncrypted()
{
    m_isNewConnection = true;
    if (m_context.config.isInsecure)
        return;
    const QString host = m_context.config.tlsServerName.isEmpty() ? m_context.config.server.host()
                                                                  : m_context.config.tlsServerName;
    if (isCertificateFor(m_reply->sslConfiguration().peerCertificate(), host))
        return;
    fail(failure(
        ErrorCode::TlsFailure, QStringLiteral("the server's certificate is not for %1").arg(host)));
}

void QnamExchange::onHeaders()
{
    if (m_httpStatus != 0 || m_isRefused || !m_reply)
        return;
    const int status = m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    if (status < 200)
        return;
    // No word of the server: outcome() tells.
    m_isProxyFault = m_context.proxyBridge && m_context.proxyBridge->fault().isError()
        && m_reply->hasRawHeader(ProxyBridge::kFaultHeader);
    if (m_isProxyFault)
        return;
    // It was refused unseen, and the credential has changed meanwhile: once more (B03).
    m_isRefused = status == 401 && !m_isRenewed && m_context.credential->renew(m_token);
    if (m_isRefused)
        return;
    m_httpStatus = status;
    tellPeer();
    if (m_isNewConnection) {
        const ClusterConfig &config = m_context.config;
        const QUrl &peer = config.proxyUrl.isEmpty() ? config.server : config.proxyUrl;
        tuneKeepAlive(peer.host(), portOf(peer));
    }
    const QByteArray encoding = m_reply->rawHeader("Content-Encoding").trimmed().toLower();
    if (status < 300 && !encoding.isEmpty() && encoding != "identity") {
        return fail(failure(isWrite() ? ErrorCode::OutcomeUnknown : ErrorCode::MalformedReply,
            QStringLiteral("the server sent its answer as %1, which nobody asked for")
                .arg(QString::fromLatin1(encoding))));
    }
    // Qt 6.4 drops all lines of a head beyond its limits, and waits for the connection's end. So
    // must we after a refusal: Go's to plain HTTP has no line either.
    m_isHeadless = status != 204 && m_reply->rawHeaderPairs().isEmpty();
    if (m_isHeadless && status < 300)
        return fail(unreadableHead());
    ResponseHead head;
    head.httpStatus = status;
    head.contentType = m_reply->rawHeader("Content-Type");
    if (m_reply->hasRawHeader("Retry-After"))
        head.retryAfter = retryAfter(m_reply->rawHeader("Retry-After"), m_context.time.utc());
    head.warnings = warningTexts(m_reply->rawHeader("Warning"));
    if (m_reply->hasRawHeader("Content-Length"))
        m_expectedBytes = m_reply->rawHeader("Content-Length").toLongLong();
    m_isJsonChecked = status != 204 && head.contentType.startsWith("application/json")
        && (m_request.channel == Channel::Call || m_request.channel == Channel::Lease);
    m_handOver->putHead(head);
    limitBody();
}

void QnamExchange::limitBody()
{
    m_sinceBytes.start();
    const std::chrono::milliseconds limit = m_request.bodyDeadline;
    if (limit.count() > 0
        && (!m_totalTimer.isActive() || m_totalTimer.remainingTimeAsDuration() > limit))
        m_totalTimer.start(limit);
    if (m_isHeadless)
        return; // the limit for the headers stays
    if (m_request.silenceLimit.count() > 0)
        m_limitTimer.start(m_request.silenceLimit);
    else
        m_limitTimer.stop();
}

void QnamExchange::tellPeer(const QString &alert) const
{
    if (!m_context.onPeer)
        return;
    const auto expires = m_context.credential->expires();
    PeerFacts facts;
    facts.serverDate = httpDate(m_reply->rawHeader("Date"));
    facts.serverCertificate = m_reply->sslConfiguration().peerCertificate();
    facts.clientCertificate = m_context.ssl.localCertificate();
    facts.isClientCertificateRefused = !alert.isEmpty();
    if (expires)
        facts.credentialEnds = QDateTime::fromMSecsSinceEpoch(
            std::chrono::duration_cast<std::chrono::milliseconds>(*expires).count())
                                   .toUTC();
    m_context.onPeer(facts);
}

void QnamExchange::drain()
{
    if (!m_reply || m_httpStatus == 0)
        return;
    while (m_reply->bytesAvailable() > 0) {
        m_isPaused = !m_handOver->wantsBytes();
        if (m_isPaused)
            return;
        QByteArray bytes = m_reply->read(std::min(m_reply->bytesAvailable(), kPieceBytes));
        m_receivedBytes += bytes.size();
        m_sinceBytes.start();
        if (m_isJsonChecked)
            m_jsonEnd.feed(bytes);
        m_handOver->putBytes(std::move(bytes));
    }
    if (m_isReplyFinished)
        fail(outcome());
}

void QnamExchange::resume()
{
    m_isPaused = false;
    m_sinceBytes.start();
    drain();
}

void QnamExchange::onReplyFinished()
{
    onHeaders();
    m_limitTimer.stop();
    if (m_isRefused) {
        m_isRefused = false;
        m_isRenewed = true;
        dropReply();
        releaseManager(); // with a new certificate comes a new manager
        return queueUp();
    }
    m_totalTimer.stop();
    m_isReplyFinished = true; // but the manager owns the reply: it stays until all of it is read
    if (m_httpStatus != 0)
        drain();
    else
        fail(outcome());
}

// The limit for the headers, then for silence. Time that the executor kept us waiting does not
// count.
void QnamExchange::onLimit()
{
    if (m_httpStatus == 0) {
        // Whatever is wrong with this manager's connections: the next exchange gets fresh ones.
        if (m_manager)
            m_context.pool->retire(*m_manager);
        return fail(failure(mayHaveBeenExecuted() ? ErrorCode::OutcomeUnknown : ErrorCode::Timeout,
            QStringLiteral("no answer within ") + seconds(m_request.headDeadline)));
    }
    if (m_isHeadless)
        return fail(unreadableHead());
    const std::chrono::milliseconds silence(m_sinceBytes.elapsed());
    if (m_isPaused || silence < m_request.silenceLimit) {
        m_limitTimer.start(m_isPaused ? m_request.silenceLimit : m_request.silenceLimit - silence);
        return;
    }
    fail(failure(mayHaveBeenExecuted() ? ErrorCode::OutcomeUnknown : ErrorCode::Timeout,
        QStringLiteral("the server sent nothing for ") + seconds(m_request.silenceLimit)));
}

void QnamExchange::fail(const Error &error)
{
    if (m_isDone)
        return;
    m_isDone = true;
    m_limitTimer.stop();
    m_totalTimer.stop();
    m_context.pool->forget(*this);
    dropReply();
    releaseManager();
    m_handOver->finish(error);
    Q_EMIT done();
}

void QnamExchange::dropReply()
{
    if (!m_reply)
        return;
    m_reply->disconnect(this);
    if (m_reply->isRunning())
        m_reply->abort();
    m_reply->deleteLater();
    m_reply = nullptr;
    m_body = nullptr;
}

void QnamExchange::releaseManager()
{
    if (m_manager)
        m_context.pool->release(*std::exchange(m_manager, nullptr));
}

bool QnamExchange::mayHaveBeenExecuted() const
{
    return isWrite() && m_body && m_body->wasRead();
}

Error QnamExchange::outcome() const
{
    const Error noProxy = m_context.proxyBridge ? m_context.proxyBridge->fault() : Error();
    if (noProxy.isError() && m_httpStatus == 0 && (m_isProxyFault || !mayHaveBeenExecuted()))
        return failure(noProxy.code(), noProxy.message());
    const QNetworkReply::NetworkError error = m_reply->error();
    const bool isAnswer = error == QNetworkReply::NoError || isMadeFromStatus(error)
        || (error == QNetworkReply::ProxyAuthenticationRequiredError && isByServer());
    if (m_httpStatus != 0 && isAnswer) {
        if (isWhole())
            return {};
        return failure(isWrite() ? ErrorCode::OutcomeUnknown : ErrorCode::ConnectionLost,
            QStringLiteral("the answer was cut off"));
    }
    if (const QString alert = certificateAlert(m_reply->errorString()); !alert.isEmpty()) {
        tellPeer(alert);
        return failure(ErrorCode::TlsFailure,
            (m_context.ssl.localCertificate().isNull()
                    ? QStringLiteral("the server wants a client certificate, and there is none")
                    : QStringLiteral("the server does not accept the client certificate"))
                + QStringLiteral(" (TLS alert: %1)").arg(alert));
    }
    if (error == QNetworkReply::SslHandshakeFailedError) {
        return failure(
            ErrorCode::TlsFailure, m_tlsErrors.isEmpty() ? m_reply->errorString() : m_tlsErrors);
    }
    if (isOfProxy(error) && !mayHaveBeenExecuted())
        return proxyFailure(error);
    if (mayHaveBeenExecuted()) {
        return failure(ErrorCode::OutcomeUnknown,
            QStringLiteral("the connection broke after the request was sent, read the object "
                           "before you try again"));
    }
    if (isWrite() || error == QNetworkReply::ConnectionRefusedError
        || error == QNetworkReply::HostNotFoundError) {
        return failure(ErrorCode::ConnectionRefused, m_reply->errorString());
    }
    return failure(ErrorCode::ConnectionLost, m_reply->errorString());
}

// A status, even 407: of a tunnel's own refusals Qt tells none.
bool QnamExchange::isByServer() const
{
    return m_context.config.proxyUrl.isEmpty()
        || m_context.config.server.scheme() == QLatin1String("https");
}

// Nothing was sent to the server.
Error QnamExchange::proxyFailure(QNetworkReply::NetworkError error) const
{
    const QUrl &proxy = m_context.config.proxyUrl;
    const QString name = QStringLiteral("the proxy ") + proxy.toString(QUrl::RemoveUserInfo);
    if (error != QNetworkReply::ProxyAuthenticationRequiredError)
        return failure(ErrorCode::ConnectionRefused,
            QStringLiteral("%1 cannot be used: %2").arg(name, m_reply->errorString()));
    return failure(ErrorCode::Unauthorized,
        proxy.userName().isEmpty()
            ? QStringLiteral("%1 asks for a user and a password; write them into its address, "
                             "as in %2://USER:PASSWORD@%3")
                  .arg(name, proxy.scheme(), proxy.host())
            : QStringLiteral("%1 does not accept the user and the password of its address")
                  .arg(name));
}

bool QnamExchange::isWhole() const
{
    if (m_expectedBytes >= 0)
        return m_receivedBytes >= m_expectedBytes;
    return !m_isJsonChecked || m_jsonEnd.isComplete();
}

Error QnamExchange::refusal() const
{
    return failure(
        ErrorCode::Canceled, QStringLiteral("it was not sent: ") + m_request.permit->refusal());
}

Error QnamExchange::unreadableHead() const
{
    return failure(
        isWrite() && m_httpStatus < 300 ? ErrorCode::OutcomeUnknown : ErrorCode::MalformedReply,
        QStringLiteral("the head of the answer (HTTP %1) cannot be used: it has no line, more than "
                       "100, one above 100 KiB, or more than 256 KiB in all, which are Qt's limits")
            .arg(m_httpStatus));
}

// "GET https://10.0.0.1:6443/api/v1/pods: what".
Error QnamExchange::failure(ErrorCode code, const QString &what) const
{
    const QByteArray path = m_request.target.split('?').first();
    return Error(code,
        QStringLiteral("%1 %2%3: %4")
            .arg(QString::fromLatin1(m_request.method), m_context.serverName,
                QString::fromLatin1(path), what));
}

} // namespace davit::transport
