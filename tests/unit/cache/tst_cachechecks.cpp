// The two debugging aids: is what came what the server lists (1.8), is what is cached still what
// came (4.7, B30).
#include "informerbench.h"

using namespace fakes;
using namespace davit::cache;

namespace {

// A fill that is checked: the list has come, and where its version can be asked for it is.
void listAndAskAgain(InformerBench &bench, const QString &version)
{
    bench.options.reflector.checksConsistency = true;
    bench.make().start();
    bench.run();
    bench.source->answerList(widgets({"a@1"}), version);
    bench.run();
}

} // namespace

class tst_CacheChecks : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void consistency_data();
    void consistency();
    void askedAgain();
    void notAskedFor_data();
    void notAskedFor();
    void newerFillReplacesTheQuestion();
    void offByDefault();
    void intact();
    void b30_damagedMemory();
};

void tst_CacheChecks::consistency_data()
{
    QTest::addColumn<QStringList>("streamed");
    QTest::addColumn<QStringList>("listed");
    QTest::addColumn<QStringList>("differences");
    QTest::newRow("equal, in another order")
        << L({"n/a@1#u1", "n/b@2#u2"}) << L({"n/b@2#u2", "n/a@1#u1"}) << QStringList();
    QTest::newRow("both empty") << QStringList() << QStringList() << QStringList();
    QTest::newRow("one is missing") << L({"n/a@1#u1"}) << L({"n/a@1#u1", "n/b@2#u2"})
                                    << L({"n/b is in the list but did not come"});
    QTest::newRow("one too many") << L({"n/a@1#u1", "n/b@2#u2"}) << L({"n/a@1#u1"})
                                  << L({"n/b came but is not in the list"});
    QTest::newRow("another state")
        << L({"n/a@1#u1"}) << L({"n/a@2#u1"}) << L({"n/a came otherwise than it is in the list"});
    QTest::newRow("another uid under the name")
        << L({"n/a@1#u1"}) << L({"n/a@1#u2"})
        << L({"n/a came but is not in the list", "n/a is in the list but did not come"});
    QTest::newRow("no uids: by key")
        << L({"n/a@1"}) << L({"n/a@1", "n/b@1"}) << L({"n/b is in the list but did not come"});
}

void tst_CacheChecks::consistency()
{
    QFETCH(const QStringList, streamed);
    QFETCH(const QStringList, listed);
    QFETCH(const QStringList, differences);
    InformerBench bench;
    bench.options.reflector.initialSync = InitialSync::WatchList;
    bench.options.reflector.checksConsistency = true;
    int transformed = 0;
    bench.options.transform = [&](Object *) {
        ++transformed;
        return Status::ok();
    };
    bench.make().start();
    bench.run();
    const auto stream = bench.source->calls.back();
    stream->watch->onWatchOpened();
    std::vector<codec::WatchEvent> events;
    for (const QString &one : streamed)
        events.push_back(happened(Type::Added, widget(one)));
    events.push_back(bookmark(u"10"_s, true));
    stream->watch->onWatchEvents(std::move(events), 100);
    bench.run();
    QCOMPARE(bench.source->lastRequest(), u"LIST rv=10"_s);
    QCOMPARE(bench.source->last().options.resourceVersionMatch, u"Exact"_s);
    QVERIFY(stream->isAlive); // the watch goes on beside it

    std::vector<Object> items;
    for (const QString &one : listed)
        items.push_back(widget(one));
    transformed = 0;
    bench.source->answerList(std::move(items), u"10"_s);
    bench.run();
    QCOMPARE(transformed, listed.size()); // and the other side before
    const ReflectorState state = bench.informer->reflectorState();
    QCOMPARE(state.comparisons, 1u);
    QCOMPARE(qsizetype(state.differences), differences.size());
    QCOMPARE(bench.lines.seen.filter(u"|first="_s + differences.join(u", "_s)).size(),
        differences.isEmpty() ? 0 : 1);
}

