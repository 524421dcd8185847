// The shared informer over a scripted source: its rules as cases T19 to T65, and a random
// run against a plain model. Cases from the field are in tst_informercases, equal-version updates
// in tst_resync, handles (T60, T61) in tst_view.
#include "informerbench.h"

#include <map>
#include <random>

using namespace fakes;
using namespace davit::cache;
using Bench = InformerBench;
using Script = InformerScript;

namespace {

void initialList(Bench &bench)
{
    bench.make();
    QVERIFY(bench.informer->addListener(bench.listener).isOk());
    bench.informer->start();
    bench.run();
    QVERIFY(!bench.informer->hasSynced());
    QCOMPARE(bench.listener->synced, 0);
    bench.source->answerList(widgets({"a@1", "b@2"}), u"10"_s);
    bench.run();
    QCOMPARE(bench.heard(), L({"+a@1!", "+b@2!"}));
    QVERIFY(bench.informer->hasSynced());
    QCOMPARE(bench.listener->synced, 1);
    QCOMPARE(bench.informer->lastSyncResourceVersion(), u"10"_s);
    bench.source->openAndSend({happened(Type::Added, widget(u"c@11"))});
    bench.run();
    QCOMPARE(bench.heard(), L({"+c@11"}));
    QCOMPARE(bench.listener->synced, 1);
}

void t45_storeFirst(Bench &bench)
{
    bench.sync({"a@1", "b@1"}, u"10"_s);
    QStringList seen;
    bench.listener->onEvent = [&] { seen = stored(*bench.informer->store()); };
    bench.relist(widgets({"b@2", "c@1"}), u"20"_s);
    QCOMPARE(seen, L({"b@2", "c@1"}));
    QCOMPARE(bench.heard(), L({"-a@1?", "~b@1>b@2", "+c@1"}));
}

void i11_lateListener(Bench &bench)
{
    bench.sync({"a@1", "b@2"}, u"10"_s);
    const auto late = std::make_shared<RecordingListener>();
    QVERIFY(bench.informer->addListener(late).isOk());
    QCOMPARE(late->synced, 1);
    QCOMPARE(late->takeSorted(), L({"+a@1!", "+b@2!"}));
    bench.send({happened(Type::Modified, widget(u"a@11"))});
    QCOMPARE(late->heard, L({"~a@1>a@11"})); // nothing twice, nothing left out
    QCOMPARE(bench.heard(), L({"~a@1>a@11"}));
}

void i14_removed(Bench &bench)
{
    bench.sync({}, u"10"_s);
    const auto other = std::make_shared<RecordingListener>();
    QVERIFY(bench.informer->addListener(other).isOk());
    bench.send({happened(Type::Added, widget(u"a@11"))});
    QCOMPARE(bench.heard(), L({"+a@11"}));
    QCOMPARE(other->heard, L({"+a@11"}));
    bench.informer->removeListener(other.get());
    bench.informer->removeListener(other.get()); // twice: no effect
    bench.send({happened(Type::Modified, widget(u"a@12"))});
    QCOMPARE(other->heard, L({"+a@11"}));
    QCOMPARE(bench.heard(), L({"~a@11>a@12"}));
}

void t63_stopped(Bench &bench)
{
    bench.sync({"a@1"}, u"10"_s);
    bench.informer->stop();
    QVERIFY(bench.informer->isStopped());
    QCOMPARE(bench.informer->addListener(std::make_shared<RecordingListener>()).error().code(),
        ErrorCode::Canceled);
    QCOMPARE(bench.informer->addIndexers({}).error().code(), ErrorCode::Canceled);
    bench.informer->removeListener(bench.listener.get());
    QVERIFY(bench.informer->hasSynced()); // keeps its last value
    QCOMPARE(stored(*bench.informer->store()), L({"a@1"})); // stays readable
    bench.informer->start(); // I-4
    bench.run();
    QVERIFY(!bench.source->calls.back()->isAlive);
}

void lifeCycle(Bench &bench)
{
    bench.make();
    QCOMPARE(bench.informer->lastSyncResourceVersion(), QString());
    QCOMPARE(bench.informer->reflectorState().phase, ReflectorPhase::Unset);
    bench.run();
    QVERIFY(bench.source->calls.empty()); // asked for, not started
    bench.informer->start();
    bench.informer->start(); // runs once
    bench.run();
    QCOMPARE(bench.source->calls.size(), 1u);
}

void addedIndexers(Bench &bench)
{
    bench.sync({"n/a@1", "m/b@2"}, u"10"_s);
    QVERIFY(bench.informer
                ->addIndexers({{u"byName"_s,
                    [](const Object &o) { return std::optional(QStringList{o.name()}); }}})
                .isOk());
    QCOMPARE(bench.informer->store()->snapshot()->indexValues(u"byName"_s), L({"a", "b"}));
    bench.send({happened(Type::Added, widget(u"n/c@11"))});
    QCOMPARE(bench.informer->store()->snapshot()->indexValues(u"byName"_s), L({"a", "b", "c"}));
}

void b14_relistFromThePast(Bench &bench)
{
    bench.sync({"apps/a@4990#u", "apps/b@100#v"}, u"5000"_s);
    bench.relist(widgets({"apps/a@4001#u", "apps/b@100#v"}), u"4100"_s); // another server, behind
    QCOMPARE(stored(*bench.informer->store()), L({"apps/a@4990", "apps/b@100"}));
    QCOMPARE(bench.heard(), L({"~apps/b@100>apps/b@100"}));
    QCOMPARE(bench.informer->staleEvents(), 1u);
    bench.send({happened(Type::Modified, widget(u"apps/a@4500#u"))}); // what it replays
    QCOMPARE(bench.heard(), QStringList());
    bench.send({happened(Type::Modified, widget(u"apps/a@5010#u"))});
    QCOMPARE(bench.heard(), L({"~apps/a@4990>apps/a@5010"}));

    // A consistent list that is behind: the server was restored. It is believed.
    bench.source->send({errorEvent(ErrorCode::Expired)});
    bench.clock.advance(40s, &bench.executor);
    bench.source->failList(error(ErrorCode::ResourceVersionTooLarge));
    bench.run();
    bench.source->answerList(widgets({"apps/a@30#u"}), u"40"_s);
    bench.run();
    QCOMPARE(stored(*bench.informer->store()), L({"apps/a@30"}));
}

// What a streaming list brings is an initial list like any other; what came and went within it was
// never there.
void t19_streamingList(Bench &bench)
{
    bench.options.reflector.initialSync = InitialSync::WatchList;
    bench.make();
    QVERIFY(bench.informer->addListener(bench.listener).isOk());
    bench.informer->start();
    bench.run();
    bench.source->stream({"a@1", "b@2"}, u"2"_s);
    bench.run();
    QCOMPARE(bench.listener->takeSorted(), L({"+a@1!", "+b@2!"}));
    QCOMPARE(bench.listener->synced, 1);
    QCOMPARE(stored(*bench.informer->store()), L({"a@1", "b@2"}));
    QCOMPARE(bench.informer->lastSyncResourceVersion(), u"2"_s);
    QCOMPARE(bench.source->requests(), L({"WATCHLIST rv="})); // one stream, no LIST
}

void t20_goneBeforeTheMarker(Bench &bench)
{
    bench.options.reflector.initialSync = InitialSync::WatchList;
    bench.make();
    QVERIFY(bench.informer->addListener(bench.listener).isOk());
    bench.informer->start();
    bench.run();
    bench.source->openAndSend({happened(Type::Added, widget(u"a@1")),
        happened(Type::Deleted, widget(u"a@2")), bookmark(u"2"_s, true)});
    bench.run();
    QCOMPARE(bench.heard(), QStringList()); // no deletion either
    QVERIFY(bench.informer->hasSynced());
    QCOMPARE(stored(*bench.informer->store()), QStringList());
}

// S-1: an observed deletion moves the store's version, an inferred one does not.
void t51_versionOfDeletions(Bench &bench)
{
    bench.sync({"a@1", "b@2"}, u"9"_s);
    const auto version = [&] { return bench.informer->store()->snapshot()->resourceVersion; };
    QCOMPARE(version(), u"9"_s);
    bench.send({happened(Type::Deleted, widget(u"a@12"))});
    QCOMPARE(version(), u"12"_s);
    bench.send({happened(Type::Modified, widget(u"b@13#x")),
        happened(Type::Deleted, widget(u"b@14#y"))}); // of another uid: inferred for x
    QCOMPARE(bench.listener->heard.last(), u"-b@13?"_s);
    bench.send({bookmark(u"20"_s)});
    QCOMPARE(version(), u"20"_s);
    bench.relist({}, u"30"_s);
    QCOMPARE(version(), u"30"_s);
}

// Three levels: the queue has processed the first list, so the informer has stored it and told its
// listeners; a handle is synced once its own callbacks returned (T60: tst_view, t60_lateView).
void levelsOfSynced(Bench &bench)
{
    bench.make();
    bool wasSynced = true;
    QStringList whenHeard;
    bench.listener->onEvent = [&] {
        wasSynced = bench.informer->hasSynced();
        whenHeard = stored(*bench.informer->store());
    };
    QVERIFY(bench.informer->addListener(bench.listener).isOk());
    bench.informer->start();
    bench.run();
    bench.source->answerList(widgets({"a@1"}), u"10"_s);
    QVERIFY(!bench.informer->hasSynced()); // queued is not stored
    bench.run();
    QVERIFY(!wasSynced); // told before it says so
    QCOMPARE(whenHeard, L({"a@1"})); // stored before it is told
    QVERIFY(bench.informer->hasSynced());
    bench.source->openAndSend({errorEvent(ErrorCode::Expired)});
    bench.clock.advance(2s, &bench.executor);
    QVERIFY(bench.informer->hasSynced()); // never back
}

// I-13: a handler that comes before the first list is whole hears what is there already, and the
// rest, all as of the initial list.
void i13_handlerBeforeSynced(Bench &bench)
{
    bench.make();
    bench.informer->start();
    bench.run();
    QVERIFY(bench.informer->addListener(bench.listener).isOk());
    QCOMPARE(bench.listener->synced, 0);
    bench.source->answerList(widgets({"a@1", "b@2"}), u"10"_s);
    bench.run();
    QCOMPARE(bench.listener->takeSorted(), L({"+a@1!", "+b@2!"}));
    QCOMPARE(bench.listener->synced, 1);
}

// I-16: per object in order, whatever a listener does meanwhile; here it leaves.
void listenerThatLeavesInItsCallback(Bench &bench)
{
    bench.sync({"a@1"}, u"10"_s);
    const auto leaves = std::make_shared<RecordingListener>();
    QVERIFY(bench.informer->addListener(leaves).isOk());
    leaves->heard.clear();
    leaves->onEvent
        = [&] { bench.executor.post([&] { bench.informer->removeListener(leaves.get()); }); };
    bench.send({happened(Type::Modified, widget(u"a@11"))});
    bench.send({happened(Type::Modified, widget(u"a@12"))});
    QCOMPARE(leaves->heard, L({"~a@1>a@11"}));
    QCOMPARE(bench.heard(), L({"~a@1>a@11", "~a@11>a@12"}));
}

// Of an object that is listed twice each state is told from the one before it (Q-26b otherwise).
void q24_orderWithinARelist(Bench &bench)
{
    bench.sync({"a@1", "b@2", "c@3"}, u"10"_s);
    bench.relist(widgets({"d@11", "c@12", "c@13"}), u"20"_s);
    const QStringList heard = bench.heard();
    QCOMPARE(heard.size(), 5);
    QVERIFY(heard[0].startsWith(u'-') && heard[1].startsWith(u'-'));
    QCOMPARE(heard.mid(2), L({"+d@11", "~c@3>c@12", "~c@12>c@13"}));
}

// more than ten wait and one takes more than 100 ms; told once a minute. 4.7: each batch is
// heard of.
void q21_slowProcessing(Bench &bench)
{
    std::vector<std::chrono::nanoseconds> heard;
    bench.options.onProcessed = [&](std::chrono::nanoseconds took) { heard.push_back(took); };
    auto slowness = 0ms; // of an index function
    bench.sync({}, u"10"_s);
    QVERIFY(bench.informer
                ->addIndexers({{u"slow"_s,
                    [&](const Object &) {
                        bench.clock.advance(slowness);
                        return std::optional<QStringList>(std::in_place);
                    }}})
                .isOk());
    const auto updates = [&](int from) { // of one object: a batch each
        std::vector<codec::WatchEvent> events;
        for (int i = from; i < from + 12; ++i)
            events.push_back(happened(Type::Modified, widget(QStringLiteral("n/a@%1").arg(i))));
        return events;
    };
    bench.send(updates(100));
    slowness = 100ms; // not more than that
    bench.send(updates(200));
    QCOMPARE(bench.lines.seen, QStringList());
    slowness = 101ms;
    bench.send({happened(Type::Modified, widget(u"n/a@300"))}); // nobody waits
    QCOMPARE(bench.lines.seen, QStringList());
    heard.clear();
    bench.send(updates(400));
    QCOMPARE(bench.lines.seen,
        L({"3|cache|changes take long to store, others wait for them"
           "|resource=demo.example/v1 Widget|seconds=0.101|changes=1|waiting=11"}));
    QCOMPARE(heard, std::vector<std::chrono::nanoseconds>(12, 101ms));
}

} // namespace

