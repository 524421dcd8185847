// The watching half of the reflector against a scripted source: how a watch is opened and ends,
// what each event does. Rows carry the ids of BEHAVIOURS.md.
#include "reflectorbench.h"

#include <QtCore/qfile.h>
#include <atomic>
#include <set>
#include <thread>

using namespace fakes;
using namespace davit::cache;
using Bench = ReflectorBench;
using Script = ReflectorScript;

namespace {

void t8_openRefused(Bench &bench)
{
    bench.options.random = [] { return 0.999; };
    bench.start();
    bench.source.answerList({}, QStringLiteral("10"));
    bench.run();
    for (const auto &[least, most] :
        {std::pair(800ms, 1600ms), {1600ms, 3200ms}, {3200ms, 6400ms}}) {
        const std::size_t before = bench.source.calls.size();
        bench.source.end(error(ErrorCode::ConnectionRefused));
        bench.advance(least);
        QCOMPARE(bench.reflector->state().lastError.code(), ErrorCode::ConnectionRefused);
        QCOMPARE(bench.source.calls.size(), before); // jitter of nearly 1 doubles it
        bench.advance(most - least);
        QCOMPARE(bench.source.calls.size(), before + 1);
    }
    QCOMPARE(bench.source.count(QStringLiteral("LIST")), 1);
    QCOMPARE(bench.source.count(QStringLiteral("WATCH")), 4);
    QVERIFY(bench.roundErrors.isEmpty());
    bench.source.open();
    QVERIFY(!bench.reflector->state().lastError.isError());
    QCOMPARE(bench.lines.seen,
        L({"2|cache|a resource cannot be followed, it is tried again"
           "|resource=demo.example/v1 Widget|error=scripted error",
            "3|cache|a resource is followed again|resource=demo.example/v1 Widget"}));
}

void t13_bookmark(Bench &bench)
{
    bench.startWatching({"a@1"}, QStringLiteral("10"));
    bench.source.send({bookmark(QStringLiteral("30"))});
    QCOMPARE(bench.store.told, L({"R 1 @10", "B 30"}));
    QCOMPARE(bench.version(), QStringLiteral("30"));
    bench.advance(2s);
    bench.source.end();
    bench.run();
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("WATCH rv=30"));
}

void t14_otherKind(Bench &bench)
{
    bench.startWatching({}, QStringLiteral("10"));
    const Object stranger = fromJson(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","resourceVersion":"15"}})");
    bench.source.send({happened(Type::Added, stranger)});
    QCOMPARE(bench.version(), QStringLiteral("10"));
    QCOMPARE(bench.reflector->state().skippedEvents, 1u);
    QCOMPARE(bench.reflector->state().events, 0u);
    bench.source.send({happened(Type::Added, widget(u"a@16"))});
    QCOMPARE(bench.store.told, L({"R 0 @10", "A a@16"}));
    QCOMPARE(bench.version(), QStringLiteral("16"));
}

void t15_refusedByTheStore(Bench &bench)
{
    bench.store.refused = QStringLiteral("b");
    bench.startWatching({}, QStringLiteral("10"));
    bench.source.send({happened(Type::Modified, widget(u"b@16"))});
    QCOMPARE(bench.store.told, L({"R 0 @10"}));
    QCOMPARE(bench.version(), QStringLiteral("16")); // lost until the next relist: R-32
}

// The queue that informers use, with a transformer that fails on b.
void t15_transformerFails(Bench &bench)
{
    RealFifoOptions queue;
    queue.transform = [](Object *object) {
        return object->name() == u"b" ? Status(ErrorCode::InvalidArgument, u"no b here"_s)
                                      : Status::ok();
    };
    RealFifo fifo(queue);
    Reflector reflector(bench.source, fifo, bench.executor, bench.clock, bench.options);
    reflector.start();
    bench.run();
    bench.source.answerList({}, u"10"_s);
    bench.run();
    bench.source.openAndSend({happened(Type::Modified, widget(u"b@16"))});
    QCOMPARE(fifo.depth(), 1); // the empty list alone
    QCOMPARE(reflector.lastSyncResourceVersion(), u"16"_s);
    QCOMPARE(bench.lines.seen.size(), 1);
    QVERIFY(bench.lines.seen.first().contains(u"no b here"));
}

