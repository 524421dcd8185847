#include "apiclient.h"

#include <testing/watchscript.h>

#include <QTest>

using namespace davit::testing;
using namespace std::chrono_literals;

class tst_WatchScript : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void playsInOrder();
    void byRequest();
    void unexpected();
    void streams();
    void breaks_data();
    void breaks();
    void holds();
};

namespace {

ApiAddress addressOf(const WatchScript &script)
{
    return {script.url().toUtf8(), {}, {}, {}};
}

} // namespace

void tst_WatchScript::playsInOrder()
{
    WatchScript script;
    QVERIFY(script.start().isOk());
    script.add({{}, {WatchScript::answer(200, R"({"n":1})")}, 0ms, {}});
    script.add({{}, {WatchScript::answer(410, R"({"n":2})")}, 0ms, {}});
    QCOMPARE(apiCall(addressOf(script), "GET", "/a").json()[QLatin1String("n")].toInt(), 1);
    QCOMPARE(apiCall(addressOf(script), "POST", "/b", "body").code, 410);
    QCOMPARE(script.unplayedSteps(), 0);
    QCOMPARE(script.requests(), (QList<QByteArray>{"GET /a HTTP/1.1", "POST /b HTTP/1.1"}));
}

void tst_WatchScript::byRequest()
{
    WatchScript script;
    QVERIFY(script.start().isOk());
    script.add({"/second", {WatchScript::answer(202, {})}, 0ms, {}});
    script.add({"/first", {WatchScript::answer(201, {})}, 0ms, {}});
    QCOMPARE(apiCall(addressOf(script), "GET", "/first").code, 201);
    QCOMPARE(apiCall(addressOf(script), "GET", "/second").code, 202);
}

void tst_WatchScript::unexpected()
{
    WatchScript script;
    QVERIFY(script.start().isOk());
    QCOMPARE(apiCall(addressOf(script), "GET", "/a").code, 404);
    QCOMPARE(script.unexpectedRequests(), 1);
}

void tst_WatchScript::streams()
{
    WatchScript script;
    QVERIFY(script.start().isOk());
    const QByteArray line = "{\"type\":\"ADDED\",\"object\":{}}\n";
    script.add({{},
        {WatchScript::streamHead(), WatchScript::chunk(line.left(9)),
            WatchScript::chunk(line.mid(9)), WatchScript::lastChunk()},
        20ms, {}});
    ApiWatch watch(addressOf(script), "/w");
    QVERIFY(watch.waitForEnd());
    QCOMPARE(watch.events().size(), 1);
    QCOMPARE(watch.events().first()[QLatin1String("type")].toString(), QStringLiteral("ADDED"));
}

void tst_WatchScript::breaks_data()
{
    QTest::addColumn<int>("then");
    QTest::newRow("close") << int(WatchStep::Then::Close);
    QTest::newRow("reset") << int(WatchStep::Then::Reset);
}

void tst_WatchScript::breaks()
{
    QFETCH(const int, then);
    WatchScript script;
    QVERIFY(script.start().isOk());
    script.add(
        {{}, {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"}, 0ms, WatchStep::Then(then)});
    QCOMPARE(apiCall(addressOf(script), "GET", "/a").code, 0); // not a whole body
}

void tst_WatchScript::holds()
{
    WatchScript script;
    QVERIFY(script.start().isOk());
    script.add({{}, {WatchScript::streamHead()}, 0ms, WatchStep::Then::Hold});
    ApiWatch watch(addressOf(script), "/w");
    QVERIFY(QTest::qWaitFor([&] { return watch.code() == 200; }));
    QVERIFY(!watch.waitForEnd(300));
    script.stop();
    QVERIFY(watch.waitForEnd());
}

QTEST_GUILESS_MAIN(tst_WatchScript)
#include "tst_watchscript.moc"