class tst_SharedInformer : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void notifications_data();
    void notifications();
    void stories_data();
    void stories();
    void handOver_data();
    void handOver();
    void differential_data();
    void differential();
};

// NOLINTNEXTLINE(readability-function-size): a table
void tst_SharedInformer::notifications_data()
{
    QTest::addColumn<Script>("script");
    QTest::addColumn<QStringList>("heard");
    QTest::addColumn<QStringList>("stored"); // beside what was there: a@1#u1, b@2#u2
    const auto row
        = [](const char *name, const Script &script, const QStringList &heard,
              const QStringList &stored) { QTest::newRow(name) << script << heard << stored; };
    row(
        "added", [](Bench &b) { b.send({happened(Type::Added, widget(u"c@11"))}); }, L({"+c@11"}),
        L({"a@1", "b@2", "c@11"}));
    row(
        "updated", [](Bench &b) { b.send({happened(Type::Modified, widget(u"a@11#u1"))}); },
        L({"~a@1>a@11"}), L({"a@11", "b@2"}));
    row(
        "deleted: with the state that came",
        [](Bench &b) { b.send({happened(Type::Deleted, widget(u"a@12#u1"))}); }, L({"-a@12"}),
        L({"b@2"}));
    row(
        "T46: deleted, never seen",
        [](Bench &b) { b.send({happened(Type::Deleted, widget(u"x@12"))}); }, L({"-x@12"}),
        L({"a@1", "b@2"}));
    row(
        "T47: modified, never seen",
        [](Bench &b) { b.send({happened(Type::Modified, widget(u"x@12"))}); }, L({"+x@12"}),
        L({"a@1", "b@2", "x@12"}));
    row(
        "Q-23: added, known already",
        [](Bench &b) { b.send({happened(Type::Added, widget(u"a@12#u1"))}); }, L({"~a@1>a@12"}),
        L({"a@12", "b@2"}));
    row(
        "an older state of a known uid is left out",
        [](Bench &b) {
            b.send({happened(Type::Modified, widget(u"a@12#u1")),
                happened(Type::Modified, widget(u"a@11#u1"))});
        },
        L({"~a@1>a@12"}), L({"a@12", "b@2"}));
    row(
        "the same version twice is told once",
        [](Bench &b) {
            b.send({happened(Type::Modified, widget(u"a@12#u1")),
                happened(Type::Modified, widget(u"a@12#u1"))});
        },
        L({"~a@1>a@12"}), L({"a@12", "b@2"}));
    row(
        "versions that cannot be compared are taken as they come",
        [](Bench &b) {
            b.send({happened(Type::Modified, widget(u"a@z#u1")),
                happened(Type::Modified, widget(u"a@y#u1"))});
        },
        L({"~a@1>a@z", "~a@z>a@y"}), L({"a@y", "b@2"}));
    row(
        "B16: another uid without a deletion",
        [](Bench &b) { b.send({happened(Type::Modified, widget(u"a@11#other"))}); },
        L({"-a@1?", "+a@11"}), L({"a@11", "b@2"}));
    row(
        "B16: a deletion of another uid",
        [](Bench &b) { b.send({happened(Type::Deleted, widget(u"a@11#other"))}); }, L({"-a@1?"}),
        L({"b@2"}));
    row(
        "bookmark: nobody hears of it", [](Bench &b) { b.send({bookmark(u"50"_s)}); }, {},
        L({"a@1", "b@2"}));
    row(
        "T65: a relist with the same versions, resync off",
        [](Bench &b) {
            b.relist(widgets({"a@1#u1", "b@2#u2"}), u"20"_s);
        },
        L({"~a@1>a@1", "~b@2>b@2"}), L({"a@1", "b@2"}));
    row(
        "relist: gone, changed, new",
        [](Bench &b) {
            b.relist(widgets({"b@15#u2", "c@16"}), u"20"_s);
        },
        L({"-a@1?", "~b@2>b@15", "+c@16"}), L({"b@15", "c@16"}));
    row(
        "B16: relist with another uid",
        [](Bench &b) {
            b.relist(widgets({"a@15#other", "b@2#u2"}), u"20"_s);
        },
        L({"-a@1?", "+a@15", "~b@2>b@2"}), L({"a@15", "b@2"}));
    row("an empty relist", [](Bench &b) { b.relist({}, u"20"_s); }, L({"-a@1?", "-b@2?"}), {});
    row(
        "duplicates within a list: each tells once, the last stays",
        [](Bench &b) {
            b.relist(widgets({"a@1#u1", "b@2#u2", "c@5", "c@6"}), u"20"_s);
        },
        L({"~a@1>a@1", "~b@2>b@2", "+c@5", "~c@5>c@6"}), L({"a@1", "b@2", "c@6"}));
}