// A watch that nobody is told of until its first event: the object is what came, not the type.
void eventsByType(Bench &bench)
{
    bench.startWatching({"a@1", "b@2"}, u"10"_s);
    bench.source.send({happened(Type::Added, widget(u"c@11")),
        happened(Type::Modified, widget(u"a@12")), happened(Type::Deleted, widget(u"b@13"))});
    QCOMPARE(bench.store.told, L({"R 2 @10", "A c@11", "U a@12", "D b@13"}));
    QCOMPARE(bench.version(), u"13"_s);
    QCOMPARE(bench.reflector->state().events, 3u);
}

void r27_options(Bench &bench)
{
    bench.startWatching({}, u"10"_s);
    const transport::ListOptions &asked = bench.source.last().options;
    QCOMPARE(asked.resourceVersion, u"10"_s);
    QVERIFY(asked.isWatch && asked.allowWatchBookmarks && asked.timeoutSeconds);
    QVERIFY(asked.resourceVersionMatch.isEmpty() && !asked.sendInitialEvents);
    QCOMPARE(asked.limit, 0);
}

void t24_notQuiteAMarker(Bench &bench)
{
    bench.options.initialSync = InitialSync::WatchList;
    bench.start();
    codec::WatchDecoder decoder({});
    const auto line = [](const char *value) {
        return QByteArray(R"({"type":"BOOKMARK","object":{"apiVersion":"demo.example/v1",)"
                          R"("kind":"Widget","metadata":{"resourceVersion":"5","annotations":)"
                          R"({"k8s.io/initial-events-end":")")
            + value + "\"}}}}\n";
    };
    bench.source.openAndSend(decoder.feed(line("True") + line("TRUE") + line("")));
    QVERIFY(bench.store.told.isEmpty());
    bench.source.send(decoder.feed(line("true")));
    QCOMPARE(bench.store.told, L({"R 0 @5"}));
}

// R-34: any thread may ask while the strand writes.
void r34_versionFromAnyThread(Bench &bench)
{
    bench.startWatching({}, u"10"_s);
    std::atomic<bool> isOver = false;
    std::atomic<int> wrong = 0;
    std::thread reader([&] {
        qulonglong last = 0;
        while (!isOver) {
            const qulonglong now = bench.reflector->lastSyncResourceVersion().toULongLong();
            wrong += now < last;
            last = now;
        }
    });
    for (int v = 11; v < 2000; ++v)
        bench.source.send({happened(Type::Modified, widget(u"a@"_s + QString::number(v)))});
    isOver = true;
    reader.join();
    QCOMPARE(wrong.load(), 0);
    QCOMPARE(bench.version(), u"1999"_s);
}

void t25_watchTimeouts(Bench &bench)
{
    bench.options.random = {};
    bench.startWatching({}, QStringLiteral("10"));
    std::set<int> seen;
    for (int i = 0; i < 100; ++i) {
        const int seconds = bench.source.last().options.timeoutSeconds.value_or(0);
        QVERIFY2(seconds >= 300 && seconds <= 599, qPrintable(QString::number(seconds)));
        seen.insert(seconds);
        bench.source.open();
        bench.advance(2s);
        bench.source.end();
        bench.run();
    }
    QVERIFY(seen.size() > 1u);
}

void b12_otherErrorEvents(Bench &bench)
{
    bench.startWatching({}, QStringLiteral("10"));
    bench.source.send(
        {happened(Type::Added, widget(u"a@101")), errorEvent(ErrorCode::InternalError)});
    bench.run();
    QCOMPARE(bench.source.calls.size(), 2u); // it backs off
    bench.advance(800ms);
    QCOMPARE(bench.source.requests(), L({"LIST rv=0 limit=500", "WATCH rv=10", "WATCH rv=101"}));
    QCOMPARE(bench.store.told, L({"R 0 @10", "A a@101"}));
}

void b12_endlessErrorEvents(Bench &bench)
{
    bench.startWatching({}, QStringLiteral("10"));
    for (int i = 0; i <= Reflector::kMaxFruitless; ++i) {
        QCOMPARE(bench.source.count(QStringLiteral("LIST")), 1);
        bench.source.openAndSend({errorEvent(ErrorCode::InternalError)});
        bench.run();
        bench.advance(40s);
    }
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("LIST rv=10"));
}