void tst_CacheChecks::askedAgain()
{
    InformerBench bench;
    listAndAskAgain(bench, u"10"_s);
    QCOMPARE(bench.source->requests(), L({"LIST rv=0 limit=500", "LIST rv=10", "WATCH rv=10"}));
    for (int asked = 1; asked <= 3; ++asked) { // the second call is the watch's
        const auto question = *std::find_if(bench.source->calls.rbegin(),
            bench.source->calls.rend(), [](const auto &call) { return call->list; });
        QVERIFY(question->isAlive);
        question->list->onListFinished(error(ErrorCode::ServiceUnavailable), {});
        bench.clock.advance(999ms, &bench.executor);
        bench.run();
        QCOMPARE(bench.source->count(u"LIST rv=10"_s), asked);
        bench.clock.advance(1ms, &bench.executor);
        bench.run();
        QCOMPARE(bench.source->count(u"LIST rv=10"_s), asked + 1);
    }
    bench.source->answerList(widgets({"a@1"}), u"10"_s);
    bench.run();
    QCOMPARE(bench.informer->reflectorState().comparisons, 1u);
    QCOMPARE(bench.informer->reflectorState().failedRounds, 0u);
}

void tst_CacheChecks::notAskedFor_data()
{
    QTest::addColumn<QString>("version");
    QTest::newRow("version 0") << "0";
    QTest::newRow("no version") << "";
}

void tst_CacheChecks::notAskedFor()
{
    QFETCH(const QString, version);
    InformerBench bench;
    listAndAskAgain(bench, version);
    QCOMPARE(bench.source->count(u"LIST"_s), 1);
}

void tst_CacheChecks::newerFillReplacesTheQuestion()
{
    InformerBench bench;
    listAndAskAgain(bench, u"10"_s);
    const auto question = bench.source->calls[1];
    QVERIFY(question->isAlive);
    bench.source->openAndSend({errorEvent(ErrorCode::Expired)});
    bench.clock.advance(1s, &bench.executor);
    bench.run();
    bench.source->answerList(widgets({"b@11"}), u"20"_s);
    bench.run();
    QVERIFY(!question->isAlive);
    const auto second = bench.source->calls[bench.source->calls.size() - 2];
    second->list->onListItems(widgets({"b@11"}), 10);
    second->list->onListFinished({}, {u"20"_s, {}, 0});
    bench.run();
    QCOMPARE(bench.informer->reflectorState().comparisons, 1u);
    QCOMPARE(bench.informer->reflectorState().differences, 0u);
}

void tst_CacheChecks::offByDefault()
{
    InformerBench bench;
    bench.sync({"a@1"}, u"10"_s);
    QCOMPARE(bench.source->requests(), L({"LIST rv=0 limit=500", "WATCH rv=10"}));
    bench.clock.advance(1min, &bench.executor);
    bench.run();
    QCOMPARE(bench.informer->damagedObjects(), 0u);
}

void tst_CacheChecks::intact()
{
    const Object object = widget(u"apps/a@1", R"({"a-label-that-is-long":"shared-with-others"})");
    QVERIFY(priv::isIntact(object));
    QVERIFY(priv::isIntact(Object()));
    priv::flipBitForTest(object);
    QVERIFY(!priv::isIntact(object));
    priv::flipBitForTest(object);
    QVERIFY(priv::isIntact(object));
}

void tst_CacheChecks::b30_damagedMemory()
{
    InformerBench bench;
    bench.options.mutationCheckPeriod = 1s;
    bench.sync({"apps/a@1", "apps/web@2"}, u"10"_s);
    bench.clock.advance(10s, &bench.executor);
    bench.run();
    QCOMPARE(bench.informer->damagedObjects(), 0u);
    const Object web = bench.informer->store()->snapshot()->objects.find({u"apps"_s, u"web"_s});
    priv::flipBitForTest(web);
    bench.clock.advance(1s, &bench.executor);
    bench.run();
    QCOMPARE(bench.informer->damagedObjects(), 1u);
    const QStringList told{QStringLiteral(
        "1|cache|the memory of a cached object was written to; a plugin has a stray pointer"
        "|resource=demo.example/v1 Widget|object=apps/web")};
    QCOMPARE(bench.lines.seen, told);
    bench.clock.advance(10s, &bench.executor); // told once
    bench.run();
    QCOMPARE(bench.informer->damagedObjects(), 1u);
    QCOMPARE(bench.lines.seen, told);
    priv::flipBitForTest(web);
    bench.informer->stop();
    QCOMPARE(bench.clock.pendingTimers(), 0);
}

QTEST_GUILESS_MAIN(tst_CacheChecks)
#include "tst_cachechecks.moc"
