// The reflector's rounds against a scripted source, on a clock that the test moves: lists,
// streaming lists, waits, resync. Rows carry the ids of BEHAVIOURS.md. Watches
// are in tst_reflectorwatch.
#include "reflectorbench.h"

using namespace fakes;
using namespace davit::cache;
using Bench = ReflectorBench;
using Script = ReflectorScript;

namespace {

void t7_pages(Bench &bench)
{
    bench.options.pageSize = 4;
    bench.start();
    bench.source.answerList(
        widgets({"a", "b", "c", "d"}), QStringLiteral("7"), QStringLiteral("1"));
    bench.run();
    bench.source.answerList(
        widgets({"e", "f", "g", "h"}), QStringLiteral("9"), QStringLiteral("2"));
    bench.run();
    bench.source.answerList(widgets({"i", "j"}), QStringLiteral("9"));
    bench.run();
    QCOMPARE(bench.source.requests(),
        L({"LIST rv=0 limit=4", "LIST rv= limit=4 continue=1", "LIST rv= limit=4 continue=2",
            "WATCH rv=7"}));
    QCOMPARE(bench.store.items, L({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}));
}

void t17_customBackoff(Bench &bench)
{
    bench.options.backoff = {10ms, 2.0, 0.0, 100ms, 2min};
    bench.start();
    const auto began = bench.clock.monotonic();
    for (int round = 0; round < 5; ++round) {
        bench.source.failList(error(ErrorCode::ServiceUnavailable));
        bench.run();
        bench.advance(*bench.clock.untilNextTimer());
    }
    QCOMPARE(bench.source.count(QStringLiteral("LIST")), 6);
    QCOMPARE(bench.clock.monotonic() - began, std::chrono::nanoseconds(250ms));
}

void t18_backoffReset(Bench &bench)
{
    bench.start();
    std::vector<std::chrono::nanoseconds> firsts; // moments at which 800 ms were waited
    while (bench.clock.monotonic() < 5min) {
        bench.source.failList(error(ErrorCode::ServiceUnavailable));
        bench.run();
        const auto wait = *bench.clock.untilNextTimer();
        QVERIFY(wait >= 800ms && wait <= 30s);
        if (wait == 800ms)
            firsts.push_back(bench.clock.monotonic());
        bench.advance(wait);
    }
    QVERIFY(firsts.size() >= 3u);
    for (std::size_t i = 1; i < firsts.size(); ++i)
        QVERIFY(firsts[i] - firsts[i - 1] > 2min && firsts[i] - firsts[i - 1] < 3min);
}

void t19_streamingList(Bench &bench)
{
    bench.options.initialSync = InitialSync::Auto;
    bench.start();
    const transport::ListOptions asked = bench.source.last().options;
    QCOMPARE(asked.resourceVersionMatch, QStringLiteral("NotOlderThan"));
    QVERIFY(asked.sendInitialEvents.value() && asked.allowWatchBookmarks && asked.limit == 0);
    bench.source.stream({"a@1", "b@2"}, QStringLiteral("2"));
    bench.run();
    QCOMPARE(bench.store.told, L({"R 2 @2"}));
    bench.store.items.sort();
    QCOMPARE(bench.store.items, L({"a@1", "b@2"}));
    bench.source.send({happened(Type::Modified, widget(u"a@3"))}); // the same stream goes on
    QCOMPARE(bench.store.told.last(), QStringLiteral("U a@3"));
    QCOMPARE(bench.version(), QStringLiteral("3"));
    QCOMPARE(bench.source.calls.size(), 1u);
}

void t20_deletedBeforeTheMarker(Bench &bench)
{
    bench.options.initialSync = InitialSync::Auto;
    bench.start();
    bench.source.openAndSend(
        {happened(Type::Added, widget(u"a@1")), happened(Type::Added, widget(u"b@2")),
            happened(Type::Deleted, widget(u"a@3")), bookmark(QStringLiteral("3"), true)});
    QCOMPARE(bench.store.told, L({"R 1 @3"}));
    QCOMPARE(bench.store.items, L({"b@2"}));
}

void t23_transformTwice(Bench &bench)
{
    int calls = 0;
    bench.store.transformer = [&](Object *) {
        ++calls;
        return Status::ok();
    };
    bench.options.initialSync = InitialSync::Auto;
    bench.start();
    bench.source.stream({"a@1", "b@2"}, QStringLiteral("2"));
    QCOMPARE(calls, 4);
}

void t26_resyncNotWanted(Bench &bench)
{
    int asked = 0;
    bool wants = false;
    bench.options.resyncPeriod = 10s;
    bench.options.shouldResync = [&] {
        ++asked;
        return wants;
    };
    bench.startWatching({}, QStringLiteral("10"));
    bench.advance(30s);
    QCOMPARE(asked, 3);
    QCOMPARE(bench.store.resyncs, 0);
    wants = true;
    bench.advance(10s);
    QCOMPARE(bench.store.resyncs, 1);
}

void r44_resyncFails(Bench &bench)
{
    bench.options.resyncPeriod = 10s;
    bench.store.failsResync = true;
    bench.startWatching({}, QStringLiteral("10"));
    bench.advance(10s);
    bench.advance(800ms);
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("LIST rv=10"));
    QVERIFY(bench.roundErrors.isEmpty());
}