// The first fill has one clock, whatever attempts it takes: people wait for its end.
void firstFillHasOneClock(Bench &bench)
{
    const auto elapsed = [&bench] { return bench.reflector->state().progress.elapsed; };
    bench.start();
    for (int i = 0; i < 4; ++i) { // refused
        bench.advance(2s);
        bench.source.failList(error(ErrorCode::Forbidden));
        bench.run();
        const std::chrono::nanoseconds before = elapsed();
        bench.advance(100ms);
        QCOMPARE(elapsed(), before + 100ms); // in the pause, too
        bench.advance(*bench.clock.untilNextTimer());
        QVERIFY(elapsed() >= 2s * (i + 1));
    }
    const std::chrono::nanoseconds before = elapsed();
    bench.source.last().list->onListItems(widgets({"a"}), 500); // cut
    bench.source.failList(error(ErrorCode::ConnectionLost));
    bench.run();
    bench.advance(*bench.clock.untilNextTimer());
    QVERIFY(elapsed() > before);
    const std::chrono::nanoseconds all = elapsed();
    bench.source.answerList(widgets({"a"}), u"10"_s);
    bench.run();
    QCOMPARE(bench.reflector->state().lastFill.elapsed, all);
    bench.source.open();
    bench.source.send({errorEvent(ErrorCode::Expired)}); // what is filled anew has a clock anew
    bench.advance(*bench.clock.untilNextTimer());
    bench.advance(2s);
    bench.source.failList(error(ErrorCode::ServiceUnavailable));
    bench.run();
    bench.advance(*bench.clock.untilNextTimer());
    bench.advance(1s);
    QCOMPARE(elapsed(), std::chrono::nanoseconds(1s));
}

// The same for a streaming list that is cut before its end, again and again.
void firstStreamHasOneClock(Bench &bench)
{
    bench.options.initialSync = InitialSync::Auto;
    bench.start();
    for (int i = 1; i <= 3; ++i) {
        bench.source.openAndSend({happened(Type::Added, widget(u"a@1"))});
        bench.advance(2s);
        bench.source.end(error(ErrorCode::ConnectionLost));
        bench.run();
        QCOMPARE(bench.reflector->state().progress.elapsed, std::chrono::nanoseconds(2s * i));
    }
}

void b17_bookmarks(Bench &bench)
{
    bench.startWatching({}, QStringLiteral("10"));
    codec::WatchDecoder decoder({});
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B17-bookmarks.ndjson"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    bench.source.send(decoder.feed(file.readAll()));
    QCOMPARE(bench.store.told, L({"R 0 @10", "B 12746", "B 12750", "B 12760"}));
    QCOMPARE(bench.version(), QStringLiteral("12760"));
    bench.advance(200ms);
    bench.source.end(); // bookmarks are signs of life: not a very short watch
    bench.run();
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("WATCH rv=12760"));
}

} // namespace

class tst_ReflectorWatch : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void b14_listOrigin_data();
    void b14_listOrigin();
    void b14_restoredBehindAWatch_data();
    void b14_restoredBehindAWatch();
    void b14_versionNotTold();
    void fillTooLarge_data();
    void fillTooLarge();
    void requests_data();
    void requests();
    void stories_data();
    void stories();
    void r9_name_data();
    void r9_name();
    void t16_internalErrorWindow_data();
    void t16_internalErrorWindow();
};

