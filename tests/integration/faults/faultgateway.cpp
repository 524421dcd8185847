#include "faultgateway.h"

#include <QtNetwork/qsslsocket.h>
#include <QtNetwork/qtcpserver.h>
#include <sys/socket.h>

using End = BadAnswer::End;

// One client's connection and the server's behind it.
class FaultGateway::Pair : public QObject
{
public:
    Pair(FaultGateway &gateway, QTcpSocket *client)
        : QObject(client), m_gateway(gateway), m_client(*client)
    {
        connect(client, &QTcpSocket::readyRead, this, &Pair::onRequest);
        connect(client, &QTcpSocket::disconnected, client, &QObject::deleteLater);
    }

private:
    void onRequest();
    void passOn(const QByteArray &head);
    void onAnswer();
    void strike();

    FaultGateway &m_gateway;
    QTcpSocket &m_client;
    QByteArray m_head;
    std::optional<BadAnswer> m_answer;
    QSslSocket *m_server = nullptr;
    qint64 m_passed = 0;
    bool m_hasStruck = false;
};

void FaultGateway::Pair::onRequest()
{
    m_head += m_client.readAll();
    const qsizetype end = m_head.indexOf("\r\n\r\n");
    if (end < 0 || m_server || m_hasStruck)
        return;
    const QByteArray line = m_head.left(m_head.indexOf("\r\n"));
    m_answer = m_gateway.take(line.contains("watch=true"));
    if (m_answer && m_answer->passedBytes == 0)
        return strike();
    passOn(m_head.left(end));
}

// One request a connection: the server is told to close it.
void FaultGateway::Pair::passOn(const QByteArray &head)
{
    QByteArray request;
    for (const QByteArray &line : head.split('\n')) {
        if (!line.toLower().startsWith("connection:"))
            request += line.trimmed() + "\r\n";
    }
    request += "Connection: close\r\n\r\n";
    m_server = new QSslSocket(this);
    connect(m_server, &QSslSocket::readyRead, this, &Pair::onAnswer);
    const auto begin = [this, request] { m_server->write(request); };
    const auto end = [this] {
        onAnswer();
        if (!m_hasStruck)
            m_client.disconnectFromHost();
    };
    connect(m_server, &QSslSocket::disconnected, this, end);
    connect(m_server, &QSslSocket::errorOccurred, this, end);
    if (m_gateway.m_tls) {
        m_server->setSslConfiguration(*m_gateway.m_tls);
        connect(m_server, &QSslSocket::encrypted, this, begin);
        m_server->connectToHostEncrypted(QStringLiteral("127.0.0.1"), m_gateway.m_serverPort);
    } else {
        connect(m_server, &QSslSocket::connected, this, begin);
        m_server->connectToHost(QStringLiteral("127.0.0.1"), m_gateway.m_serverPort);
    }
}

void FaultGateway::Pair::onAnswer()
{
    QByteArray bytes = m_server->readAll();
    if (m_hasStruck)
        return;
    if (m_answer)
        bytes.truncate(m_answer->passedBytes - m_passed);
    m_passed += bytes.size();
    m_client.write(bytes);
    if (m_answer && m_passed == m_answer->passedBytes)
        strike();
}

void FaultGateway::Pair::strike()
{
    m_hasStruck = true;
    m_client.write(m_answer->bytes);
    switch (m_answer->end) {
    case End::Close:
        m_client.disconnectFromHost(); // after the last byte
        break;
    case End::Reset: {
        m_client.flush();
        const linger atOnce{1, 0};
        setsockopt(
            int(m_client.socketDescriptor()), SOL_SOCKET, SO_LINGER, &atOnce, sizeof(atOnce));
        m_client.abort();
        m_client.deleteLater();
        break;
    }
    case End::Silence:
        break;
    }
}

FaultGateway::FaultGateway(quint16 serverPort, std::optional<QSslConfiguration> tls)
    : m_serverPort(serverPort), m_tls(std::move(tls))
{ }

FaultGateway::~FaultGateway()
{
    m_thread.quit();
    m_thread.wait();
}

quint16 FaultGateway::start()
{
    auto *const listener = new QTcpServer;
    if (!listener->listen(QHostAddress::LocalHost)) {
        delete listener;
        return 0;
    }
    const quint16 port = listener->serverPort();
    m_listener = listener;
    listener->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, listener, &QObject::deleteLater);
    connect(listener, &QTcpServer::newConnection, listener, [this, listener] {
        while (QTcpSocket *const client = listener->nextPendingConnection())
            new Pair(*this, client);
    });
    m_thread.start();
    return port;
}

void FaultGateway::arm(const BadAnswer &answer)
{
    const std::lock_guard lock(m_mutex);
    m_armed.append(answer);
}

bool FaultGateway::isArmed() const
{
    const std::lock_guard lock(m_mutex);
    return !m_armed.isEmpty();
}

void FaultGateway::disarm()
{
    const std::lock_guard lock(m_mutex);
    m_armed.clear();
}

std::optional<BadAnswer> FaultGateway::take(bool isWatch)
{
    using Request = BadAnswer::Request;
    const std::lock_guard lock(m_mutex);
    for (qsizetype i = 0; i < m_armed.size(); ++i) {
        const Request request = m_armed.at(i).request;
        if (request == Request::Any || (request == Request::Watch) == isWatch)
            return m_armed.takeAt(i);
    }
    return {};
}
