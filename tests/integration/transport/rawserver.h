// A server of exact bytes for transport tests: each connection runs a script on a thread of its
// own, plain or TLS, and may close, reset or go silent at any byte.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qhash.h>
#include <QtNetwork/qsslconfiguration.h>
#include <QtNetwork/qsslsocket.h>
#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

struct RawRequest
{
    QByteArray method;
    QByteArray target;
    QHash<QByteArray, QByteArray> headers; // lower-case names; of several alike the last
    QByteArray head; // all of it, as it came
    QByteArray body;
};

class RawConnection
{
public:
    RawConnection(QSslSocket &socket, const std::atomic<bool> &isStopped, int index)
        : m_socket(socket), m_isStopped(isStopped), m_index(index)
    { }
    // One whole request; false when the peer went away or the server stops.
    bool read(RawRequest &request);
    // All of it into the kernel; false when the peer went away or the server stops. `writtenBytes`
    // of the server grows as it goes.
    bool write(const QByteArray &bytes);
    // A whole answer with Content-Length.
    bool answer(int status, const QByteArray &body, const QByteArray &extraHeaders = {});
    // The head of a chunked answer, and one chunk.
    bool beginChunked(const QByteArray &extraHeaders = {});
    bool chunk(const QByteArray &bytes);
    // Keeps the connection until the peer closes it or the server stops.
    void hold();
    // RST instead of FIN.
    void reset();
    bool isStopped() const { return m_isStopped; }
    QSslSocket &socket() { return m_socket; }
    int index() const { return m_index; } // of the connection, from 0

private:
    bool fill(int minBytes);

    QSslSocket &m_socket;
    const std::atomic<bool> &m_isStopped;
    const int m_index;
    QByteArray m_buffer;
};

class RawServer
{
public:
    using Script = std::function<void(RawConnection &)>;

    // Listens on `address`, "127.0.0.1" or "::1", port 0.
    explicit RawServer(Script script, std::optional<QSslConfiguration> tls = {},
        const char *address = "127.0.0.1");
    ~RawServer();
    Q_DISABLE_COPY_MOVE(RawServer)

    quint16 port() const { return m_port; }
    int connectionCount() const { return m_connections; }

private:
    void accept();
    void serve(qintptr descriptor, int index);

    const Script m_script;
    const std::optional<QSslConfiguration> m_tls;
    int m_listener = -1;
    quint16 m_port = 0;
    std::atomic<bool> m_isStopped{false};
    std::atomic<int> m_connections{0};
    std::mutex m_mutex;
    std::list<std::thread> m_threads; // GUARDED_BY(m_mutex)
    std::thread m_acceptor;
};