void b14_lagging(Bench &bench)
{
    bench.startWatching({"apps/a@4990"}, QStringLiteral("5000"));
    bench.advance(1500ms);
    bench.source.end(error(ErrorCode::ConnectionLost));
    bench.run();
    bench.source.end(error(ErrorCode::Expired)); // the next server lags
    bench.advance(800ms);
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("LIST rv=5000"));
    bench.source.failList(error(ErrorCode::Timeout,
        QStringLiteral("Timeout: Too large resource version: 5000, current: 4100"))
                              .withRetryAfter(1s));
    bench.advance(999ms);
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("LIST rv=5000")); // told to wait
    bench.advance(1ms);
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("LIST rv=")); // never 0
    bench.source.answerList(widgets({"apps/a@4990", "apps/n@5050"}), QStringLiteral("5100"));
    bench.run();
    QCOMPARE(bench.store.origin, ListOrigin::Consistent);
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("WATCH rv=5100"));
}

void b14_historyReset(Bench &bench)
{
    bench.startWatching({"apps/a@4990"}, QStringLiteral("5000"));
    bench.source.send({errorEvent(ErrorCode::Expired)});
    bench.advance(800ms);
    bench.source.failList(error(ErrorCode::ResourceVersionTooLarge));
    bench.run();
    bench.source.answerList(widgets({"apps/a@20"}), QStringLiteral("30")); // restored from a backup
    QCOMPARE(bench.store.origin, ListOrigin::Consistent);
}

void b32_spacedRetries(Bench &bench)
{
    bench.start();
    std::vector<std::chrono::nanoseconds> waits;
    for (int i = 0; i < 8; ++i) {
        bench.source.failList(
            error(ErrorCode::Forbidden, QStringLiteral("list secrets: forbidden")));
        bench.run();
        QCOMPARE(bench.reflector->state().lastError.message(),
            QStringLiteral("list secrets: forbidden"));
        QCOMPARE(bench.reflector->state().phase, ReflectorPhase::BackingOff);
        waits.push_back(*bench.clock.untilNextTimer());
        bench.advance(waits.back());
    }
    QVERIFY(waits.front() >= 800ms && waits.back() == 30s);
    bench.source.answerList({}, QStringLiteral("10")); // the rule was granted
    bench.run();
    QVERIFY(!bench.reflector->state().lastError.isError());
    QCOMPARE(bench.reflector->state().phase, ReflectorPhase::Watching);
}

