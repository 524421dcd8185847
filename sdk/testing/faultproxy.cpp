#include "faultproxy.h"

#include "listener.h"

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <list>
#include <mutex>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace davit::testing {
namespace {

constexpr int kLookAroundMs = Listener::kLookAroundMs;
constexpr std::size_t kPieceBytes = 64 * 1024;

sockaddr_in addressOf(const QString &host, quint16 port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    inet_pton(AF_INET, host.toLatin1().constData(), &address.sin_addr);
    return address;
}

int connectTo(const sockaddr_in &address)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

void resetAndClose(int fd)
{
    Listener::resetOnClose(fd);
    close(fd);
}

} // namespace

struct FaultProxy::Private
{
    // One pair of sockets, served by one thread.
    struct Connection
    {
        std::atomic<Break> wanted{Break::Unset};
        std::atomic<bool> hasEnded{false};
        std::thread thread;
    };

    sockaddr_in target;
    Listener listener{QStringLiteral("fault proxy"), [this](int client) { accepted(client); }};
    std::atomic<Mode> mode{Mode::Pass};
    std::atomic<int> delayMs{0};
    std::atomic<int> acceptedCount{0};
    std::atomic<int> open{0};
    std::atomic<qint64> fromServer{0};
    std::atomic<qint64> fromClient{0};

    mutable std::mutex mutex;
    std::list<Connection> connections; // all GUARDED_BY(mutex)
    qint64 breakBytes = 0;
    Break breakHow = Break::Unset;
    int breakCount = 0;

    void accepted(int client);
    void serve(Connection &self, int client);
    void shuttle(Connection &self, int client, int server);
    bool passFromServer(Connection &self, int client, int server, qint64 *passed);
    Break takeByteRule(qint64 passed, qint64 size, qint64 *allowed);
    void sweep();
};

void FaultProxy::Private::accepted(int client)
{
    ++acceptedCount;
    if (mode == Mode::Refuse) {
        resetAndClose(client);
        return;
    }
    sweep();
    const std::lock_guard lock(mutex);
    Connection &connection = connections.emplace_back();
    ++open;
    connection.thread = std::thread([this, &connection, client] { serve(connection, client); });
}

// Forgets connections whose threads have ended.
void FaultProxy::Private::sweep()
{
    std::list<Connection> ended;
    {
        const std::lock_guard lock(mutex);
        for (auto at = connections.begin(); at != connections.end();) {
            const auto current = at++;
            if (current->hasEnded)
                ended.splice(ended.end(), connections, current);
        }
    }
    for (Connection &connection : ended)
        connection.thread.join();
}

void FaultProxy::Private::serve(Connection &self, int client)
{
    const int server = connectTo(target);
    if (server < 0) {
        resetAndClose(client);
    } else {
        shuttle(self, client, server);
        close(server);
        if (self.wanted == Break::Reset)
            resetAndClose(client);
        else
            close(client);
    }
    --open;
    self.hasEnded = true;
}

// How much of a piece may pass before the byte rule strikes, and what it then does.
FaultProxy::Break FaultProxy::Private::takeByteRule(qint64 passed, qint64 size, qint64 *allowed)
{
    *allowed = size;
    const std::lock_guard lock(mutex);
    if (breakCount == 0 || passed + size < breakBytes)
        return Break::Unset;
    --breakCount;
    *allowed = std::max<qint64>(0, breakBytes - passed);
    return breakHow;
}

bool FaultProxy::Private::passFromServer(Connection &self, int client, int server, qint64 *passed)
{
    char piece[kPieceBytes];
    const ssize_t size = recv(server, piece, sizeof(piece), 0);
    if (size <= 0)
        return false;
    if (const int ms = delayMs; ms > 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    qint64 allowed = 0;
    const Break rule = takeByteRule(*passed, size, &allowed);
    if (!Listener::sendAll(client, piece, std::size_t(allowed)))
        return false;
    *passed += allowed;
    fromServer += allowed;
    if (rule != Break::Unset)
        self.wanted = rule;
    return true;
}

void FaultProxy::Private::shuttle(Connection &self, int client, int server)
{
    char piece[kPieceBytes];
    qint64 passed = 0;
    while (!listener.isStopping()) {
        const Break wanted = self.wanted;
        if (wanted == Break::Cut || wanted == Break::Reset)
            return;
        const bool isStalled = wanted == Break::Stall || mode == Mode::Stall;
        if (isStalled) {
            std::this_thread::sleep_for(std::chrono::milliseconds(kLookAroundMs));
            continue;
        }
        const Mode now = mode;
        const bool isHeld = now == Mode::HoldFromServer;
        pollfd pollers[2] = {{client, POLLIN, 0}, {server, short(isHeld ? 0 : POLLIN), 0}};
        if (poll(pollers, 2, kLookAroundMs) <= 0 || mode != now || self.wanted != wanted)
            continue; // told otherwise while it waited
        if (pollers[0].revents) {
            const ssize_t size = recv(client, piece, sizeof(piece), 0);
            if (size <= 0 || !Listener::sendAll(server, piece, std::size_t(size)))
                return;
            fromClient += size;
        }
        if (!isHeld && pollers[1].revents && !passFromServer(self, client, server, &passed))
            return;
        if (isHeld && (pollers[1].revents & (POLLHUP | POLLERR)))
            std::this_thread::sleep_for(std::chrono::milliseconds(kLookAroundMs)); // no busy loop
    }
}

FaultProxy::FaultProxy(const QString &targetHost, quint16 targetPort)
    : d(std::make_unique<Private>())
{
    d->target = addressOf(targetHost, targetPort);
}

FaultProxy::~FaultProxy()
{
    stop();
}

Status FaultProxy::start()
{
    return d->listener.start();
}

void FaultProxy::stop()
{
    d->listener.stop();
    std::list<Private::Connection> last;
    {
        const std::lock_guard lock(d->mutex);
        last.swap(d->connections);
    }
    for (Private::Connection &connection : last)
        connection.thread.join();
}

quint16 FaultProxy::port() const
{
    return d->listener.port();
}

void FaultProxy::setMode(Mode mode)
{
    d->mode = mode;
}

void FaultProxy::setDelay(std::chrono::milliseconds delay)
{
    d->delayMs = int(delay.count());
}

void FaultProxy::breakConnections(Break how)
{
    const std::lock_guard lock(d->mutex);
    for (Private::Connection &connection : d->connections)
        connection.wanted = how;
}

void FaultProxy::breakAfter(qint64 bytes, Break how, int connections)
{
    const std::lock_guard lock(d->mutex);
    d->breakBytes = bytes;
    d->breakHow = how;
    d->breakCount = connections;
}

int FaultProxy::openConnections() const
{
    return d->open;
}

int FaultProxy::acceptedConnections() const
{
    return d->acceptedCount;
}

qint64 FaultProxy::bytesFromServer() const
{
    return d->fromServer;
}

qint64 FaultProxy::bytesFromClient() const
{
    return d->fromClient;
}

} // namespace davit::testing
