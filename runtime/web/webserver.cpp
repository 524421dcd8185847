// The only place that includes cpp-httplib in the host's own layers: it costs seconds to compile.
#include "webserver.h"

#include <support/growingthreads.h>

#include <cerrno>
#include <cstring>
#include <httplib.h>
#include <regex>
#include <system_error>
#include <thread>

namespace davit::web {

namespace {

// A connection holds one as long as it is open, also when it says nothing.
constexpr size_t kThreads = 64;

// httplib's own pool makes all threads at once, and ends the process when it cannot have one.
class ConnectionThreads final : public httplib::TaskQueue
{
    // void in 0.11, bool in 0.18.
    using Enqueued = decltype(std::declval<httplib::TaskQueue &>().enqueue({}));

public:
    Enqueued enqueue(std::function<void()> task) override
    {
        m_threads.post(std::move(task));
        return Enqueued(true);
    }
    void shutdown() override { m_threads.finish(); }

private:
    support::GrowingThreads m_threads{kThreads};
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

    httplib::Server server;
    std::thread thread;
    quint16 port = 0;
    int fault = 0;
};

WebServer::WebServer() : d(std::make_unique<Private>())
{
    d->server.set_socket_options(setSocketOptions);
    d->server.set_keep_alive_timeout(5);
    d->server.set_keep_alive_max_count(1000);
    d->server.set_read_timeout(5);
    d->server.set_write_timeout(10);
    d->server.set_payload_max_length(64 * 1024);
    d->server.new_task_queue = [] { return new ConnectionThreads; }; // it deletes it
    // httplib would wait for the end of a body that no header announces.
    d->server.set_pre_routing_handler(
        [](const httplib::Request &request, httplib::Response &response) {
            if (request.method == "GET" || request.method == "HEAD"
                || request.has_header("Content-Length") || request.has_header("Transfer-Encoding"))
                return httplib::Server::HandlerResponse::Unhandled;
            response.status = 405;
            response.set_header("Allow", "GET, HEAD");
            response.set_content("405 method not allowed\n", "text/plain; charset=utf-8");
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
