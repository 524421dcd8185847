// B11, the first kind: a host that vanished. Client and server stand in network namespaces of their
// own, joined by a veth pair; then the server's side drops all packets: no FIN, no RST, no ACK.
// Who is not root becomes it in a user namespace.
#include "rawserver.h"
#include "recorder.h"
#include "tlsfixture.h"

#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QTest>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>

using namespace davit;
using namespace davit::transport;
using namespace std::chrono_literals;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr char kServerAddress[] = "10.213.0.2";

bool run(const QString &command)
{
    QProcess process;
    process.setProcessChannelMode(QProcess::ForwardedChannels);
    process.startCommand(command);
    return process.waitForFinished() && process.exitCode() == 0;
}

bool write(const char *path, const QByteArray &text)
{
    QFile file(QString::fromLatin1(path));
    return file.open(QIODevice::WriteOnly) && file.write(text) == text.size() && file.flush();
}

// A network namespace for this process; with a user namespace, in which it is root, where it is not
// outside.
bool enterNamespace()
{
    if (unshare(CLONE_NEWNET) == 0)
        return true;
    const QByteArray user = QByteArray::number(getuid());
    const QByteArray group = QByteArray::number(getgid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 && write("/proc/self/setgroups", "deny")
        && write("/proc/self/uid_map", "0 " + user + " 1")
        && write("/proc/self/gid_map", "0 " + group + " 1");
}

// A thread that lives in a network namespace of its own, with `script` served on port().
class FarHost
{
public:
    FarHost(const RawServer::Script &script, std::optional<QSslConfiguration> tls)
    {
        std::promise<int> threadId;
        std::promise<quint16> port;
        std::promise<void> isJoined;
        m_thread = std::thread([&, tls = std::move(tls), stop = m_stop.get_future()]() mutable {
            if (unshare(CLONE_NEWNET) != 0)
                qFatal("no second network namespace");
            threadId.set_value(int(gettid()));
            isJoined.get_future().wait();
            RawServer server(script, std::move(tls), kServerAddress);
            port.set_value(server.port());
            stop.wait();
        });
        m_threadId = threadId.get_future().get();
        join();
        isJoined.set_value();
        m_port = port.get_future().get();
    }
    ~FarHost()
    {
        m_stop.set_value();
        m_thread.join();
    }

    quint16 port() const { return m_port; }
    void vanish() { QVERIFY(inside(QStringLiteral("ip route add blackhole 10.213.0.1/32"))); }

private:
    bool inside(const QString &command) const
    {
        return run(QStringLiteral("nsenter --net=/proc/%1/ns/net ").arg(m_threadId) + command);
    }
    // The neighbour entry is permanent: a host that vanished behind a router gives no ARP error
    // either.
    void join() const
    {
        QVERIFY(run(QStringLiteral("ip link add near address 02:00:00:00:00:01 type veth peer name "
                                   "far address 02:00:00:00:00:02 netns %1")
                        .arg(m_threadId)));
        QVERIFY(inside(QStringLiteral("ip addr add 10.213.0.2/30 dev far")));
        QVERIFY(inside(QStringLiteral("ip link set far up")));
        QVERIFY(run(QStringLiteral("ip addr add 10.213.0.1/30 dev near")));
        QVERIFY(run(QStringLiteral("ip link set near up")));
        QVERIFY(run(QStringLiteral(
            "ip neigh replace 10.213.0.2 lladdr 02:00:00:00:00:02 dev near nud permanent")));
    }

    std::promise<void> m_stop;
    std::thread m_thread;
    int m_threadId = 0;
    quint16 m_port = 0;
};

void oneEventThenSilence(RawConnection &connection)
{
    RawRequest request;
    if (!connection.read(request))
        return;
    connection.beginChunked();
    connection.chunk("{}\n"_ba);
    connection.hold();
}

} // namespace

class tst_DeadPeer : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void socketsAreTuned();
    void vanishedPeer();
};

// Each connection to the server has the short times, those of others have not.
void tst_DeadPeer::socketsAreTuned()
{
    RawServer server(oneEventThenSilence);
    const auto transport = makeQnamTransport(plainConfig(server.port()));
    Caller caller(*transport);
    std::vector<Recorder> recorders(7);
    std::vector<std::unique_ptr<Exchange>> exchanges;
    Request request;
    request.channel = Channel::Watch;
    for (Recorder &recorder : recorders)
        exchanges.push_back(caller.start(request, recorder));
    for (Recorder &recorder : recorders)
        QVERIFY(recorder.waitForBytes(3));
    int tuned = 0;
    for (int descriptor = 3; descriptor < 256; ++descriptor) {
        sockaddr_in peer = {};
        socklen_t size = sizeof peer;
        if (getpeername(descriptor, reinterpret_cast<sockaddr *>(&peer), &size) != 0
            || peer.sin_family != AF_INET) {
            continue;
        }
        int idle = 0;
        int timeout = 0;
        size = sizeof idle;
        getsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle, &size);
        getsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, &size);
        const bool isOurs = ntohs(peer.sin_port) == server.port();
        QCOMPARE(idle <= 15, isOurs);
        QCOMPARE(timeout > 0 && timeout <= 40000, isOurs);
        tuned += isOurs ? 1 : 0;
    }
    QCOMPARE(tuned, 7);
}

void tst_DeadPeer::vanishedPeer()
{
    FarHost host(oneEventThenSilence, serverTls());
    ClusterConfig config = tlsConfig(host.port(), QString::fromLatin1(kServerAddress));
    config.tlsServerName = QStringLiteral("localhost");
    const auto transport = makeQnamTransport(config);
    Caller caller(*transport);
    Request request;
    request.channel = Channel::Watch;
    request.silenceLimit = 90s; // later than what is tested
    Recorder recorder;
    const auto exchange = caller.start(request, recorder);
    QVERIFY(recorder.waitForBytes(3));
    host.vanish();
    QElapsedTimer time;
    time.start();
    QVERIFY(recorder.waitForEnd(45s));
    QCOMPARE(recorder.error().code(), ErrorCode::ConnectionLost);
    qInfo("noticed after %.1f s", double(time.elapsed()) / 1000.0);
    QVERIFY(time.elapsed() > 5000); // by the kernel's timers, not by a reset
}

int main(int argc, char **argv)
{
    // Before any thread is there: all of them share it.
    if (!enterNamespace() || !run(QStringLiteral("ip link set lo up")))
        qFatal("no network namespace: be root, or allow user namespaces "
               "(sysctl kernel.unprivileged_userns_clone=1)");
    QCoreApplication application(argc, argv);
    tst_DeadPeer test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_deadpeer.moc"
