// The reflector against a scripted source, on a clock that the test moves. Rows carry the ids of
// behaviours 11.1 and of the cases.
// NOLINT(file-size): one fixture, and the rows of behaviours 11.1 together
#include "fakes.h"

#include <QtCore/qfile.h>
#include <QtTest>
#include <set>

using namespace fakes;
using namespace davit::cache;

namespace {

// Writes down what the reflector tells its store.
class RecordingStore final : public ReflectorStore
{
public:
    QStringList told;
    QStringList items; // of the last list
    Transform transformer;
    QString refused; // name of an object that is not taken in
    bool refusesLists = false;
    ListOrigin origin = ListOrigin::Unset;
    int resyncs = 0;
    bool failsResync = false;

    Status add(const Object &o) override { return take(u"A ", o); }
    Status update(const Object &o) override { return take(u"U ", o); }
    Status remove(const Object &o) override { return take(u"D ", o); }
    Status replace(std::vector<Object> objects, const QString &version, ListOrigin from) override
    {
        if (refusesLists)
            return Status(ErrorCode::InvalidArgument, QStringLiteral("refused"));
        items.clear();
        for (Object &object : objects) {
            if (transformer)
                static_cast<void>(transformer(&object));
            items += text(object);
        }
        origin = from;
        told += QStringLiteral("R %1 @%2").arg(objects.size()).arg(version);
        return Status::ok();
    }
    Status resync() override
    {
        ++resyncs;
        return failsResync ? Status(ErrorCode::InternalError, QStringLiteral("no")) : Status::ok();
    }
    void bookmark(const QString &version) override { told += QStringLiteral("B ") + version; }
    const Transform *transform() const override { return transformer ? &transformer : nullptr; }

private:
    Status take(QStringView what, const Object &o)
    {
        if (o.name() == refused)
            return Status(ErrorCode::InvalidArgument, QStringLiteral("refused"));
        told += what.toString() + text(o);
        return Status::ok();
    }
};

struct Bench
{
    testing::ManualExecutor executor;
    testing::ManualClock clock;
    ScriptedSource source;
    RecordingStore store;
    QList<Error> roundErrors;
    ReflectorOptions options;
    std::unique_ptr<Reflector> reflector;

    Bench()
    {
        options.name = QStringLiteral("demo.example/v1 Widget");
        options.expectedGvk = kWidget;
        options.initialSync = InitialSync::List;
        options.random = [] { return 0.0; };
        options.onRoundError = [this](const Error &e) { roundErrors += e; };
    }
    void start()
    {
        reflector = std::make_unique<Reflector>(source, store, executor, clock, options);
        reflector->start();
        executor.runAll();
    }
    // A reflector that has listed `items` and whose watch is open.
    void startWatching(Texts items, const QString &version)
    {
        start();
        source.answerList(widgets(items), version);
        executor.runAll();
        source.open();
    }
    void advance(std::chrono::nanoseconds span)
    {
        clock.advance(span, &executor);
        executor.runAll();
    }
    void run() { executor.runAll(); }
    QString version() const { return reflector->lastSyncResourceVersion(); }
    ~Bench()
    {
        reflector.reset();
        executor.runAll();
    }
};

using Script = std::function<void(Bench &)>;

} // namespace
Q_DECLARE_METATYPE(Script)

class tst_Reflector : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void requests_data();
    void requests();
    void t7_pages();
    void t8_openRefused();
    void t13_bookmark();
    void t14_otherKind();
    void t15_refusedByTheStore();
    void t16_internalErrorWindow_data();
    void t16_internalErrorWindow();
    void t17_customBackoff();
    void t18_backoffReset();
    void t19_streamingList();
    void t20_deletedBeforeTheMarker();
    void t23_transformTwice();
    void t25_watchTimeouts();
    void t26_resyncNotWanted();
    void r44_resyncFails();
    void b12_otherErrorEvents();
    void b12_endlessErrorEvents();
    void b14_lagging();
    void b14_historyReset();
    void b17_bookmarks();
    void b32_spacedRetries();
    void progress();
    void stop_data();
    void stop();
};

void tst_Reflector::requests_data()
{
    QTest::addColumn<bool>("usesWatchList");
    QTest::addColumn<Script>("script");
    QTest::addColumn<QStringList>("requests");
    QTest::addColumn<int>("roundErrors");
    const auto row = [](const char *name, bool usesWatchList, const Script &script,
                         const QStringList &requests, int roundErrors) {
        QTest::newRow(name) << usesWatchList << script << requests << roundErrors;
    };

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
        "T24: 'True' is no end marker", true,
        [](Bench &b) {
            b.source.openAndSend({bookmark(QStringLiteral("5"))}); // the decoder says no
            b.run();
            QVERIFY(b.store.told.isEmpty());
        },
        L({"WATCHLIST rv="}), 0);
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

void tst_Reflector::requests()
{
    QFETCH(const bool, usesWatchList);
    QFETCH(const Script, script);
    QFETCH(const int, roundErrors);
    Bench bench;
    bench.options.initialSync = usesWatchList ? InitialSync::Auto : InitialSync::List;
    bench.start();
    script(bench);
    if (QTest::currentTestFailed())
        return;
    QTEST(bench.source.requests(), "requests");
    QCOMPARE(bench.roundErrors.size(), roundErrors);
}

