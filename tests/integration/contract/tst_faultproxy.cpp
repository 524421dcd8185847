#include "apiclient.h"

#include <testing/embeddedapiserver.h>
#include <testing/faultproxy.h>

#include <QElapsedTimer>
#include <QTest>

using namespace davit::testing;
using namespace std::chrono_literals;

class tst_FaultProxy : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();

    void passes();
    void cutAndReset();
    void stalls();
    void holdsAndReleases();
    void delays();
    void refuses();
    void breaksAfterBytes();
    void targetIsAway();

private:
    ApiAnswer get() const { return apiCall(m_address, "GET", m_maps); }
    bool add(const char *name)
    {
        return m_server
            ->put(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + QByteArray(name)
                + R"("}})")
            .isOk();
    }
    QByteArray watchTarget() const
    {
        return m_maps + "?watch=true&resourceVersion=1&timeoutSeconds=60";
    }

    const QByteArray m_maps = "/api/v1/namespaces/default/configmaps";
    std::unique_ptr<EmbeddedApiServer> m_server;
    std::unique_ptr<FaultProxy> m_proxy;
    ApiAddress m_address;
};

void tst_FaultProxy::init()
{
    m_proxy.reset();
    m_server = std::make_unique<EmbeddedApiServer>();
    QVERIFY(m_server->start().isOk());
    m_proxy = std::make_unique<FaultProxy>(QStringLiteral("127.0.0.1"), m_server->port());
    QVERIFY(m_proxy->start().isOk());
    m_address.server = "http://127.0.0.1:" + QByteArray::number(m_proxy->port());
}

void tst_FaultProxy::passes()
{
    QCOMPARE(get().code, 200);
    ApiWatch watch(m_address, watchTarget());
    QVERIFY(add("a"));
    QVERIFY(watch.waitForCount(1));
    QCOMPARE(m_proxy->acceptedConnections(), 2);
    QVERIFY(m_proxy->bytesFromServer() > 100);
    QVERIFY(m_proxy->bytesFromClient() > 50);
}

void tst_FaultProxy::cutAndReset()
{
    for (const auto how : {FaultProxy::Break::Cut, FaultProxy::Break::Reset}) {
        ApiWatch watch(m_address, watchTarget());
        QVERIFY(QTest::qWaitFor([&] { return watch.code() == 200; }));
        m_proxy->breakConnections(how);
        QVERIFY(watch.waitForEnd());
        QCOMPARE(get().code, 200); // new connections are well
    }
}

void tst_FaultProxy::stalls()
{
    ApiWatch watch(m_address, watchTarget());
    QVERIFY(QTest::qWaitFor([&] { return watch.code() == 200; }));
    m_proxy->breakConnections(FaultProxy::Break::Stall);
    QVERIFY(add("a"));
    QVERIFY(!watch.waitForCount(1, 300));
    QVERIFY(!watch.hasEnded()); // silent, not closed
}

void tst_FaultProxy::holdsAndReleases()
{
    ApiWatch watch(m_address, watchTarget());
    QVERIFY(QTest::qWaitFor([&] { return watch.code() == 200; }));
    m_proxy->setMode(FaultProxy::Mode::HoldFromServer);
    QTest::qWait(50); // until its thread looks around
    QVERIFY(add("a"));
    QVERIFY(!watch.waitForCount(1, 300));
    m_proxy->setMode(FaultProxy::Mode::Pass);
    QVERIFY(watch.waitForCount(1));
    QCOMPARE(watch.summary().last(), QStringLiteral("ADDED a"));
}

void tst_FaultProxy::delays()
{
    m_proxy->setDelay(200ms);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(get().code, 200);
    QVERIFY(timer.elapsed() >= 200);
}

void tst_FaultProxy::refuses()
{
    ApiWatch watch(m_address, watchTarget());
    QVERIFY(QTest::qWaitFor([&] { return watch.code() == 200; }));
    m_proxy->setMode(FaultProxy::Mode::Refuse);
    QCOMPARE(get().code, 0);
    QVERIFY(add("a"));
    QVERIFY(watch.waitForCount(1)); // open ones pass
    m_proxy->setMode(FaultProxy::Mode::Pass);
    QCOMPARE(get().code, 200);
}

void tst_FaultProxy::breaksAfterBytes()
{
    const qint64 before = m_proxy->bytesFromServer();
    m_proxy->breakAfter(20, FaultProxy::Break::Cut);
    QCOMPARE(get().code, 0);
    QCOMPARE(m_proxy->bytesFromServer() - before, 20);
    QCOMPARE(get().code, 200); // one connection only
    m_proxy->breakAfter(0, FaultProxy::Break::Reset, 2);
    QCOMPARE(get().code, 0);
    QCOMPARE(get().code, 0);
    QCOMPARE(get().code, 200);
}

void tst_FaultProxy::targetIsAway()
{
    m_server->stop();
    QCOMPARE(get().code, 0);
    QVERIFY(m_server->start().isOk());
    QCOMPARE(get().code, 200);
}

QTEST_GUILESS_MAIN(tst_FaultProxy)
#include "tst_faultproxy.moc"