void progress(Bench &bench)
{
    bench.start();
    bench.source.last().list->onListItems(widgets({"a", "b"}), 1000);
    bench.advance(2s);
    SyncProgress progress = bench.reflector->state().progress;
    QCOMPARE(progress.objects, 2);
    QCOMPARE(progress.bytes, 1000);
    QCOMPARE(progress.elapsed, std::chrono::nanoseconds(2s));
    bench.source.last().list->onListFinished({}, {QStringLiteral("10"), QStringLiteral("x"), 40});
    bench.run();
    QCOMPARE(bench.reflector->state().progress.remainingItemCount, 40);
    bench.advance(1s);
    bench.source.answerList(widgets({"c"}), QStringLiteral("10"));
    bench.advance(1h);
    progress = bench.reflector->state().progress;
    QCOMPARE(progress.objects, 3);
    QCOMPARE(progress.elapsed, std::chrono::nanoseconds(3s));
    QCOMPARE(bench.reflector->state().fills, 1u);
}

// a streaming list that hears nothing warns, once a minute, and says so at the marker.
void r40_silentStream(Bench &bench)
{
    bench.options.initialSync = InitialSync::Auto;
    bench.start();
    bench.source.open();
    bench.advance(5s);
    bench.source.send({happened(Type::Added, widget(u"a@1"))});
    bench.lines.leftOut << "receivedBytes";
    for (int i = 0; i < 9; ++i)
        bench.advance(10s);
    const QString silent
        = u"2|cache|the end of a streaming list has not come|resource=demo.example/v1 Widget"
          "|objects=1|lastEventSecondsAgo="_s;
    QCOMPARE(bench.lines.seen, QStringList({silent + u"15"_s, silent + u"75"_s}));
    bench.source.send({bookmark(u"2"_s, true)});
    bench.advance(1min);
    QCOMPARE(bench.lines.seen.mid(2),
        L({"3|cache|a resource is followed again|resource=demo.example/v1 Widget"}));
}

// one that never heard anything does not speak of a last event.
void r40_noEventEver(Bench &bench)
{
    bench.options.initialSync = InitialSync::Auto;
    bench.start();
    for (int i = 0; i < 9; ++i)
        bench.advance(10s);
    bench.source.open();
    const QString silent
        = u"2|cache|the end of a streaming list has not come|resource=demo.example/v1 Widget"
          "|objects=0|receivedBytes=0|waitingSeconds="_s;
    QCOMPARE(bench.lines.seen, QStringList({silent + u"10"_s, silent + u"70"_s}));
}

// Only a fill that is not the first: that one is shown by the host (tst_syncreporter).
void slowRefillIsTold(Bench &bench)
{
    bench.start();
    bench.source.last().list->onListItems(widgets({"a"}), 500);
    bench.advance(10s);
    QVERIFY(bench.lines.seen.isEmpty());
    bench.source.answerList(widgets({"b"}), u"10"_s);
    bench.source.open();
    bench.source.send({errorEvent(ErrorCode::Expired)});
    bench.advance(2s);
    bench.source.last().list->onListItems(widgets({"a", "b"}), 1000);
    bench.lines.leftOut << "elapsedSeconds";
    bench.advance(10s);
    QCOMPARE(bench.lines.seen,
        L({"3|cache|a cache is filled anew|resource=demo.example/v1 Widget|objects=2"
           "|receivedBytes=1000"}));
}

// fake sources and servers that are known not to have it.
void r11_declaredUnable(Bench &bench)
{
    bench.options.initialSync = InitialSync::Auto;
    bench.source.hasWatchList = false;
    bench.start();
    bench.source.failList(error(ErrorCode::ServiceUnavailable));
    bench.advance(800ms);
    QCOMPARE(bench.source.requests(), L({"LIST rv=0 limit=500", "LIST rv=0 limit=500"}));
}

// a delay follows every round, good or bad, counted from its end.
void r6_delayAfterEachRound(Bench &bench)
{
    bench.startWatching({}, u"10"_s);
    bench.advance(1h);
    bench.source.send({errorEvent(ErrorCode::Expired)}); // this round was good
    bench.run();
    QVERIFY(bench.roundErrors.isEmpty());
    bench.advance(799ms);
    QCOMPARE(bench.source.count(u"LIST"_s), 1);
    bench.advance(1ms);
    QCOMPARE(bench.source.count(u"LIST"_s), 2);
    bench.source.failList(error(ErrorCode::ServiceUnavailable));
    bench.run();
    QCOMPARE(bench.roundErrors.size(), 1); // once, and for the failed one alone
    bench.advance(1599ms);
    QCOMPARE(bench.source.count(u"LIST"_s), 2);
    bench.advance(1ms);
    QCOMPARE(bench.source.count(u"LIST"_s), 3);
}