void tst_SharedInformer::notifications()
{
    QFETCH(const Script, script);
    QFETCH(QStringList, heard);
    Bench bench;
    bench.sync({"a@1#u1", "b@2#u2"}, u"10"_s);
    script(bench);
    QStringList told = bench.heard();
    if (told.size() > 1 && told.front().endsWith(u'?')) { // deletions come in any order
        told.sort();
        heard.sort();
    }
    QCOMPARE(told, heard);
    QTEST(stored(*bench.informer->store()), "stored");
}

void tst_SharedInformer::stories_data()
{
    QTest::addColumn<Script>("story");
    QTest::newRow("the initial list") << Script(initialList);
    QTest::newRow("T19: a streaming list") << Script(t19_streamingList);
    QTest::newRow("T20: gone before the marker") << Script(t20_goneBeforeTheMarker);
    QTest::newRow("T51: deletions and the store's version") << Script(t51_versionOfDeletions);
    QTest::newRow("4.6: levels of synced") << Script(levelsOfSynced);
    QTest::newRow("I-13: a handler before synced") << Script(i13_handlerBeforeSynced);
    QTest::newRow("I-16: a listener that leaves") << Script(listenerThatLeavesInItsCallback);
    QTest::newRow("Q-24: order within a relist") << Script(q24_orderWithinARelist);
    QTest::newRow("T45: the store first, then the handlers") << Script(t45_storeFirst);
    QTest::newRow("I-11: a late listener") << Script(i11_lateListener);
    QTest::newRow("I-14: removed, once and again") << Script(i14_removed);
    QTest::newRow("T63: a stopped informer") << Script(t63_stopped);
    QTest::newRow("I-4: before the start") << Script(lifeCycle);
    QTest::newRow("T53: an index added later") << Script(addedIndexers);
    QTest::newRow("Q-21: changes that take long to store") << Script(q21_slowProcessing);
    QTest::newRow("B14: a relist from the past") << Script(b14_relistFromThePast);
}

