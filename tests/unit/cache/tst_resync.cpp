// Equal-version updates: which handler gets them, and when. Rules I-5 to I-8.
#include "informerbench.h"

using namespace fakes;
using namespace davit::cache;
using Bench = InformerBench;
using Script = InformerScript;

namespace {

void t56_resyncPeriods(Bench &bench)
{
    bench.options.resyncPeriod = 12h;
    SharedInformer &informer = bench.make();
    std::vector<std::shared_ptr<RecordingListener>> listeners;
    const std::chrono::nanoseconds asked[] = {0s, 1min, 55s, 5s};
    const std::chrono::nanoseconds check[] = {12h, 1min, 55s, 5s};
    for (int i = 0; i < 4; ++i) {
        listeners.push_back(std::make_shared<RecordingListener>());
        QVERIFY(informer.addListener(listeners.back(), asked[i]).isOk());
        QCOMPARE(informer.resyncCheckPeriod(), check[i]);
    }
    for (int i = 0; i < 4; ++i)
        QCOMPARE(informer.effectiveResync(listeners[std::size_t(i)].get()), asked[i]);
    const auto hasty = std::make_shared<RecordingListener>();
    QVERIFY(informer.addListener(hasty, 10ms).isOk()); // at least a second
    QCOMPARE(informer.effectiveResync(hasty.get()), std::chrono::nanoseconds(1s));
}

void t57_resyncAfterStart(Bench &bench)
{
    bench.options.resyncPeriod = 12h;
    SharedInformer &informer = bench.make();
    const auto first = std::make_shared<RecordingListener>();
    QVERIFY(informer.addListener(first, 55s).isOk());
    informer.start();
    const auto late = std::make_shared<RecordingListener>();
    QVERIFY(informer.addListener(late, 5s).isOk());
    QCOMPARE(informer.effectiveResync(late.get()), std::chrono::nanoseconds(55s));
    QCOMPARE(informer.resyncCheckPeriod(), std::chrono::nanoseconds(55s));
}

void t58_noResync(Bench &bench)
{
    SharedInformer &informer = bench.make();
    QVERIFY(informer.addListener(bench.listener, 10s).isOk());
    QCOMPARE(informer.effectiveResync(bench.listener.get()), std::chrono::nanoseconds(0));
    bench.sync({"a@1"}, u"10"_s);
    bench.clock.advance(1h, &bench.executor);
    QCOMPARE(bench.heard(), QStringList());
}

void t59_dueHandlers(Bench &bench)
{
    bench.options.resyncPeriod = 1s;
    SharedInformer &informer = bench.make();
    std::shared_ptr<RecordingListener> handlers[3];
    for (int i = 0; i < 3; ++i) {
        handlers[i] = std::make_shared<RecordingListener>();
        QVERIFY(informer.addListener(handlers[i], std::array{0s, 2s, 3s}[std::size_t(i)]).isOk());
    }
    bench.sync({"a@1"}, u"10"_s);
    const auto advance = [&] {
        for (const auto &handler : handlers)
            handler->heard.clear();
        bench.clock.advance(1s, &bench.executor);
        bench.run();
    };
    advance();
    advance();
    QCOMPARE(handlers[0]->heard, QStringList());
    QCOMPARE(handlers[1]->heard, L({"~a@1>a@1"}));
    QCOMPARE(handlers[2]->heard, QStringList());
    advance();
    QCOMPARE(handlers[0]->heard, QStringList());
    QCOMPARE(handlers[1]->heard, QStringList());
    QCOMPARE(handlers[2]->heard, L({"~a@1>a@1"}));
}

void b35_longestPeriod(Bench &bench)
{
    bench.options.resyncPeriod = std::chrono::nanoseconds::max();
    bench.options.resyncCheckPeriod = 1s;
    bench.clock.advance(1h);
    bench.sync({"a@1"}, u"10"_s);
    bench.clock.advance(1min, &bench.executor);
    QCOMPARE(bench.heard(), QStringList());
}

void i10_resyncOverAnOutage(Bench &bench)
{
    bench.options.resyncPeriod = 1s;
    SharedInformer &informer = bench.make();
    const auto without = std::make_shared<RecordingListener>();
    const auto with = std::make_shared<RecordingListener>();
    QVERIFY(informer.addListener(without, 0s).isOk());
    QVERIFY(informer.addListener(with, 1s).isOk());
    bench.sync({"pod1@1", "pod2@2"}, u"10"_s);
    bench.clock.advance(1s, &bench.executor);
    bench.run();
    without->heard.clear();
    with->heard.clear();
    bench.relist(widgets({"pod1@1", "pod2@15", "pod3@16"}), u"20"_s);
    QCOMPARE(without->heard, L({"~pod2@2>pod2@15", "+pod3@16"}));
    QVERIFY(with->heard.contains(u"~pod1@1>pod1@1"_s));
    QVERIFY(with->heard.contains(u"~pod2@2>pod2@15"_s));
    QVERIFY(with->heard.contains(u"+pod3@16"_s));
}

// I-8: before the first tick everybody is in; a period of 0 is out after it.
void i8_membership(Bench &bench)
{
    bench.options.resyncPeriod = 10s;
    SharedInformer &informer = bench.make();
    const auto never = std::make_shared<RecordingListener>();
    QVERIFY(informer.addListener(never, 0s).isOk());
    bench.sync({"a@1"}, u"10"_s);
    never->heard.clear();
    bench.relist(
        widgets({"a@1"}), u"20"_s); // its wait of 40 s holds ticks back: no watch, no timer
    QCOMPARE(never->heard, L({"~a@1>a@1"}));
    never->heard.clear();
    bench.heard();
    bench.clock.advance(10s, &bench.executor);
    bench.run();
    QCOMPARE(bench.heard(), L({"~a@1>a@1"}));
    QCOMPARE(never->heard, QStringList());
    bench.relist(widgets({"a@1"}), u"30"_s);
    QCOMPARE(never->heard, QStringList()); // from now on
}

// T65, I-8: with resync off a handler stays in for ever.
void t65_equalVersionsOnEachRelist(Bench &bench)
{
    bench.sync({"a@1"}, u"10"_s);
    for (const char16_t *version : {u"20", u"30"}) {
        bench.relist(widgets({"a@1"}), QString::fromUtf16(version));
        QCOMPARE(bench.heard(), L({"~a@1>a@1"}));
    }
}

// I-7: what is changed is told to everybody, in the same breath as what is not to the due ones.
void i7_onlyEqualVersionsAreSync(Bench &bench)
{
    bench.options.resyncPeriod = 5s;
    SharedInformer &informer = bench.make();
    const auto never = std::make_shared<RecordingListener>();
    QVERIFY(informer.addListener(never, 0s).isOk());
    bench.sync({"a@1", "b@2"}, u"10"_s);
    bench.clock.advance(5s, &bench.executor);
    bench.run();
    QCOMPARE(bench.listener->takeSorted(), L({"~a@1>a@1", "~b@2>b@2"}));
    never->heard.clear();
    bench.relist(widgets({"a@1", "b@12"}), u"20"_s);
    QCOMPARE(never->heard, L({"~b@2>b@12"}));
}

// A resync tells nothing of an empty store, and stops with the informer.
void nothingToResync(Bench &bench)
{
    bench.options.resyncPeriod = 5s;
    bench.sync({}, u"10"_s);
    bench.clock.advance(20s, &bench.executor);
    bench.run();
    QCOMPARE(bench.heard(), QStringList());
    bench.informer->stop();
    QCOMPARE(bench.clock.pendingTimers(), 0);
}

} // namespace

class tst_Resync : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void stories_data();
    void stories();
};

void tst_Resync::stories_data()
{
    QTest::addColumn<Script>("story");
    QTest::newRow("T56: periods before the start") << Script(t56_resyncPeriods);
    QTest::newRow("T57: a period after the start") << Script(t57_resyncAfterStart);
    QTest::newRow("T58: an informer without resync") << Script(t58_noResync);
    QTest::newRow("T59: only those that are due") << Script(t59_dueHandlers);
    QTest::newRow("I-8: who is in") << Script(i8_membership);
    QTest::newRow("T65: equal versions on each relist") << Script(t65_equalVersionsOnEachRelist);
    QTest::newRow("I-7: what counts as sync") << Script(i7_onlyEqualVersionsAreSync);
    QTest::newRow("B35, I-6: the longest period") << Script(b35_longestPeriod);
    QTest::newRow("nothing to resync") << Script(nothingToResync);
    QTest::newRow("I-10: over an outage") << Script(i10_resyncOverAnOutage);
}

void tst_Resync::stories()
{
    QFETCH(const Script, story);
    Bench bench;
    story(bench);
}

QTEST_GUILESS_MAIN(tst_Resync)
#include "tst_resync.moc"