// NOLINTNEXTLINE(readability-function-size): a table
void tst_ReflectorWatch::requests_data()
{
    addRequestColumns();
    constexpr auto row = addRequestRow;

    row(
        "T9: 429 events reopen the watch, no relist", false,
        [](Bench &b) {
            b.source.answerList({}, QStringLiteral("10"));
            b.run();
            for (int i = 0; i < 4; ++i) {
                b.source.openAndSend({errorEvent(ErrorCode::TooManyRequests)});
                b.advance(40s);
            }
        },
        L({"LIST rv=0 limit=500", "WATCH rv=10", "WATCH rv=10", "WATCH rv=10", "WATCH rv=10",
            "WATCH rv=10"}),
        0);
    row(
        "T10: expired event: relist from the last version, the handler is not called", false,
        [](Bench &b) {
            b.source.answerList({}, QStringLiteral("10"));
            b.run();
            b.source.openAndSend(
                {happened(Type::Added, widget(u"a@11")), errorEvent(ErrorCode::Expired)});
            b.advance(800ms);
        },
        L({"LIST rv=0 limit=500", "WATCH rv=10", "LIST rv=11"}), 0);
    row(
        "T11: a very short watch without events relists", false,
        [](Bench &b) {
            b.source.answerList({}, QStringLiteral("10"));
            b.run();
            b.source.open();
            b.advance(200ms);
            b.source.end();
            b.advance(799ms);
            QCOMPARE(b.source.calls.size(), 2u);
            b.advance(1ms);
        },
        L({"LIST rv=0 limit=500", "WATCH rv=10", "LIST rv=10"}), 0);
    row(
        "T12: a short watch with an event goes on at once", false,
        [](Bench &b) {
            b.source.answerList({}, QStringLiteral("10"));
            b.run();
            b.source.open();
            b.advance(200ms);
            b.source.send({happened(Type::Added, widget(u"a@12"))});
            b.source.end();
            b.run();
        },
        L({"LIST rv=0 limit=500", "WATCH rv=10", "WATCH rv=12"}), 0);
    row(
        "R-29: a watch of more than a second goes on after a reset", false,
        [](Bench &b) {
            b.source.answerList({}, QStringLiteral("10"));
            b.run();
            b.source.open();
            b.advance(1500ms);
            b.source.end(error(ErrorCode::ConnectionLost));
            b.run();
        },
        L({"LIST rv=0 limit=500", "WATCH rv=10", "WATCH rv=10"}), 0);
    row(
        "B11: silence ends the connection, not the place in the stream", false,
        [](Bench &b) {
            b.source.answerList({}, QStringLiteral("10"));
            b.run();
            b.source.open();
            b.advance(90s);
            b.source.end(error(ErrorCode::Timeout));
            b.run();
        },
        L({"LIST rv=0 limit=500", "WATCH rv=10", "WATCH rv=10"}), 0);
    row(
        "R-28: a watch that cannot be opened ends the round with its error", false,
        [](Bench &b) {
            b.source.answerList({}, QStringLiteral("10"));
            b.run();
            b.source.end(error(ErrorCode::Forbidden));
            b.advance(800ms);
        },
        L({"LIST rv=0 limit=500", "WATCH rv=10", "LIST rv=10"}), 1);
    row(
        "R-33: a watch from 0 does not move the version before its first real event", false,
        [](Bench &b) {
            b.source.answerList({}, QStringLiteral("0"));
            b.run();
            b.source.openAndSend({happened(Type::Added, widget(u"a@9"))});
            QCOMPARE(b.version(), QStringLiteral("0"));
            b.source.send({happened(Type::Modified, widget(u"a@11"))});
            QCOMPARE(b.version(), QStringLiteral("11"));
        },
        L({"LIST rv=0 limit=500", "WATCH rv=0"}), 0);
}

void tst_ReflectorWatch::requests()
{
    playRequestRow();
}

void tst_ReflectorWatch::stories_data()
{
    QTest::addColumn<Script>("story");
    QTest::newRow("T8: the connection is refused") << Script(t8_openRefused);
    QTest::newRow("T13: bookmark") << Script(t13_bookmark);
    QTest::newRow("T14: an object of another kind") << Script(t14_otherKind);
    QTest::newRow("T15: the store refuses an event") << Script(t15_refusedByTheStore);
    QTest::newRow("T15: the transformer of the queue fails") << Script(t15_transformerFails);
    QTest::newRow("R-32: added, modified, deleted") << Script(eventsByType);
    QTest::newRow("R-27: what a watch asks for") << Script(r27_options);
    QTest::newRow("T24: 'True' is no end marker") << Script(t24_notQuiteAMarker);
    QTest::newRow("R-34: the version, from any thread") << Script(r34_versionFromAnyThread);
    QTest::newRow("T25: timeouts of watches") << Script(t25_watchTimeouts);
    QTest::newRow("B12: other error events") << Script(b12_otherErrorEvents);
    QTest::newRow("B12: endless error events") << Script(b12_endlessErrorEvents);
    QTest::newRow("B17: bookmarks are no objects") << Script(b17_bookmarks);
    QTest::newRow("the first fill has one clock") << Script(firstFillHasOneClock);
    QTest::newRow("so has the first stream") << Script(firstStreamHasOneClock);
}