void tst_SharedInformer::stories()
{
    QFETCH(const Script, story);
    Bench bench;
    story(bench);
}

void tst_SharedInformer::handOver_data()
{
    QTest::addColumn<bool>("isBehind"); // the wider informer, at first
    QTest::newRow("the wider one is as far") << false;
    QTest::newRow("the wider one is behind: it waits until it is not") << true;
}

void tst_SharedInformer::handOver()
{
    QFETCH(const bool, isBehind);
    Bench narrow;
    narrow.sync({"n/same@1#1", "n/changes@2#2", "n/goes@3#3", "n/other@4#4"}, u"100"_s);
    Bench wide;
    wide.sync({"n/same@1#1", "n/changes@2#2", "n/goes@3#3", "n/other@4#4", "m/far@5#5"},
        isBehind ? u"50"_s : u"100"_s);
    int moved = 0;
    wide.informer->adopt(narrow.informer->handOver(), [&](InformerListener &) {
        ++moved;
        return true;
    });
    QCOMPARE(moved, isBehind ? 0 : 1);
    narrow.listener->heard.removeAll(u"+m/far@5"_s); // a view filters it
    QCOMPARE(narrow.heard(), QStringList());
    narrow.send({happened(Type::Added, widget(u"n/late@101"))});
    QCOMPARE(narrow.heard(), QStringList()); // it listens elsewhere now

    wide.send({happened(Type::Modified, widget(u"n/changes@98#2")),
        happened(Type::Deleted, widget(u"n/goes@99#3")),
        happened(Type::Modified, widget(u"n/other@101#44"))});
    QCOMPARE(moved, 1);
    narrow.listener->heard.removeAll(u"+m/far@5"_s);
    if (isBehind) { // these came before it moved: it hears the difference
        QCOMPARE(narrow.listener->takeSorted(),
            L({"+n/other@101", "-n/goes@3?", "-n/other@4?", "~n/changes@2>n/changes@98"}));
    } else {
        QCOMPARE(narrow.heard(),
            L({"~n/changes@2>n/changes@98", "-n/goes@99", "-n/other@4?", "+n/other@101"}));
    }
    wide.send({happened(Type::Modified, widget(u"n/same@102#1"))});
    QCOMPARE(narrow.heard(), L({"~n/same@1>n/same@102"}));
    QCOMPARE(wide.listener->heard.count(u"~n/same@1>n/same@102"_s), 1);
}

