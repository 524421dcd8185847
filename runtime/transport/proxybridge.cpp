#include "proxybridge.h"

#include "proxyenvironment.h"
#include "tlsmaterial.h"

#include <QtNetwork/qsslkey.h>
#include <QtNetwork/qsslsocket.h>
#include <QtNetwork/qtcpsocket.h>

namespace davit::transport {

using namespace Qt::Literals::StringLiterals;

namespace {

bool isOfTls(QAbstractSocket::SocketError error)
{
    return error == QAbstractSocket::SslHandshakeFailedError
        || error == QAbstractSocket::SslInternalError
        || error == QAbstractSocket::SslInvalidUserDataError;
}

constexpr qsizetype kMaxHeadBytes = 64 * 1024;

// The lines of a head that ends with an empty one.
struct Head
{
    QByteArrayList lines; // without their ends
    int httpStatus = 0;

    explicit Head(const QByteArray &text)
    {
        for (const QByteArray &line : text.split('\n'))
            if (!line.trimmed().isEmpty())
                lines += line.trimmed();
        httpStatus = lines.value(0).split(' ').value(1).toInt();
    }
    // Whatever the proxy says of it: one that closes its side without a word, or sends a body
    // in chunks, would leave Qt waiting on this connection (Qt 6.4).
    void endConnection()
    {
        lines.removeIf([](const QByteArray &line) {
            const QByteArray name = line.left(line.indexOf(':')).toLower();
            return name == "connection" || name == "proxy-connection";
        });
        lines += {"Connection: close", "Proxy-Connection: close"};
    }
    // Leaves Basic and Digest of what a proxy offers; gives what else it offered.
    QByteArrayList keepKnownOffers(bool *isAnyKnown)
    {
        QByteArrayList others;
        *isAnyKnown = false;
        for (qsizetype i = lines.size(); i-- > 1;) {
            if (!lines[i].toLower().startsWith("proxy-authenticate:"))
                continue;
            const QByteArray scheme
                = lines[i].mid(lines[i].indexOf(':') + 1).trimmed().split(' ').first();
            if (scheme.toLower() == "basic" || scheme.toLower() == "digest") {
                *isAnyKnown = true;
                continue;
            }
            others.prepend(scheme);
            lines.removeAt(i);
        }
        return others;
    }
};

} // namespace

// One connection: ours to Qt, and the proxy's. Deletes itself when both have ended.
class ProxyBridge::Passage final : public QObject
{
public:
    Passage(QTcpSocket *near, ProxyBridge &bridge)
        : QObject(&bridge), m_bridge(bridge), m_near(near)
    {
        m_near->setParent(this);
        m_near->setReadBufferSize(kWindowBytes);
        m_far.setReadBufferSize(kWindowBytes);
        m_far.setProxy(QNetworkProxy::NoProxy);
        m_far.setSslConfiguration(bridge.m_ssl);
        connect(m_near, &QTcpSocket::readyRead, this, &Passage::carryOut);
        connect(&m_far, &QSslSocket::encryptedBytesWritten, this, &Passage::carryOut);
        connect(&m_far, &QSslSocket::bytesWritten, this, &Passage::carryOut);
        connect(&m_far, &QSslSocket::readyRead, this, &Passage::carryIn);
        connect(m_near, &QTcpSocket::bytesWritten, this, &Passage::carryIn);
        if (m_isTls)
            connect(&m_far, &QSslSocket::encrypted, this, &Passage::onEncrypted);
        else
            connect(&m_far, &QSslSocket::connected, this, &Passage::onReady);
        connect(&m_far, &QSslSocket::errorOccurred, this, &Passage::onFarError);
        connect(m_near, &QTcpSocket::disconnected, this, &Passage::onNearEnd);
        connect(&m_far, &QSslSocket::disconnected, this, &Passage::onFarEnd);
        if (m_isTls)
            m_far.connectToHostEncrypted(bridge.m_proxy.host(), portOf(bridge.m_proxy));
        else
            m_far.connectToHost(bridge.m_proxy.host(), portOf(bridge.m_proxy));
    }

private:
    static void carry(QIODevice &from, QIODevice &to)
    {
        while (from.bytesAvailable() > 0 && to.bytesToWrite() < kWindowBytes)
            to.write(from.read(std::min(from.bytesAvailable(), kWindowBytes)));
    }
    // encryptedBytesToWrite is what the kernel has not taken; bytesToWrite what TLS has not.
    void carryOut()
    {
        if (m_isReady && m_far.encryptedBytesToWrite() < kWindowBytes)
            carry(*m_near, m_far);
    }
    void carryIn()
    {
        m_hasAnswered = m_hasAnswered || m_far.bytesAvailable() > 0;
        if (m_far.bytesAvailable() > 0 && !m_isHeadOver)
            readHead();
        if (m_isHeadOver)
            carry(m_far, *m_near);
        if (m_isFarOver && m_far.bytesAvailable() == 0)
            m_near->disconnectFromHost(); // after what was written to it
    }
    // After a refusal Qt comes again by a connection of its own.
    void readHead()
    {
        m_head += m_far.read(m_far.bytesAvailable());
        const qsizetype end = m_head.indexOf("\r\n\r\n");
        if (end < 0 && m_head.size() < kMaxHeadBytes
            && m_head.startsWith("HTTP/"_ba.left(m_head.size())))
            return;
        m_isHeadOver = true;
        const QByteArray text = std::exchange(m_head, {});
        Head head(text.left(std::max<qsizetype>(end, 0)));
        if (end < 0 || head.httpStatus != 407) {
            m_near->write(text);
            return;
        }
        bool isAnyKnown = false;
        const QByteArrayList others = head.keepKnownOffers(&isAnyKnown);
        if (!isAnyKnown) {
            refuse(ErrorCode::Unauthorized,
                others.isEmpty()
                    ? QStringLiteral("it asks for authentication and does not say which")
                    : QStringLiteral("it asks for %1, and davit knows Basic and Digest")
                          .arg(QString::fromLatin1(others.join(", "))));
            m_far.abort();
            return;
        }
        head.endConnection();
        m_near->write(head.lines.join("\r\n") + text.mid(end));
    }
    // Qt waits for ever when a proxy closes without a word.
    void refuse(ErrorCode code, const QString &why)
    {
        m_bridge.failed(code, why);
        const QByteArray text = m_bridge.fault().message().toUtf8();
        m_near->write("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"_ba + kFaultHeader
            + ": 1\r\nContent-Type: text/plain\r\nContent-Length: "
            + QByteArray::number(text.size()) + "\r\n\r\n" + text);
    }
    void onEncrypted()
    {
        const QString host = m_bridge.m_proxy.host();
        if (m_bridge.m_ssl.peerVerifyMode() != QSslSocket::VerifyNone
            && !isCertificateFor(m_far.peerCertificate(), host)) {
            refuse(
                ErrorCode::TlsFailure, QStringLiteral("its certificate is not for %1").arg(host));
            m_far.abort();
            return;
        }
        onReady();
    }
    void onReady()
    {
        m_bridge.succeeded();
        m_isReady = true;
        carryOut();
    }
    void onFarError(QAbstractSocket::SocketError error)
    {
        if (!m_isReady && !m_isFarOver)
            refuse(isOfTls(error) ? ErrorCode::TlsFailure : ErrorCode::ConnectionRefused,
                m_far.errorString());
        if (m_far.state() == QAbstractSocket::UnconnectedState)
            onFarEnd();
    }
    void onFarEnd()
    {
        if (m_isReady && !m_hasAnswered && !m_isFarOver)
            refuse(ErrorCode::ConnectionRefused,
                QStringLiteral("it closed the connection without an answer"));
        m_isFarOver = true;
        if (m_near->state() == QAbstractSocket::UnconnectedState)
            deleteLater();
        else
            carryIn();
    }
    void onNearEnd()
    {
        m_isReady = false;
        if (m_isFarOver || m_far.state() == QAbstractSocket::UnconnectedState)
            deleteLater();
        else
            m_far.disconnectFromHost();
    }