void tst_ReflectorWatch::stories()
{
    QFETCH(const Script, story);
    Bench bench;
    story(bench);
}

void tst_ReflectorWatch::r9_name_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("hasKind");
    QTest::addColumn<QString>("resource");
    QTest::newRow("R-9: the name that was given") << "Widget in n" << true << "Widget in n";
    QTest::newRow("R-9: else the kind") << "" << true << "demo.example/v1 Widget";
    QTest::newRow("R-9: else unspecified") << "" << false << "<unspecified>";
}

void tst_ReflectorWatch::r9_name()
{
    QFETCH(const QString, name);
    QFETCH(const bool, hasKind);
    QFETCH(const QString, resource);
    Bench bench;
    bench.options.name = name;
    bench.options.expectedGvk = hasKind ? kWidget : Gvk();
    bench.start();
    bench.source.answerList({}, QStringLiteral("10"));
    bench.run();
    bench.source.end(error(ErrorCode::Forbidden));
    QCOMPARE(bench.lines.seen,
        QStringList(QStringLiteral("2|cache|a resource cannot be followed, it is tried again"
                                   "|resource=%1|error=scripted error")
                        .arg(resource)));
}

void tst_ReflectorWatch::t16_internalErrorWindow_data()
{
    QTest::addColumn<bool>("hasGap");
    QTest::addColumn<int>("retries"); // at once
    QTest::newRow("T16: 31 in a window of 30 s") << false << 31;
    QTest::newRow("T16: 40 with a minute's gap at the 10th request") << true << 40;
}

void tst_ReflectorWatch::t16_internalErrorWindow()
{
    QFETCH(const bool, hasGap);
    QFETCH(const int, retries);
    Bench bench;
    bench.options.internalErrorWindow = 30s;
    bench.startWatching({}, QStringLiteral("10"));
    int requests = 1;
    for (;; ++requests) {
        bench.advance(hasGap && requests == 10 ? 60s : 1s);
        bench.source.openAndSend({errorEvent(ErrorCode::InternalError)});
        bench.run();
        if (bench.source.count(QStringLiteral("WATCH")) == requests)
            break; // it waits
        QVERIFY(requests < 100);
    }
    QCOMPARE(requests - 1, retries);
}

void tst_ReflectorWatch::b14_listOrigin_data()
{
    QTest::addColumn<QString>("listed"); // the version of the second list, asked for at 5000
    QTest::addColumn<bool>("isConsistent");
    QTest::newRow("not older, as promised") << "5000" << true;
    QTest::newRow("older than promised") << "4999" << false;
}

void tst_ReflectorWatch::b14_listOrigin()
{
    QFETCH(const QString, listed);
    Bench bench;
    bench.startWatching({"apps/a@4990"}, QStringLiteral("5000"));
    QCOMPARE(bench.store.origin, ListOrigin::Ordinary); // asked for any version
    bench.source.send({errorEvent(ErrorCode::Expired)});
    bench.advance(800ms);
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("LIST rv=5000"));
    bench.source.answerList(widgets({"apps/a@20"}), listed);
    QTEST(bench.store.origin == ListOrigin::Consistent, "isConsistent");
}

// A restored server opens a watch at a version that it has not reached, and is silent.
void tst_ReflectorWatch::b14_restoredBehindAWatch_data()
{
    QTest::addColumn<QString>("newest");
    QTest::addColumn<QStringList>("requests"); // behind the first list and watch
    QTest::newRow("ahead") << "5001" << L({"WATCH rv=5000", "VERSION"});
    QTest::newRow("the same") << "5000" << L({"WATCH rv=5000", "VERSION"});
    QTest::newRow("behind") << "4999" << L({"WATCH rv=5000", "VERSION", "LIST rv= limit=500"});
    QTest::newRow("not comparable") << "x1" << L({"WATCH rv=5000", "VERSION"});
}