void tst_SharedInformer::differential_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 1; seed <= 20; ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

// A model of the server changes at random; the watch loses its way at random. At the end the store
// equals the model, and so does what a handler made of what it was told.
// NOLINTNEXTLINE(readability-function-size): one run of two implementations
void tst_SharedInformer::differential()
{
    QFETCH(const int, seed);
    std::mt19937 random{quint32(seed)};
    const auto pick = [&](int n) { return int(random() % quint32(n)); };
    struct Replay final : InformerListener
    {
        std::map<QString, Object> known;
        QStringList complaints;
        void onEvents(const std::vector<InformerEvent> &events, bool) override
        {
            for (const InformerEvent &e : events) {
                const QString key = toString(e.object.key());
                const bool has = known.contains(key);
                if (e.kind == InformerEvent::Kind::Added) {
                    if (has)
                        complaints += u"added twice: "_s + text(e.object);
                    known[key] = e.object;
                } else if (e.kind == InformerEvent::Kind::Updated) {
                    if (!has || known[key] != e.before || known[key].uid() != e.object.uid())
                        complaints += u"updated from elsewhere: "_s + text(e.object);
                    else if (e.object.resourceVersion().toInt()
                        < known[key].resourceVersion().toInt())
                        complaints += u"went back: "_s + text(e.object);
                    known[key] = e.object;
                } else {
                    if (has && known[key].uid() != e.object.uid())
                        complaints += u"deleted another: "_s + text(e.object);
                    known.erase(key);
                }
            }
        }
        void onSynced() override { }
    };
    Bench bench;
    const auto replay = std::make_shared<Replay>();
    std::map<QString, Object> model;
    int version = 10;
    int uids = 0;
    std::vector<codec::WatchEvent> unsent;
    const auto change = [&] {
        const QString name = QStringLiteral("n%1/o%2").arg(pick(3)).arg(pick(8));
        ++version;
        const bool isThere = model.contains(name);
        const QString uid = isThere ? model[name].uid() : QString::number(++uids);
        const Object next = widget(QStringLiteral("%1@%2#%3").arg(name).arg(version).arg(uid));
        if (isThere && pick(3) == 0) {
            model.erase(name);
            unsent.push_back(happened(Type::Deleted, next));
        } else {
            model[name] = next;
            unsent.push_back(happened(isThere ? Type::Modified : Type::Added, next));
        }
    };
    const auto all = [&] {
        std::vector<Object> items;
        for (const auto &[key, object] : model)
            items.push_back(object);
        std::shuffle(items.begin(), items.end(), random);
        return items;
    };
    for (int i = 0; i < 10; ++i)
        change();
    unsent.clear();
    bench.make();
    QVERIFY(bench.informer->addListener(replay).isOk());
    bench.informer->start();
    bench.run();
    bench.source->answerList(all(), QString::number(version));
    bench.run();
    bench.source->open();
    for (int step = 0; step < 400; ++step) {
        for (int n = pick(5); n >= 0; --n)
            change();
        switch (pick(8)) {
        case 0: // events are lost: relist
            unsent.clear();
            bench.relist(all(), QString::number(version));
            break;
        case 1: // reopened from the last version
            bench.send(std::exchange(unsent, {}));
            bench.clock.advance(2s, &bench.executor);
            bench.source->end(error(ErrorCode::ConnectionLost));
            bench.run();
            bench.source->open();
            break;
        case 2: // some come again, as from another server
            bench.send(unsent);
            bench.send(std::exchange(unsent, {}));
            break;
        default:
            bench.send(std::exchange(unsent, {}));
        }
        QVERIFY2(replay->complaints.isEmpty(), qPrintable(replay->complaints.join(u'\n')));
    }
    bench.send(std::exchange(unsent, {}));
    QStringList want;
    for (const auto &[key, object] : model)
        want += text(object);
    want.sort();
    QCOMPARE(stored(*bench.informer->store()), want);
    QStringList replayed;
    for (const auto &[key, object] : replay->known)
        replayed += text(object);
    replayed.sort();
    QCOMPARE(replayed, want);
}

QTEST_GUILESS_MAIN(tst_SharedInformer)
#include "tst_sharedinformer.moc"