// the wait for a refused watch and the wait after a round are steps of one source of delays.
void r2_oneSourceOfDelays(Bench &bench)
{
    bench.startWatching({}, u"10"_s);
    bench.advance(2s);
    bench.source.end();
    bench.run();
    bench.source.end(error(ErrorCode::ConnectionRefused));
    bench.run();
    QCOMPARE(*bench.clock.untilNextTimer(), std::chrono::nanoseconds(800ms));
    bench.advance(800ms);
    bench.source.openAndSend({errorEvent(ErrorCode::Expired)});
    bench.run();
    QCOMPARE(*bench.clock.untilNextTimer(), std::chrono::nanoseconds(1600ms));
}

// R-8, B32: whoever is told of a failed round may stop the reflector there.
void r7_handlerStops(Bench &bench)
{
    bench.options.onRoundError = [&](const Error &) { bench.reflector->stop(); };
    bench.start();
    bench.source.failList(error(ErrorCode::Forbidden));
    bench.advance(1h);
    QCOMPARE(bench.source.calls.size(), 1u);
    QCOMPARE(bench.reflector->state().phase, ReflectorPhase::Stopped);
}

// the timer belongs to the watch phase: a fill that takes long is not disturbed.
void r43_timerOfTheWatch(Bench &bench)
{
    bench.options.resyncPeriod = 10s;
    bench.start();
    bench.advance(9s);
    bench.source.answerList({}, u"10"_s);
    bench.run();
    bench.source.open();
    bench.advance(9s);
    QCOMPARE(bench.store.resyncs, 0);
    bench.advance(1s);
    QCOMPARE(bench.store.resyncs, 1); // without a question: yes
    bench.advance(20s);
    QCOMPARE(bench.store.resyncs, 3);
}

} // namespace

class tst_Reflector : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void requests_data();
    void requests();
    void stories_data();
    void stories();
    void stop_data();
    void stop();
};

