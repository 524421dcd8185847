// The endpoints over a real loopback socket.
#include "observability/metricsregistry.h"
#include "observability/probechecks.h"
#include "web/endpoints.h"
#include "web/webserver.h"

#include <QDir>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTest>
#include <atomic>
#include <future>
#include <thread>

using namespace davit;
using namespace davit::observability;
using namespace davit::web;

namespace {

// A request that never ends; the server gives such up after its time limit.
class HalfOpen
{
public:
    bool open(quint16 port)
    {
        m_socket.connectToHost(QStringLiteral("127.0.0.1"), port);
        return m_socket.waitForConnected(5000)
            && m_socket.write("GET /healthz HTTP/1.1\r\nHost:") > 0
            && m_socket.waitForBytesWritten(5000);
    }
    // One byte more, so many milliseconds later. False when the server has ended it.
    bool drip(int milliseconds)
    {
        if (m_socket.waitForReadyRead(milliseconds)
            || m_socket.state() != QAbstractSocket::ConnectedState)
            return false;
        return m_socket.write("x") == 1 && m_socket.waitForBytesWritten(5000);
    }
    bool isOpen()
    {
        m_socket.waitForReadyRead(0); // sees an end that has come
        return m_socket.state() == QAbstractSocket::ConnectedState
            && m_socket.bytesAvailable() == 0;
    }

private:
    QTcpSocket m_socket;
};

} // namespace

class tst_Probes : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void answers_data();
    void answers();
    void threadsOnDemand();
    void halfOpenConnections();
    void largeAnswer();
    void slowClients();
    void stopsUnderSlowClients();
    void postWithoutBody();
    void postWithBody();
    void addressInUse();
    void hostThatIsNotOurs();
    void offPort();

private:
    // The whole answer as it came.
    static QByteArray get(quint16 port, const QByteArray &target, const QByteArray &method = "GET");

    MetricsRegistry m_registry;
    ProbeChecks m_healthz{QStringLiteral("healthz")};
    ProbeChecks m_readyz{QStringLiteral("readyz")};
    WebServer m_server;
};

