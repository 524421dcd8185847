#include "httpfront.h"

#include "faults.h"

#include <support/growingthreads.h>

#include <arpa/inet.h>
#include <atomic>
#include <dirent.h>
#include <sys/socket.h>
#include <thread>
#include <utility>

#include <httplib.h>

namespace davit::testing::apiserver {
namespace {

constexpr std::size_t kMaxThreads = 1024;
// A client that reuses an idle connection must not meet its end: longer than any test.
constexpr time_t kKeepAliveSeconds = 3600;

// An open watch or an idle connection keeps a thread.
class GrowingTaskQueue final : public httplib::TaskQueue
{
    // void in cpp-httplib 0.11, bool since 0.14.
    using Answer = decltype(std::declval<httplib::TaskQueue &>().enqueue(
        std::declval<std::function<void()>>()));

public:
    Answer enqueue(std::function<void()> work) override
    {
        m_threads.post(std::move(work));
        return Answer(true);
    }
    void shutdown() override { m_threads.finish(); }

private:
    support::GrowingThreads m_threads{kMaxThreads};
};

int portOf(const sockaddr_in &address)
{
    return address.sin_family == AF_INET ? ntohs(address.sin_port) : -1;
}

// Sockets of this process that were accepted on `localPort`, and came from `remotePort` unless that
// is 0. cpp-httplib does not tell its handlers which socket they serve.
std::vector<int> acceptedSockets(int localPort, int remotePort)
{
    std::vector<int> sockets;
    DIR *const folder = opendir("/proc/self/fd");
    if (!folder)
        return sockets;
    while (const dirent *const entry = readdir(folder)) {
        const int fd = std::atoi(entry->d_name);
        sockaddr_in local{};
        sockaddr_in remote{};
        socklen_t size = sizeof(local);
        if (fd <= 2 || getsockname(fd, reinterpret_cast<sockaddr *>(&local), &size) != 0
            || portOf(local) != localPort)
            continue;
        size = sizeof(remote);
        if (getpeername(fd, reinterpret_cast<sockaddr *>(&remote), &size) != 0)
            continue; // the listening one
        if (remotePort == 0 || portOf(remote) == remotePort)
            sockets.push_back(fd);
    }
    closedir(folder);
    return sockets;
}

// The thread that serves the socket sees its end and closes it.
void breakSockets(const std::vector<int> &sockets)
{
    for (const int fd : sockets) {
        const linger atOnce{1, 0}; // RST instead of FIN
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &atOnce, sizeof(atOnce));
        shutdown(fd, SHUT_RDWR);
    }
}

ApiRequest requestOf(const httplib::Request &from)
{
    ApiRequest request;
    request.method = from.method;
    request.path = from.path;
    request.query.insert(from.params.begin(), from.params.end());
    request.contentType = from.get_header_value("Content-Type");
    request.contentType = request.contentType.substr(0, request.contentType.find(';'));
    request.accept = from.get_header_value("Accept");
    request.userAgent = from.get_header_value("User-Agent");
    request.body = from.body;
    return request;
}

std::string quotedText(const std::string &text)
{
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

void setStream(httplib::Response &response, ApiReply reply)
{
    response.set_chunked_content_provider(reply.contentType.c_str(),
        [next = std::move(reply.nextChunk)](std::size_t, httplib::DataSink &sink) {
            std::string text;
            const bool goesOn = next(&text);
            if (!text.empty() && !sink.write(text.data(), text.size()))
                return false;
            if (!goesOn)
                sink.done();
            return !goesOn || sink.is_writable(); // false once the client went away
        });
}

} // namespace

struct HttpFront::Private
{
    Handler handler;
    httplib::Server server;
    std::thread listener;
    int port = 0;

    // What escapes from a handler, httplib would answer with an empty body.
    AfterAnswer handle(const httplib::Request &from, ApiReply *reply)
    {
        try {
            return handler(requestOf(from), reply);
        } catch (const std::exception &e) {
            *reply = replyOf(internalError(e.what()));
            return AfterAnswer::Keep;
        }
    }

    void answer(const httplib::Request &from, httplib::Response &response)
    {
        // httplib would compress streams and hold them back until its buffer is full; the request
        // is its own, not const.
        const_cast<httplib::Request &>(from).headers.erase("Accept-Encoding");
        ApiReply reply;
        if (handle(from, &reply) == AfterAnswer::DropUnanswered) {
            breakSockets(acceptedSockets(port, from.remote_port));
            return;
        }
        response.status = reply.code;
        response.set_header("Cache-Control", "no-cache, private");
        if (reply.retryAfterSeconds > 0)
            response.set_header("Retry-After", std::to_string(reply.retryAfterSeconds));
        for (const std::string &warning : reply.warnings)
            response.set_header("Warning", "299 - " + quotedText(warning));
        if (reply.nextChunk)
            setStream(response, std::move(reply));
        else
            response.set_content(reply.body, reply.contentType.c_str());
    }
};

HttpFront::HttpFront(Handler handler) : d(std::make_unique<Private>())
{
    d->handler = std::move(handler);
}

HttpFront::~HttpFront()
{
    stop();
}

int HttpFront::start(int port)
{
    httplib::Server &server = d->server;
    const auto handler = [this](const httplib::Request &request, httplib::Response &response) {
        d->answer(request, response);
    };
    server.Get(".*", handler);
    server.Post(".*", handler);
    server.Put(".*", handler);
    server.Patch(".*", handler);
    server.Delete(".*", handler);
    server.new_task_queue = [] { return new GrowingTaskQueue; }; // httplib deletes it
    server.set_keep_alive_max_count(1'000'000'000);
    server.set_keep_alive_timeout(kKeepAliveSeconds);
    server.set_tcp_nodelay(true);
    server.set_payload_max_length(64 * 1024 * 1024);
    // httplib's default is SO_REUSEPORT, with which two servers would share a port.
    server.set_socket_options([](int socket) {
        const int yes = 1;
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    if (port == 0)
        d->port = server.bind_to_any_port("127.0.0.1");
    else
        d->port = server.bind_to_port("127.0.0.1", port) ? port : 0;
    if (d->port <= 0)
        return 0;
    d->listener = std::thread([this] { d->server.listen_after_bind(); });
    // listen() was called by bind: connections queue up until the thread accepts them. stop() only
    // works on a running server.
    while (!server.is_running())
        std::this_thread::yield();
    return d->port;
}

void HttpFront::stop()
{
    if (!d->listener.joinable())
        return;
    std::atomic<bool> hasEnded{false};
    d->server.stop();
    // Connections that are being set up now are only seen in a later round.
    std::thread breaker([&] {
        while (!hasEnded) {
            dropConnections();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    });
    d->listener.join();
    hasEnded = true;
    breaker.join();
}

void HttpFront::dropConnections()
{
    breakSockets(acceptedSockets(d->port, 0));
}

} // namespace davit::testing::apiserver
