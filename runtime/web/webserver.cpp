// The only place that includes cpp-httplib in the host's own layers: it costs seconds to compile.
#include "webserver.h"

#include "connections.h"

#include <support/growingthreads.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <httplib.h>
#include <poll.h>
#include <regex>
#include <system_error>
#include <thread>

namespace davit::web {

namespace {

// A connection holds one as long as it is open, also when it says nothing.
constexpr size_t kThreads = 64;

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr int kRequests = 1000; // of one connection
constexpr auto kIdle = 5s; // between two of them
constexpr auto kSilence = 5s; // within one
constexpr auto kRequest = 20s; // the whole of one, with its answer

// httplib's own pool makes all threads at once, and ends the process when it cannot have one.
class ConnectionThreads final : public httplib::TaskQueue
{
    // void in 0.11, bool in 0.18.
    using Enqueued = decltype(std::declval<httplib::TaskQueue &>().enqueue({}));

public:
    explicit ConnectionThreads(Connections &connections) : m_connections(connections) { }

    Enqueued enqueue(std::function<void()> task) override
    {
        m_connections.accepted();
        m_threads.post(std::move(task));
        return Enqueued(true);
    }
    void shutdown() override
    {
        m_connections.finish();
        m_threads.finish();
    }

private:
    Connections &m_connections;
    support::GrowingThreads m_threads{kThreads};
};

// httplib's own stream knows a limit for each read, and none for a request. Without `override`:
// these are the virtuals of 0.11 and those of later versions, which named some anew and added one.
// NOLINTBEGIN(modernize-use-override)
class TimedStream final : public httplib::Stream
{
public:
    explicit TimedStream(socket_t socket) : m_socket(socket) { }

    // False when none comes.
    bool waitForRequest()
    {
        m_end = Clock::now() + kIdle;
        const bool isThere = m_at < m_size || waitFor(POLLIN, kIdle);
        m_end = Clock::now() + kRequest;
        return isThere;
    }

    bool is_readable() const { return m_at < m_size || waitFor(POLLIN, kSilence); }
    bool is_writable() const { return waitFor(POLLOUT, kSilence); }
    bool wait_readable() const { return is_readable(); }
    bool wait_writable() const { return is_writable(); }
    ssize_t read(char *bytes, size_t size) // httplib reads a head by bytes
    {
        if (m_at == m_size) {
            if (!waitFor(POLLIN, kSilence))
                return -1;
            const ssize_t got = ::recv(m_socket, m_buffer, sizeof m_buffer, 0);
            if (got <= 0)
                return got;
            m_at = 0;
            m_size = size_t(got);
        }
        const size_t given = std::min(size, m_size - m_at);
        std::memcpy(bytes, m_buffer + m_at, given);
        m_at += given;
        return ssize_t(given);
    }
    ssize_t write(const char *bytes, size_t size) // all of it: httplib asks once
    {
        for (size_t sent = 0; sent < size;) {
            if (!is_writable())
                return -1;
            const ssize_t more
                = ::send(m_socket, bytes + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (more < 0 && errno != EAGAIN)
                return -1;
            sent += size_t(std::max<ssize_t>(more, 0));
        }
        return ssize_t(size);
    }
    void get_remote_ip_and_port(std::string &, int &) const { } // nobody asks for these
    void get_local_ip_and_port(std::string &, int &) const { }
    socket_t socket() const { return m_socket; }
    time_t duration() const { return 0; }

private:
    bool waitFor(short what, std::chrono::milliseconds limit) const
    {
        const auto rest = std::chrono::ceil<std::chrono::milliseconds>(m_end - Clock::now());
        pollfd waiting{m_socket, what, 0};
        return rest > 0ms && ::poll(&waiting, 1, int(std::min(limit, rest).count())) == 1;
    }

    const socket_t m_socket;
    Clock::time_point m_end;
    char m_buffer[4096];
    size_t m_at = 0;
    size_t m_size = 0;
};
// NOLINTEND(modernize-use-override)

// httplib's server with connections that can be shut from outside, which it has no means for.
class BoundedServer final : public httplib::Server
{
public:
    BoundedServer()
    {
        new_task_queue = [this] { return new ConnectionThreads(m_connections); }; // it deletes it
    }

private:
    bool process_and_close_socket(socket_t socket) override
    {
        m_connections.begin(socket);
        TimedStream stream(socket);
        bool isOver = false;
        for (int left = kRequests; left > 0 && !isOver && stream.waitForRequest(); --left) {
            m_connections.renew(socket);
            if (!answerOne(*this, stream, left == 1, isOver))
                break;
        }
        m_connections.end(socket);
        ::shutdown(socket, SHUT_RDWR);
        ::close(socket);
        return true;
    }

    template <class Self> // so that only one of the two is compiled
    static bool answerOne(Self &server, TimedStream &stream, bool isLast, bool &isOver)
    {
        if constexpr (requires { server.process_request(stream, isLast, isOver, nullptr); })
            return server.process_request(stream, isLast, isOver, nullptr); // 0.11
        else
            return server.process_request(stream, {}, 0, {}, 0, isLast, isOver, nullptr); // 0.18
    }