void tst_Reflector::t7_pages()
{
    Bench bench;
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

void tst_Reflector::t8_openRefused()
{
    Bench bench;
    bench.options.random = [] { return 0.999; };
    bench.start();
    bench.source.answerList({}, QStringLiteral("10"));
    bench.run();
    QTest::ignoreMessage(
        QtWarningMsg, QRegularExpression(QStringLiteral("cannot be followed, it is tried again")));
    QTest::ignoreMessage(QtInfoMsg, QRegularExpression(QStringLiteral("is followed again")));
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
}

void tst_Reflector::t13_bookmark()
{
    Bench bench;
    bench.startWatching({"a@1"}, QStringLiteral("10"));
    bench.source.send({bookmark(QStringLiteral("30"))});
    QCOMPARE(bench.store.told, L({"R 1 @10", "B 30"}));
    QCOMPARE(bench.version(), QStringLiteral("30"));
    bench.advance(2s);
    bench.source.end();
    bench.run();
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("WATCH rv=30"));
}

void tst_Reflector::t14_otherKind()
{
    Bench bench;
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

void tst_Reflector::t15_refusedByTheStore()
{
    Bench bench;
    bench.store.refused = QStringLiteral("b");
    bench.startWatching({}, QStringLiteral("10"));
    bench.source.send({happened(Type::Modified, widget(u"b@16"))});
    QCOMPARE(bench.store.told, L({"R 0 @10"}));
    QCOMPARE(bench.version(), QStringLiteral("16")); // lost until the next relist: R-32
}

void tst_Reflector::t16_internalErrorWindow_data()
{
    QTest::addColumn<bool>("hasGap");
    QTest::addColumn<int>("retries"); // at once
    QTest::newRow("T16: 31 in a window of 30 s") << false << 31;
    QTest::newRow("T16: 40 with a minute's gap at the 10th request") << true << 40;
}

void tst_Reflector::t16_internalErrorWindow()
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

void tst_Reflector::t17_customBackoff()
{
    Bench bench;
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

void tst_Reflector::t18_backoffReset()
{
    Bench bench;
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

void tst_Reflector::t19_streamingList()
{
    Bench bench;
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

void tst_Reflector::t20_deletedBeforeTheMarker()
{
    Bench bench;
    bench.options.initialSync = InitialSync::Auto;
    bench.start();
    bench.source.openAndSend(
        {happened(Type::Added, widget(u"a@1")), happened(Type::Added, widget(u"b@2")),
            happened(Type::Deleted, widget(u"a@3")), bookmark(QStringLiteral("3"), true)});
    QCOMPARE(bench.store.told, L({"R 1 @3"}));
    QCOMPARE(bench.store.items, L({"b@2"}));
}

void tst_Reflector::t23_transformTwice()
{
    Bench bench;
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

void tst_Reflector::t25_watchTimeouts()
{
    Bench bench;
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

void tst_Reflector::t26_resyncNotWanted()
{
    Bench bench;
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

void tst_Reflector::r44_resyncFails()
{
    Bench bench;
    bench.options.resyncPeriod = 10s;
    bench.store.failsResync = true;
    bench.startWatching({}, QStringLiteral("10"));
    bench.advance(10s);
    bench.advance(800ms);
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("LIST rv=10"));
    QVERIFY(bench.roundErrors.isEmpty());
}

void tst_Reflector::b12_otherErrorEvents()
{
    Bench bench;
    bench.startWatching({}, QStringLiteral("10"));
    bench.source.send(
        {happened(Type::Added, widget(u"a@101")), errorEvent(ErrorCode::InternalError)});
    bench.run();
    QCOMPARE(bench.source.calls.size(), 2u); // it backs off
    bench.advance(800ms);
    QCOMPARE(bench.source.requests(), L({"LIST rv=0 limit=500", "WATCH rv=10", "WATCH rv=101"}));
    QCOMPARE(bench.store.told, L({"R 0 @10", "A a@101"}));
}

void tst_Reflector::b12_endlessErrorEvents()
{
    Bench bench;
    bench.startWatching({}, QStringLiteral("10"));
    for (int i = 0; i <= Reflector::kMaxFruitlessResumes; ++i) {
        QCOMPARE(bench.source.count(QStringLiteral("LIST")), 1);
        bench.source.openAndSend({errorEvent(ErrorCode::InternalError)});
        bench.run();
        bench.advance(40s);
    }
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("LIST rv=10"));
}

void tst_Reflector::b14_lagging()
{
    Bench bench;
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
    QCOMPARE(bench.store.origin, ListOrigin::Ordinary);
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("WATCH rv=5100"));
}

void tst_Reflector::b14_historyReset()
{
    Bench bench;
    bench.startWatching({"apps/a@4990"}, QStringLiteral("5000"));
    bench.source.send({errorEvent(ErrorCode::Expired)});
    bench.advance(800ms);
    bench.source.failList(error(ErrorCode::ResourceVersionTooLarge));
    bench.run();
    bench.source.answerList(widgets({"apps/a@20"}), QStringLiteral("30")); // restored from a backup
    QCOMPARE(bench.store.origin, ListOrigin::HistoryReset);
}

void tst_Reflector::b17_bookmarks()
{
    Bench bench;
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

void tst_Reflector::b32_spacedRetries()
{
    Bench bench;
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

void tst_Reflector::progress()
{
    Bench bench;
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
