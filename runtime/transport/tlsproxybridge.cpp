#include "tlsproxybridge.h"

#include "proxyenvironment.h"
#include "tlsmaterial.h"

#include <QtNetwork/qsslkey.h>
#include <QtNetwork/qsslsocket.h>
#include <QtNetwork/qtcpsocket.h>

namespace davit::transport {
namespace {

bool isOfTls(QAbstractSocket::SocketError error)
{
    return error == QAbstractSocket::SslHandshakeFailedError
        || error == QAbstractSocket::SslInternalError
        || error == QAbstractSocket::SslInvalidUserDataError;
}

} // namespace

// One connection: ours to Qt, the proxy's over TLS. Deletes itself when both have ended.
class TlsProxyBridge::Passage final : public QObject
{
public:
    Passage(QTcpSocket *near, TlsProxyBridge &bridge)
        : QObject(&bridge), m_bridge(bridge), m_near(near)
    {
        m_near->setParent(this);
        m_near->setReadBufferSize(kWindowBytes);
        m_far.setReadBufferSize(kWindowBytes);
        m_far.setProxy(QNetworkProxy::NoProxy);
        m_far.setSslConfiguration(bridge.m_ssl);
        connect(m_near, &QTcpSocket::readyRead, this, &Passage::carryOut);
        connect(&m_far, &QSslSocket::encryptedBytesWritten, this, &Passage::carryOut);
        connect(&m_far, &QSslSocket::readyRead, this, &Passage::carryIn);
        connect(m_near, &QTcpSocket::bytesWritten, this, &Passage::carryIn);
        connect(&m_far, &QSslSocket::encrypted, this, &Passage::onEncrypted);
        connect(&m_far, &QSslSocket::errorOccurred, this, &Passage::onFarError);
        connect(m_near, &QTcpSocket::disconnected, this, &Passage::onNearEnd);
        connect(&m_far, &QSslSocket::disconnected, this, &Passage::onFarEnd);
        m_far.connectToHostEncrypted(bridge.m_proxy.host(), portOf(bridge.m_proxy));
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
        carry(m_far, *m_near);
        if (m_isFarOver && m_far.bytesAvailable() == 0)
            m_near->disconnectFromHost(); // after what was written to it
    }
    // Qt waits for ever when a proxy closes without a word.
    void refuse(ErrorCode code, const QString &why)
    {
        m_bridge.failed(code, why);
        const QByteArray text = m_bridge.fault().message().toUtf8();
        m_near->write("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: "
                      "text/plain\r\nContent-Length: "
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

    TlsProxyBridge &m_bridge;
    QTcpSocket *const m_near; // a child
    QSslSocket m_far;
    bool m_isReady = false; // TLS stands
    bool m_hasAnswered = false;
    bool m_isFarOver = false;
};

TlsProxyBridge::TlsProxyBridge(const QUrl &proxy, const QSslConfiguration &ssl) : m_proxy(proxy)
{
    setConfiguration(ssl);
    connect(&m_listener, &QTcpServer::newConnection, this, &TlsProxyBridge::accept);
    m_listener.setProxy(QNetworkProxy::NoProxy);
    if (!m_listener.listen(QHostAddress::LocalHost))
        failed(ErrorCode::ConnectionRefused,
            QStringLiteral("no port on loopback to reach it by: ") + m_listener.errorString());
}

TlsProxyBridge::~TlsProxyBridge() = default;

QNetworkProxy TlsProxyBridge::proxy() const
{
    return QNetworkProxy(QNetworkProxy::HttpProxy, QStringLiteral("127.0.0.1"),
        m_listener.serverPort(), m_proxy.userName(), m_proxy.password());
}

void TlsProxyBridge::setConfiguration(const QSslConfiguration &ssl)
{
    m_ssl = ssl;
    m_ssl.setLocalCertificateChain({});
    m_ssl.setPrivateKey({});
    m_ssl.addCaCertificates(QSslConfiguration::systemCaCertificates());
}

void TlsProxyBridge::accept()
{
    while (QTcpSocket *const near = m_listener.nextPendingConnection())
        new Passage(near, *this); // a child of this
}

void TlsProxyBridge::failed(ErrorCode code, const QString &why)
{
    m_fault = Error(code,
        QStringLiteral("the proxy %1 cannot be reached: %2")
            .arg(m_proxy.toString(QUrl::RemoveUserInfo), why));
}

} // namespace davit::transport