    Connections m_connections{kThreads};
};

// httplib's default is SO_REUSEPORT, with which a second host would take half of the scrapes.
void setSocketOptions(socket_t socket)
{
    const int on = 1;
    const int off = 0;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off); // no effect on IPv4
}

WebRequest requestFrom(const httplib::Request &request)
{
    const auto values = [&request](const char *name) {
        QStringList all;
        const auto range = request.params.equal_range(name);
        for (auto i = range.first; i != range.second; ++i)
            all << QString::fromStdString(i->second);
        return all;
    };
    return {QString::fromStdString(request.path), values,
        [&request](const char *name) { return request.has_param(name); }};
}

std::string patternFor(const QByteArray &path)
{
    std::string pattern;
    for (const char c : path) {
        if (std::strchr("\\^$.|?*+()[]{}", c))
            pattern += '\\';
        pattern += c;
    }
    return path.endsWith('/') ? pattern + ".*" : pattern;
}

void refuseMethod(const httplib::Request &, httplib::Response &response)
{
    response.status = 405;
    response.set_header("Allow", "GET, HEAD");
    response.set_content("405 method not allowed\n", "text/plain; charset=utf-8");
}

} // namespace

class WebServer::Private
{
public:
    // True when the socket is bound and listens.
    bool bind(const std::string &host, quint16 wanted)
    {
        errno = 0;
        if (wanted != 0) {
            port = server.bind_to_port(host, wanted) ? wanted : 0;
        } else {
            const int given = server.bind_to_any_port(host);
            port = given > 0 ? quint16(given) : 0;
        }
        fault = errno;
        return port != 0;
    }

    BoundedServer server;
    std::thread thread;
    quint16 port = 0;
    int fault = 0;
};

WebServer::WebServer() : d(std::make_unique<Private>())
{
    d->server.set_socket_options(setSocketOptions);
    d->server.set_payload_max_length(64 * 1024);
    // With a body, which is read before: it would else be taken for the next request.
    d->server.Post(".*", refuseMethod);
    d->server.Put(".*", refuseMethod);
    d->server.Patch(".*", refuseMethod);
    d->server.Delete(".*", refuseMethod);
    d->server.Options(".*", refuseMethod);
    // httplib would wait for the end of a body that no header announces.
    d->server.set_pre_routing_handler(
        [](const httplib::Request &request, httplib::Response &response) {
            if (request.method == "GET" || request.method == "HEAD"
                || request.has_header("Content-Length") || request.has_header("Transfer-Encoding"))
                return httplib::Server::HandlerResponse::Unhandled;
            refuseMethod(request, response);
            return httplib::Server::HandlerResponse::Handled;
        });
}

WebServer::~WebServer()
{
    stop();
}

void WebServer::route(const QByteArray &path, Handler handler)
{
    d->server.Get(patternFor(path),
        [handler = std::move(handler)](
            const httplib::Request &request, httplib::Response &response) {
            const WebReply reply = handler(requestFrom(request));
            response.status = reply.httpStatus;
            response.set_header("X-Content-Type-Options", "nosniff");
            response.set_content(
                reply.body.constData(), size_t(reply.body.size()), reply.contentType.toStdString());
        });
}

Status WebServer::start(const ListenAddress &address, const QString &flag)
{
    const std::string host = address.host.toStdString();
    const bool isBound = host.empty() ? d->bind("::", address.port)
            || (d->fault != EADDRINUSE && d->fault != EACCES && d->bind("0.0.0.0", address.port))
                                      : d->bind(host, address.port);
    if (!isBound) {
        QString fault = QStringLiteral("the host's name or address is not one of this machine");
        if (d->fault == EADDRINUSE)
            fault = QStringLiteral("another process listens there");
        else if (d->fault != 0 && d->fault != EADDRNOTAVAIL)
            fault = QString::fromLocal8Bit(std::strerror(d->fault));
        return Status(ErrorCode::InvalidConfiguration,
            QStringLiteral(
                "cannot listen on %1: %2; choose another with %3, or turn it off with %3 "
                "0")
                .arg(toString(address), fault, flag));
    }
    try {
        d->thread = std::thread([this] { d->server.listen_after_bind(); });
    } catch (const std::system_error &e) {
        return Status(ErrorCode::InvalidConfiguration,
            QStringLiteral(
                "cannot listen on %1: no thread can be had for it (%2); raise the limits "
                "of this process, or turn it off with %3 0")
                .arg(toString(address), QString::fromLocal8Bit(e.what()), flag));
    }
    return Status::ok();
}

quint16 WebServer::port() const noexcept
{
    return d->port;
}

void WebServer::stop()
{
    if (!d->thread.joinable())
        return;
    // stop() before listen_after_bind() has begun would be lost.
    while (!d->server.is_running())
        std::this_thread::yield();
    d->server.stop();
    d->thread.join();
}

} // namespace davit::web