QByteArray tst_Probes::get(quint16 port, const QByteArray &target, const QByteArray &method)
{
    QTcpSocket socket;
    socket.connectToHost(QStringLiteral("127.0.0.1"), port);
    if (!socket.waitForConnected(5000))
        return {};
    socket.write(method + ' ' + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    QByteArray answer;
    while (socket.waitForReadyRead(30000))
        answer += socket.readAll();
    return answer + socket.readAll();
}

void tst_Probes::initTestCase()
{
    QVERIFY(m_healthz.add(QStringLiteral("a"), [] { return true; }).isOk());
    QVERIFY(m_healthz.add(QStringLiteral("b"), [] { return false; }).isOk());
    m_readyz.setNotes([] { return QByteArray("    sync v1 Pod: 3 objects\n"); });
    m_healthz.freeze();
    m_readyz.freeze();
    m_registry.counter(QStringLiteral("n_total"), QStringLiteral("N")).increment();
    addProbes(m_server, m_healthz, m_readyz);
    addMetrics(m_server, m_registry);
    const Status status = m_server.start(
        parseListenAddress(QStringLiteral("127.0.0.1:0")).value(), QStringLiteral("--x"));
    QVERIFY2(status.isOk(), qPrintable(status.error().message()));
}

void tst_Probes::answers_data()
{
    QTest::addColumn<QByteArray>("target");
    QTest::addColumn<int>("httpStatus");
    QTest::addColumn<QByteArray>("body");
    const QByteArray list = "[+]a ok\n[-]b failed: reason withheld\nhealthz check failed\n";
    QTest::newRow("T108 /healthz") << QByteArray("/healthz") << 500 << list;
    QTest::newRow("T108 ?exclude=b") << QByteArray("/healthz?exclude=b") << 200 << QByteArray("ok");
    QTest::newRow("M-18 repeated exclude, verbose")
        << QByteArray("/healthz?exclude=b&exclude=a&verbose") << 200
        << QByteArray("[+]a excluded: ok\n[+]b excluded: ok\nhealthz check passed\n");
    QTest::newRow("T108 /healthz/a") << QByteArray("/healthz/a") << 200 << QByteArray("ok");
    QTest::newRow("T108 /healthz/z")
        << QByteArray("/healthz/z") << 404 << QByteArray("404 page not found\n");
    QTest::newRow("M-18 /healthz/") << QByteArray("/healthz/") << 500 << list;
    QTest::newRow("M-20 /readyz?verbose with notes")
        << QByteArray("/readyz?verbose=1") << 200
        << QByteArray("[+]ping ok\n    sync v1 Pod: 3 objects\nreadyz check passed\n");
    QTest::newRow("M-20 /readyz/ping") << QByteArray("/readyz/ping") << 200 << QByteArray("ok");
    QTest::newRow("M-22 /metrics") << QByteArray(
        "/metrics") << 200 << QByteArray("# HELP n_total N\n# TYPE n_total counter\nn_total 1\n");
    QTest::newRow("no such page") << QByteArray("/healthzz") << 404 << QByteArray();
}

void tst_Probes::answers()
{
    QFETCH(const QByteArray, target);
    QFETCH(const int, httpStatus);
    QFETCH(const QByteArray, body);
    const QByteArray answer = get(m_server.port(), target);
    const qsizetype end = answer.indexOf("\r\n\r\n");
    QVERIFY2(answer.startsWith("HTTP/1.1 " + QByteArray::number(httpStatus)), answer.constData());
    QCOMPARE(answer.mid(end + 4), body);
    if (!body.isEmpty()) {
        QVERIFY(answer.contains("Content-Type: text/plain;"));
        QVERIFY(answer.contains("X-Content-Type-Options: nosniff"));
    }
}

// A process that may have few threads is not asked for 64 that nobody needs.
void tst_Probes::threadsOnDemand()
{
    const auto threads = [] {
        return QDir(QStringLiteral("/proc/self/task")).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    };
    const qsizetype before = threads().size();
    WebServer server;
    QVERIFY(
        server
            .start(parseListenAddress(QStringLiteral("127.0.0.1:0")).value(), QStringLiteral("--x"))
            .isOk());
    for (int i = 0; i < 10; ++i)
        QVERIFY(get(server.port(), "/").startsWith("HTTP/1.1 404"));
    const qsizetype more
        = threads().size() - before; // one listens; a connection ends at its leisure
    QVERIFY2(more >= 2 && more <= 11, qPrintable(QString::number(more)));
}

void tst_Probes::halfOpenConnections()
{
    std::vector<HalfOpen> silent(20);
    for (HalfOpen &connection : silent)
        QVERIFY(connection.open(m_server.port()));
    QVERIFY(get(m_server.port(), "/healthz?exclude=b").startsWith("HTTP/1.1 200"));
    QVERIFY(silent.front().isOpen()); // answered before the first of them was given up
}

// Larger than what a socket takes at once.
void tst_Probes::largeAnswer()
{
    constexpr qsizetype kBytes = 8 * 1024 * 1024;
    WebServer server;
    server.route("/large", [](const WebRequest &) {
        return WebReply{200, "text/plain", QByteArray(kBytes, 'x')};
    });
    QVERIFY(
        server
            .start(parseListenAddress(QStringLiteral("127.0.0.1:0")).value(), QStringLiteral("--x"))
            .isOk());
    const QByteArray answer = get(server.port(), "/large");
    QCOMPARE(answer.size() - answer.indexOf("\r\n\r\n") - 4, kBytes);
}

// Many more than there are threads, and none of them is ever silent for long.
void tst_Probes::slowClients()
{
    std::promise<void> areOpen;
    std::atomic<bool> isOver{false};
    bool isFirstOpen = true;
    std::thread clients([&, port = m_server.port()] {
        std::vector<HalfOpen> all(200);
        for (size_t i = 0; i < all.size(); ++i) {
            all[i].open(port);
            for (size_t j = 0; j < i; ++j)
                all[j].drip(0);
        }
        areOpen.set_value();
        while (!isOver)
            for (HalfOpen &connection : all)
                connection.drip(1);
        isFirstOpen = all.front().isOpen();
    });
    areOpen.get_future().wait();
    const QByteArray answer = get(m_server.port(), "/healthz?exclude=b");
    isOver = true;
    clients.join();
    QVERIFY2(answer.startsWith("HTTP/1.1 200"), "no answer");
    QVERIFY(!isFirstOpen); // made room
}

// No read takes long, and the request never ends.
void tst_Probes::stopsUnderSlowClients()
{
    WebServer server;
    QVERIFY(
        server
            .start(parseListenAddress(QStringLiteral("127.0.0.1:0")).value(), QStringLiteral("--x"))
            .isOk());
    std::atomic<bool> isDripping{false};
    bool isGivenUp = false;
    std::jthread client([&, port = server.port()] {
        HalfOpen connection;
        isDripping = connection.open(port);
        for (int i = 0; i < 1000 && !isGivenUp; ++i)
            isGivenUp = !connection.drip(10);
    });
    QTRY_VERIFY(isDripping);
    QVERIFY(get(server.port(), "/").startsWith("HTTP/1.1 404"));
    server.stop();
    client.join();
    QVERIFY(isGivenUp);
}

void tst_Probes::postWithoutBody()
{
    HalfOpen silent;
    QVERIFY(silent.open(m_server.port()));
    QVERIFY(get(m_server.port(), "/healthz", "POST").startsWith("HTTP/1.1 405"));
    QVERIFY(silent.isOpen()); // no time limit was waited for
}

// The body is no second request.
void tst_Probes::postWithBody()
{
    QTcpSocket socket;
    socket.connectToHost(QStringLiteral("127.0.0.1"), m_server.port());
    QVERIFY(socket.waitForConnected(5000));
    const QByteArray body = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
    socket.write(
        "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: " + QByteArray::number(body.size())
        + "\r\n\r\n" + body + "GET /healthz/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    QByteArray answer;
    while (socket.waitForReadyRead(30000))
        answer += socket.readAll();
    QVERIFY2(answer.startsWith("HTTP/1.1 405"), answer.constData());
    QVERIFY(answer.contains("Allow: GET, HEAD"));
    QVERIFY(!answer.contains("n_total"));
    QVERIFY2(answer.endsWith("\r\n\r\nok"), answer.constData());
}

void tst_Probes::addressInUse()
{
    WebServer second;
    const QString address = QStringLiteral("127.0.0.1:%1").arg(m_server.port());
    const Status status = second.start(
        parseListenAddress(address).value(), QStringLiteral("--metrics-bind-address"));
    QCOMPARE(status.error().message(),
        QStringLiteral("cannot listen on %1: another process listens there; choose another with "
                       "--metrics-bind-address, or turn it off with --metrics-bind-address 0")
            .arg(address));
}

void tst_Probes::hostThatIsNotOurs()
{
    WebServer server;
    const Status status = server.start(
        parseListenAddress(QStringLiteral("192.0.2.1:8080")).value(), QStringLiteral("--f"));
    QCOMPARE(status.error().message(),
        QStringLiteral("cannot listen on 192.0.2.1:8080: the host's name or address is not one of "
                       "this machine; choose another with --f, or turn it off with --f 0"));
}

void tst_Probes::offPort()
{
    WebServer anyInterface;
    const Status status = anyInterface.start(
        parseListenAddress(QStringLiteral(":0")).value(), QStringLiteral("--f"));
    QVERIFY2(status.isOk(), qPrintable(status.error().message()));
    QVERIFY(get(anyInterface.port(), "/").startsWith("HTTP/1.1 404"));
    anyInterface.stop();
    QVERIFY(get(anyInterface.port(), "/").isEmpty());
}

QTEST_GUILESS_MAIN(tst_Probes)
#include "tst_probes.moc"
