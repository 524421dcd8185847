#include "rawserver.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {
constexpr int kPollMs = 20;
}

bool RawConnection::fill(int minBytes)
{
    while (m_buffer.size() < minBytes && !m_isStopped) {
        if (m_socket.bytesAvailable() == 0 && !m_socket.waitForReadyRead(kPollMs)
            && m_socket.state() != QAbstractSocket::ConnectedState
            && m_socket.bytesAvailable() == 0) {
            return false;
        }
        m_buffer += m_socket.readAll();
    }
    return m_buffer.size() >= minBytes;
}

bool RawConnection::read(RawRequest &request)
{
    request = {};
    qsizetype end = -1;
    while ((end = m_buffer.indexOf("\r\n\r\n")) < 0) {
        if (!fill(int(m_buffer.size()) + 1))
            return false;
    }
    const QByteArray head = m_buffer.left(end);
    request.head = head;
    m_buffer.remove(0, end + 4);
    const QList<QByteArray> lines = head.split('\n');
    const QList<QByteArray> words = lines.first().trimmed().split(' ');
    request.method = words.value(0);
    request.target = words.value(1);
    for (qsizetype i = 1; i < lines.size(); ++i) {
        const qsizetype colon = lines[i].indexOf(':');
        request.headers.insert(
            lines[i].left(colon).trimmed().toLower(), lines[i].mid(colon + 1).trimmed());
    }
    const int length = request.headers.value("content-length", "0").toInt();
    if (length > 0 && !fill(length))
        return false;
    request.body = m_buffer.left(length);
    m_buffer.remove(0, length);
    return true;
}

bool RawConnection::write(const QByteArray &bytes)
{
    m_socket.write(bytes);
    while (m_socket.bytesToWrite() > 0 || m_socket.encryptedBytesToWrite() > 0) {
        if (m_isStopped)
            return false;
        if (!m_socket.waitForBytesWritten(kPollMs)
            && m_socket.state() != QAbstractSocket::ConnectedState) {
            return false;
        }
    }
    return true;
}

bool RawConnection::answer(int status, const QByteArray &body, const QByteArray &extraHeaders)
{
    return write("HTTP/1.1 " + QByteArray::number(status)
        + " X\r\nContent-Type: application/json\r\nContent-Length: "
        + QByteArray::number(body.size()) + "\r\n" + extraHeaders + "\r\n" + body);
}

bool RawConnection::beginChunked(const QByteArray &extraHeaders)
{
    return write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                 "Transfer-Encoding: chunked\r\n"
        + extraHeaders + "\r\n");
}

bool RawConnection::chunk(const QByteArray &bytes)
{
    return write(QByteArray::number(bytes.size(), 16) + "\r\n" + bytes + "\r\n");
}

void RawConnection::hold()
{
    while (!m_isStopped && m_socket.state() == QAbstractSocket::ConnectedState) {
        m_socket.waitForReadyRead(kPollMs);
        m_socket.readAll();
    }
}

void RawConnection::reset()
{
    const linger option{1, 0};
    setsockopt(int(m_socket.socketDescriptor()), SOL_SOCKET, SO_LINGER, &option, sizeof option);
    m_socket.abort();
}

RawServer::RawServer(Script script, std::optional<QSslConfiguration> tls, const char *address)
    : m_script(std::move(script)), m_tls(std::move(tls))
{
    sockaddr_in four = {};
    sockaddr_in6 six = {};
    four.sin_family = AF_INET;
    six.sin6_family = AF_INET6;
    const bool isSix = inet_pton(AF_INET6, address, &six.sin6_addr) == 1;
    if (!isSix)
        inet_pton(AF_INET, address, &four.sin_addr);
    auto *const name
        = isSix ? reinterpret_cast<sockaddr *>(&six) : reinterpret_cast<sockaddr *>(&four);
    socklen_t size = isSix ? sizeof six : sizeof four;
    m_listener = socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(m_listener, name, size) != 0 || listen(m_listener, 256) != 0)
        qFatal("cannot listen on %s", address);
    getsockname(m_listener, name, &size);
    m_port = ntohs(isSix ? six.sin6_port : four.sin_port);
    m_acceptor = std::thread([this] { accept(); });
}

RawServer::~RawServer()
{
    m_isStopped = true;
    m_acceptor.join();
    ::close(m_listener);
    for (std::thread &thread : m_threads)
        thread.join();
}

void RawServer::accept()
{
    while (!m_isStopped) {
        pollfd waiting{m_listener, POLLIN, 0};
        if (poll(&waiting, 1, kPollMs) != 1)
            continue;
        const int descriptor = accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (descriptor < 0)
            continue;
        const int index = m_connections++;
        const std::lock_guard lock(m_mutex);
        m_threads.emplace_back([this, descriptor, index] { serve(descriptor, index); });
    }
}

void RawServer::serve(qintptr descriptor, int index)
{
    QSslSocket socket;
    socket.setSocketDescriptor(descriptor);
    if (m_tls) {
        socket.setSslConfiguration(*m_tls);
        socket.startServerEncryption();
        if (!socket.waitForEncrypted(10000))
            return;
    }
    RawConnection connection(socket, m_isStopped, index);
    m_script(connection);
    if (socket.state() == QAbstractSocket::ConnectedState) {
        socket.disconnectFromHost();
        if (socket.state() != QAbstractSocket::UnconnectedState)
            socket.waitForDisconnected(1000);
    }
}