// NOLINTNEXTLINE(readability-function-size): a table
void tst_Reflector::requests_data()
{
    addRequestColumns();
    constexpr auto row = addRequestRow;

    row(
        "T1: 0 at first, then the last version", false,
        [](Bench &b) {
            b.source.answerList({}, QStringLiteral("10"));
            b.run();
            b.source.open();
            b.advance(200ms);
            b.source.end(); // short: relist
            b.advance(800ms);
        },
        L({"LIST rv=0 limit=500", "WATCH rv=10", "LIST rv=10"}), 0);
    row(
        "T2: expired list is tried again at once without a version", false,
        [](Bench &b) {
            b.source.answerList({}, QStringLiteral("10"));
            b.run();
            b.source.openAndSend({errorEvent(ErrorCode::Expired)});
            b.run();
            b.advance(800ms);
            b.source.failList(error(ErrorCode::Expired));
            b.run();
        },
        L({"LIST rv=0 limit=500", "WATCH rv=10", "LIST rv=10", "LIST rv="}), 0);
    row(
        "T2: and when that fails too, the round ends with its error", false,
        [](Bench &b) {
            b.source.failList(error(ErrorCode::Expired));
            b.run();
            b.source.failList(error(ErrorCode::Expired));
            b.run();
        },
        L({"LIST rv=0 limit=500", "LIST rv= limit=500"}), 1);
    row(
        "T3: expired on page 2: one full list", false,
        [](Bench &b) {
            b.source.answerList(widgets({"a@1"}), QStringLiteral("10"), QStringLiteral("next"));
            b.run();
            b.source.failList(error(ErrorCode::Expired));
            b.run();
            b.source.answerList(widgets({"a@1", "b@2"}), QStringLiteral("12"));
            b.run();
            QCOMPARE(b.store.items, L({"a@1", "b@2"}));
        },
        L({"LIST rv=0 limit=500", "LIST rv= limit=500 continue=next", "LIST rv=0", "WATCH rv=12"}),
        0);
    row(
        "R-23: and that counts as a list that came in pages (R-14)", false,
        [](Bench &b) {
            b.source.answerList(widgets({"a@1"}), QStringLiteral("10"), QStringLiteral("next"));
            b.run();
            b.source.failList(error(ErrorCode::Expired));
            b.run();
            b.source.answerList(widgets({"a@1", "b@2"}), QStringLiteral("12"));
            b.run();
            b.source.openAndSend({errorEvent(ErrorCode::Expired)});
            b.advance(800ms);
        },
        L({"LIST rv=0 limit=500", "LIST rv= limit=500 continue=next", "LIST rv=0", "WATCH rv=12",
            "LIST rv=12 limit=500"}),
        0);
    const auto tooLarge = [](const Error &spelling) {
        return [spelling](Bench &b) {
            b.source.answerList({}, QStringLiteral("20"));
            b.run();
            b.source.openAndSend({errorEvent(ErrorCode::Expired)});
            b.advance(800ms);
            b.source.failList(spelling);
            b.run();
            b.source.answerList({}, QStringLiteral("30"));
            b.run();
            b.source.openAndSend({errorEvent(ErrorCode::Expired)});
            b.advance(1600ms);
        };
    };
    const QStringList afterTooLarge = L({"LIST rv=0 limit=500", "WATCH rv=20", "LIST rv=20",
        "LIST rv=", "WATCH rv=30", "LIST rv=30"});
    row("T4: too large a version, by its code", false,
        tooLarge(error(ErrorCode::ResourceVersionTooLarge)), afterTooLarge, 0);
    row("T4: too large a version, by its message", false,
        tooLarge(error(ErrorCode::Timeout,
            QStringLiteral("list: Timeout: Too large resource version: 20, current: 15"))),
        afterTooLarge, 0);
    row(
        "T5: no limit when the last version is asked for", false,
        [](Bench &b) {
            b.source.answerList({}, QStringLiteral("10"));
            b.run();
            b.source.openAndSend({errorEvent(ErrorCode::Expired)});
            b.advance(800ms);
        },
        L({"LIST rv=0 limit=500", "WATCH rv=10", "LIST rv=10"}), 0);
    row(
        "T6: paging proved useful: also later", false,
        [](Bench &b) {
            b.source.answerList({}, QStringLiteral("10"), QStringLiteral("x"));
            b.run();
            b.source.answerList({}, QStringLiteral("10"));
            b.run();
            b.source.openAndSend({errorEvent(ErrorCode::Expired)});
            b.advance(800ms);
        },
        L({"LIST rv=0 limit=500", "LIST rv= limit=500 continue=x", "WATCH rv=10",
            "LIST rv=10 limit=500"}),
        0);
    row(
        "T21: a server without streaming lists: LIST in the same round", true,
        [](Bench &b) {
            b.source.end(error(ErrorCode::Invalid));
            b.run();
            b.source.answerList({}, QStringLiteral("10"));
            b.run();
        },
        L({"WATCHLIST rv=", "LIST rv=0 limit=500", "WATCH rv=10"}), 0);
    row(
        "T22: a streaming list that ends early begins anew", true,
        [](Bench &b) {
            b.source.openAndSend({happened(Type::Added, widget(u"a@1"))});
            b.advance(2s);
            b.source.end();
            b.run();
            b.source.stream({"b@2"}, QStringLiteral("3"));
            b.run();
            QCOMPARE(b.store.items, L({"b@2"}));
        },
        L({"WATCHLIST rv=", "WATCHLIST rv="}), 0);
    row(
        "R-39: refused connection: wait, then the streaming list again", true,
        [](Bench &b) {
            b.source.end(error(ErrorCode::ConnectionRefused));
            b.advance(800ms);
        },
        L({"WATCHLIST rv=", "WATCHLIST rv="}), 0);
    row(
        "R-39: an expired version: the streaming list again without one", true,
        [](Bench &b) {
            b.source.stream({}, QStringLiteral("10"));
            b.source.send({errorEvent(ErrorCode::Expired)});
            b.advance(800ms);
            b.source.end(error(ErrorCode::Expired));
            b.run();
        },
        L({"WATCHLIST rv=", "WATCHLIST rv=10", "WATCHLIST rv="}), 0);
    row(
        "R-10: the next round tries the streaming list again", true,
        [](Bench &b) {
            b.source.end(error(ErrorCode::Invalid));
            b.run();
            b.source.failList(error(ErrorCode::ServiceUnavailable));
            b.advance(800ms);
        },
        L({"WATCHLIST rv=", "LIST rv=0 limit=500", "WATCHLIST rv="}), 1);
    row(
        "R-18: a store that refuses the list ends the round", false,
        [](Bench &b) {
            b.store.refusesLists = true;
            b.source.answerList({}, QStringLiteral("10"));
            b.run();
        },
        L({"LIST rv=0 limit=500"}), 1);
}