void tst_ReflectorWatch::b14_restoredBehindAWatch()
{
    QFETCH(const QString, newest);
    Bench bench;
    bench.source.tellsVersion = true;
    bench.startWatching({"apps/a@4990"}, QStringLiteral("5000"));
    bench.advance(1500ms);
    bench.source.end(error(ErrorCode::ConnectionLost));
    bench.run();
    bench.source.open();
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("VERSION"));
    bench.source.answerList({}, newest);
    bench.advance(800ms);
    QCOMPARE(bench.source.requests().sliced(2),
        *static_cast<QStringList *>(QTest::qData("requests", QMetaType::QStringList)));
    QVERIFY(bench.roundErrors.isEmpty());
}

// The question is repeated until it is answered, and ends with the round.
void tst_ReflectorWatch::b14_versionNotTold()
{
    Bench bench;
    bench.source.tellsVersion = true;
    bench.startWatching({"apps/a@4990"}, QStringLiteral("5000"));
    QCOMPARE(bench.source.count(QStringLiteral("VERSION")), 0); // nobody doubts a fresh list
    bench.advance(1500ms);
    bench.source.end();
    bench.run();
    bench.source.open();
    bench.source.failList(error(ErrorCode::ConnectionLost));
    bench.advance(4999ms);
    QCOMPARE(bench.source.count(QStringLiteral("VERSION")), 1);
    bench.advance(1ms);
    QCOMPARE(bench.source.count(QStringLiteral("VERSION")), 2);
    bench.source.answerList({}, QStringLiteral("20"));
    bench.advance(800ms);
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("LIST rv= limit=500"));
    bench.source.answerList(widgets({"apps/a@20"}), QStringLiteral("30"));
    QCOMPARE(bench.store.origin, ListOrigin::Consistent);
    bench.run();
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("WATCH rv=30"));
}

void tst_ReflectorWatch::fillTooLarge_data()
{
    QTest::addColumn<bool>("usesWatchList");
    QTest::addColumn<int>("pieces"); // of 100 bytes each, the limit is 300
    QTest::addColumn<bool>("isTaken");
    QTest::newRow("list at the limit") << false << 3 << true;
    QTest::newRow("list of one piece more") << false << 4 << false;
    QTest::newRow("streaming list at the limit") << true << 3 << true;
    QTest::newRow("streaming list of one piece more") << true << 4 << false;
}

void tst_ReflectorWatch::fillTooLarge()
{
    QFETCH(const bool, usesWatchList);
    QFETCH(const int, pieces);
    QFETCH(const bool, isTaken);
    Bench bench;
    bench.options.initialSync = usesWatchList ? InitialSync::WatchList : InitialSync::List;
    bench.options.maxFillBytes = 300;
    bench.start();
    const std::shared_ptr<ScriptedSource::Call> fill = bench.source.calls.back();
    for (int i = 1; i < pieces; ++i) {
        if (usesWatchList)
            fill->watch->onWatchEvents({happened(Type::Added, widget(u"a@1"))}, 100);
        else
            fill->list->onListItems(widgets({"a@1"}), 100);
    }
    if (usesWatchList) {
        fill->watch->onWatchEvents({bookmark(QStringLiteral("9"), true)}, 100);
    } else {
        fill->list->onListItems({}, 100);
        fill->list->onListFinished({}, {QStringLiteral("9"), {}, 0});
    }
    bench.run();
    QCOMPARE(bench.store.told.isEmpty(), !isTaken);
    QCOMPARE(bench.roundErrors.size(), isTaken ? 0 : 1);
    if (isTaken)
        return;
    QCOMPARE(bench.roundErrors.first().message(),
        QStringLiteral("list demo.example/v1 Widget: it is larger than the limit of 300 bytes, "
                       "watch a namespace or a selector of it"));
    bench.advance(800ms); // and the next round is a fresh one
    QCOMPARE(bench.source.calls.size(), 2u);
}

QTEST_GUILESS_MAIN(tst_ReflectorWatch)
#include "tst_reflectorwatch.moc"
