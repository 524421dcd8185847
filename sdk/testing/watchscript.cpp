#include "watchscript.h"

#include "listener.h"

#include <list>
#include <mutex>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace davit::testing {
namespace {

bool send(int fd, const QByteArray &bytes)
{
    return Listener::sendAll(fd, bytes.constData(), std::size_t(bytes.size()));
}

// The body's length as the head says it.
qsizetype contentLength(const QByteArray &head)
{
    for (const QByteArray &line : head.split('\n'))
        if (line.toLower().startsWith("content-length:"))
            return line.mid(15).trimmed().toLongLong();
    return 0;
}

} // namespace

struct WatchScript::Private
{
    Listener listener{QStringLiteral("watch script"), [this](int client) { accepted(client); }};
    mutable std::mutex mutex;
    std::list<std::thread> connections; // all GUARDED_BY(mutex)
    QList<WatchStep> steps;
    QList<QByteArray> requests;
    int unexpected = 0;

    void accepted(int client);
    void serve(int client);
    bool readRequest(int client, QByteArray *buffer, QByteArray *firstLine) const;
    bool takeStep(const QByteArray &firstLine, WatchStep *step);
    bool play(int client, const WatchStep &step) const;
    // False when the script stops meanwhile.
    bool sleep(std::chrono::milliseconds span) const;
};

void WatchScript::Private::accepted(int client)
{
    const std::lock_guard lock(mutex);
    connections.emplace_back([this, client] { serve(client); });
}

bool WatchScript::Private::sleep(std::chrono::milliseconds span) const
{
    const auto end = std::chrono::steady_clock::now() + span;
    while (!listener.isStopping() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return !listener.isStopping();
}

// One request with its body; what follows it stays in the buffer.
bool WatchScript::Private::readRequest(int client, QByteArray *buffer, QByteArray *firstLine) const
{
    char piece[16 * 1024];
    for (;;) {
        const qsizetype end = buffer->indexOf("\r\n\r\n");
        if (end >= 0) {
            const qsizetype size = end + 4 + contentLength(buffer->left(end));
            if (buffer->size() >= size) {
                *firstLine = buffer->left(buffer->indexOf("\r\n"));
                buffer->remove(0, size);
                return true;
            }
        }
        pollfd poller{client, POLLIN, 0};
        if (listener.isStopping())
            return false;
        if (poll(&poller, 1, Listener::kLookAroundMs) <= 0)
            continue;
        const ssize_t n = recv(client, piece, sizeof(piece), 0);
        if (n <= 0)
            return false;
        buffer->append(piece, n);
    }
}

bool WatchScript::Private::takeStep(const QByteArray &firstLine, WatchStep *step)
{
    const std::lock_guard lock(mutex);
    requests.append(firstLine);
    for (qsizetype i = 0; i < steps.size(); ++i) {
        if (!firstLine.contains(steps[i].expects))
            continue;
        *step = steps.takeAt(i);
        return true;
    }
    ++unexpected;
    return false;
}

// False when the connection ends here.
bool WatchScript::Private::play(int client, const WatchStep &step) const
{
    for (qsizetype i = 0; i < step.pieces.size(); ++i)
        if ((i > 0 && !sleep(step.pause)) || !send(client, step.pieces[i]))
            return false;
    if (step.then != WatchStep::Then::Unset && !sleep(step.pause))
        return false;
    if (step.then == WatchStep::Then::Reset)
        Listener::resetOnClose(client);
    if (step.then == WatchStep::Then::Hold)
        sleep(std::chrono::hours(1));
    return step.then == WatchStep::Then::Unset;
}

void WatchScript::Private::serve(int client)
{
    QByteArray buffer;
    QByteArray firstLine;
    bool goesOn = true;
    while (goesOn && readRequest(client, &buffer, &firstLine)) {
        WatchStep step;
        if (!takeStep(firstLine, &step))
            step.pieces = {answer(404, "{}")};
        goesOn = play(client, step);
    }
    close(client);
}

WatchScript::WatchScript() : d(std::make_unique<Private>()) { }

WatchScript::~WatchScript()
{
    stop();
}

Status WatchScript::start()
{
    return d->listener.start();
}

void WatchScript::stop()
{
    d->listener.stop();
    std::list<std::thread> last;
    {
        const std::lock_guard lock(d->mutex);
        last.swap(d->connections);
    }
    for (std::thread &connection : last)
        connection.join();
}

quint16 WatchScript::port() const
{
    return d->listener.port();
}

QString WatchScript::url() const
{
    return QStringLiteral("http://127.0.0.1:%1").arg(port());
}

void WatchScript::add(const WatchStep &step)
{
    const std::lock_guard lock(d->mutex);
    d->steps.append(step);
}

int WatchScript::unplayedSteps() const
{
    const std::lock_guard lock(d->mutex);
    return int(d->steps.size());
}

int WatchScript::unexpectedRequests() const
{
    const std::lock_guard lock(d->mutex);
    return d->unexpected;
}

QList<QByteArray> WatchScript::requests() const
{
    const std::lock_guard lock(d->mutex);
    return d->requests;
}

QByteArray WatchScript::answer(
    int httpStatus, const QByteArray &body, const QByteArray &contentType)
{
    return "HTTP/1.1 " + QByteArray::number(httpStatus)
        + " Scripted\r\nContent-Type: " + contentType
        + "\r\nContent-Length: " + QByteArray::number(body.size()) + "\r\n\r\n" + body;
}

QByteArray WatchScript::streamHead(int httpStatus)
{
    return "HTTP/1.1 " + QByteArray::number(httpStatus)
        + " Scripted\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
}

QByteArray WatchScript::chunk(const QByteArray &bytes)
{
    return QByteArray::number(bytes.size(), 16) + "\r\n" + bytes + "\r\n";
}

QByteArray WatchScript::lastChunk()
{
    return "0\r\n\r\n";
}

} // namespace davit::testing