void tst_Reflector::requests()
{
    playRequestRow();
}

void tst_Reflector::stories_data()
{
    QTest::addColumn<Script>("story");
    QTest::newRow("T7: pages are put together") << Script(t7_pages);
    QTest::newRow("T17: a back-off of its own") << Script(t17_customBackoff);
    QTest::newRow("T18: the delay falls back about every two minutes") << Script(t18_backoffReset);
    QTest::newRow("T19: a streaming list becomes the watch") << Script(t19_streamingList);
    QTest::newRow("T20: deleted before the marker") << Script(t20_deletedBeforeTheMarker);
    QTest::newRow("T23: transformed twice") << Script(t23_transformTwice);
    QTest::newRow("T26: a resync that nobody wants") << Script(t26_resyncNotWanted);
    QTest::newRow("R-44: a resync that fails") << Script(r44_resyncFails);
    QTest::newRow("R-40: a streaming list that hears nothing") << Script(r40_silentStream);
    QTest::newRow("R-40: one that never heard anything") << Script(r40_noEventEver);
    QTest::newRow("a slow refill is told") << Script(slowRefillIsTold);
    QTest::newRow("R-11: a source without streaming lists") << Script(r11_declaredUnable);
    QTest::newRow("R-6: a delay after each round") << Script(r6_delayAfterEachRound);
    QTest::newRow("R-2: one source of delays") << Script(r2_oneSourceOfDelays);
    QTest::newRow("R-7: the handler stops the reflector") << Script(r7_handlerStops);
    QTest::newRow("R-43: the resync timer runs with the watch") << Script(r43_timerOfTheWatch);
    QTest::newRow("B14: a server that lags") << Script(b14_lagging);
    QTest::newRow("B14: a server whose history went back") << Script(b14_historyReset);
    QTest::newRow("B32: refused again and again: spaced, and it heals")
        << Script(b32_spacedRetries);
    QTest::newRow("progress of a fill") << Script(progress);
}

void tst_Reflector::stories()
{
    QFETCH(const Script, story);
    Bench bench;
    story(bench);
}

void tst_Reflector::stop_data()
{
    QTest::addColumn<Script>("until");
    QTest::newRow("R-20: during a list") << Script([](Bench &) {});
    QTest::newRow("during a watch") << Script([](Bench &b) {
        b.source.answerList({}, QStringLiteral("10"));
        b.run();
    });
    QTest::newRow("while waiting") << Script([](Bench &b) {
        b.source.failList(error(ErrorCode::ServiceUnavailable));
        b.run();
    });
}

void tst_Reflector::stop()
{
    QFETCH(const Script, until);
    Bench bench;
    bench.options.resyncPeriod = 1s;
    bench.start();
    until(bench);
    const std::size_t calls = bench.source.calls.size();
    const QStringList told = bench.store.told;
    bench.reflector->stop();
    bench.run();
    QVERIFY(!bench.source.calls.back()->isAlive);
    bench.advance(1h);
    QCOMPARE(bench.source.calls.size(), calls);
    QCOMPARE(bench.store.told, told);
    QCOMPARE(bench.reflector->state().phase, ReflectorPhase::Stopped);
    QCOMPARE(bench.clock.pendingTimers(), 0);
}

QTEST_GUILESS_MAIN(tst_Reflector)
#include "tst_reflector.moc"