    ProxyBridge &m_bridge;
    QTcpSocket *const m_near; // a child
    QSslSocket m_far;
    const bool m_isTls = m_bridge.m_proxy.scheme() == QLatin1StringView("https");
    QByteArray m_head; // as far as it has come
    bool m_isHeadOver = false; // of the first answer
    bool m_isReady = false; // TCP, or TLS, stands
    bool m_hasAnswered = false;
    bool m_isFarOver = false;
};

ProxyBridge::ProxyBridge(const QUrl &proxy, const QSslConfiguration &ssl) : m_proxy(proxy)
{
    setConfiguration(ssl);
    connect(&m_listener, &QTcpServer::newConnection, this, &ProxyBridge::accept);
    m_listener.setProxy(QNetworkProxy::NoProxy);
    if (!m_listener.listen(QHostAddress::LocalHost))
        failed(ErrorCode::ConnectionRefused,
            QStringLiteral("no port on loopback to reach it by: ") + m_listener.errorString());
}

ProxyBridge::~ProxyBridge() = default;

QNetworkProxy ProxyBridge::proxy() const
{
    return QNetworkProxy(QNetworkProxy::HttpProxy, QStringLiteral("127.0.0.1"),
        m_listener.serverPort(), m_proxy.userName(), m_proxy.password());
}

void ProxyBridge::setConfiguration(const QSslConfiguration &ssl)
{
    m_ssl = ssl;
    m_ssl.setLocalCertificateChain({});
    m_ssl.setPrivateKey({});
    m_ssl.addCaCertificates(QSslConfiguration::systemCaCertificates());
}

void ProxyBridge::accept()
{
    while (QTcpSocket *const near = m_listener.nextPendingConnection())
        new Passage(near, *this); // a child of this
}

void ProxyBridge::failed(ErrorCode code, const QString &why)
{
    m_fault = Error(code,
        QStringLiteral("the proxy %1 cannot be reached: %2")
            .arg(m_proxy.toString(QUrl::RemoveUserInfo), why));
}

} // namespace davit::transport
