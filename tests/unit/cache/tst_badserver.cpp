// Servers and proxies that do not do what they should, or not now: what the reflector makes of it,
// and that people are told.
#include "reflectorbench.h"

using namespace fakes;
using namespace davit::cache;
using Bench = ReflectorBench;
using Script = ReflectorScript;

namespace {

// Nobody's fault once or twice; a server that does nothing else is told of, once a minute.
void endlessExpiry(Bench &bench)
{
    bench.startWatching({}, u"10"_s);
    for (int i = 0; i <= Reflector::kMaxFruitless; ++i) {
        QVERIFY(bench.lines.seen.isEmpty());
        bench.source.send({errorEvent(ErrorCode::Expired)});
        bench.run();
        bench.advance(*bench.clock.untilNextTimer());
        bench.source.answerList({}, u"10"_s);
        bench.run();
        bench.source.open();
    }
    const QString sentence
        = u"watch demo.example/v1 Widget: the last 6 ended at once without an event (scripted "
          "error event); the collection is listed again each time, look at the API server"_s;
    QCOMPARE(bench.reflector->state().lastError.message(), sentence); // though the list worked
    QCOMPARE(bench.lines.seen,
        QStringList{u"2|cache|a resource cannot be followed, it is tried again"
                    "|resource=demo.example/v1 Widget|error="_s
            + sentence});
    bench.source.send({happened(Type::Added, widget(u"a@11"))});
    QVERIFY(!bench.reflector->state().lastError.isError());
    QCOMPARE(bench.lines.seen.mid(1),
        L({"3|cache|a resource is followed again|resource=demo.example/v1 Widget"}));
}

// The same after streaming lists, whose events are no events of the watch.
void endlessExpiryOfStreams(Bench &bench)
{
    bench.options.initialSync = InitialSync::WatchList;
    bench.start();
    for (int i = 0; i <= Reflector::kMaxFruitless; ++i) {
        bench.source.stream({"a@1"}, u"10"_s);
        bench.source.send({errorEvent(ErrorCode::Expired)});
        bench.advance(40s);
    }
    QVERIFY(bench.reflector->state().lastError.message().contains(u"the last 6 ended at once"));
}

void endlessShortWatches(Bench &bench)
{
    bench.startWatching({}, u"10"_s);
    while (bench.clock.monotonic() < 10min) {
        bench.source.end();
        bench.run();
        bench.advance(*bench.clock.untilNextTimer());
        bench.source.answerList({}, u"10"_s);
        bench.run();
        bench.source.open();
    }
    QCOMPARE(bench.lines.seen.value(0),
        u"3|cache|a watch ended after less than a second without an event"
        "|resource=demo.example/v1 Widget|error=none"_s);
    const qsizetype lines = bench.lines.seen.size(); // one at first, then one a minute at most
    QVERIFY2(lines > 5 && lines <= 11, qPrintable(QString::number(lines)));
}

// A proxy that mixes the collections up; while the cache is filled, too.
void strangersInAStreamingList(Bench &bench)
{
    bench.options.initialSync = InitialSync::WatchList;
    bench.start();
    const Object stranger = fromJson(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","resourceVersion":"15"}})");
    bench.source.openAndSend({happened(Type::Added, stranger), happened(Type::Added, stranger),
        bookmark(u"16"_s, true)});
    QCOMPARE(bench.store.told, L({"R 0 @16"}));
    bench.advance(1min);
    bench.source.send({happened(Type::Added, stranger)});
    const QString line = u"2|cache|an event of another kind is skipped"
                         "|resource=demo.example/v1 Widget|kind=v1 Pod|object=p|skippedSoFar="_s;
    QCOMPARE(bench.lines.seen, QStringList({line + u'1', line + u'3'}));
}

// It says so, does not take it for silence, and asks earlier.
void b25_toldToWaitForAnHour(Bench &bench)
{
    bench.options.initialSync = InitialSync::Auto;
    bench.start();
    bench.source.end(error(ErrorCode::ServiceUnavailable, u"watch: the server answered 503"_s)
                         .withRetryAfter(1h));
    bench.advance(4min);
    const QString sentence = u"watch: the server answered 503; it asks to wait for 3600 s"_s;
    QCOMPARE(bench.reflector->state().lastError.message(), sentence);
    QVERIFY(bench.lines.seen.value(0).endsWith(sentence));
    QCOMPARE(bench.source.requests(), L({"WATCHLIST rv="}));
    bench.advance(1min);
    QCOMPARE(bench.source.lastRequest(), u"LIST rv=0 limit=500"_s);
    bench.source.failList(error(ErrorCode::ServiceUnavailable).withRetryAfter(1h));
    bench.advance(support::kLongestAskedWait);
    QCOMPARE(bench.source.lastRequest(), u"WATCHLIST rv="_s);
    bench.source.end(error(ErrorCode::Invalid));
    bench.run();
    bench.source.last().list->onListDelayed(error(ErrorCode::TooManyRequests).withRetryAfter(9s));
    QVERIFY(bench.reflector->state().lastError.message().endsWith(u"it asks to wait for 9 s"));
}

} // namespace

class tst_BadServer : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void stories_data();
    void stories();
};

void tst_BadServer::stories_data()
{
    QTest::addColumn<Script>("story");
    QTest::newRow("R-29: each watch expires at once") << Script(endlessExpiry);
    QTest::newRow("R-29: each streaming list expires at once") << Script(endlessExpiryOfStreams);
    QTest::newRow("T11: each watch ends at once") << Script(endlessShortWatches);
    QTest::newRow("T14: an object of another kind in a streaming list")
        << Script(strangersInAStreamingList);
    QTest::newRow("B25: told to wait for an hour") << Script(b25_toldToWaitForAnHour);
}

void tst_BadServer::stories()
{
    QFETCH(const Script, story);
    Bench bench;
    story(bench);
}

QTEST_GUILESS_MAIN(tst_BadServer)
#include "tst_badserver.moc"
