// What a factory is told when it is made, its start, its wait, and what it never does; two ends of
// it at a time. Rules F-1 to F-5.
#include "blockingcall.h"
#include "factorybench.h"

#include <semaphore>
#include <thread>

using namespace fakes;
using namespace davit::cache;
using Bench = FactoryBench;

class tst_FactoryOptions : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void t67_start_data();
    void t67_start();
    void f1_resyncPerKind();
    void ownResync_data();
    void ownResync();
    void ownResyncMoves();
    void f5_namespace_data();
    void f5_namespace();
    void f5_tweak();
    void f5_transform();
    void watchErrors();
    void processingEnds_data();
    void processingEnds();
    void f3_waitForSync_data();
    void f3_waitForSync();
    void f4_shutdownTwiceAtATime();
    void nothingUnasked();
};

// "Gadget", "Gadget in n": it is asked for.
void tst_FactoryOptions::t67_start_data()
{
    QTest::addColumn<QStringList>("steps");
    QTest::addColumn<QStringList>("begun"); // once for each time
    const auto row = [](const char *name, Texts steps, Texts begun) {
        QTest::newRow(name) << L(steps) << L(begun);
    };
    row("F-2: never started, nothing runs", {"Gadget", "Part"}, {});
    row("F-2: started once", {"Gadget", "Part", "start"}, {"Gadget", "Part"});
    row("F-2: two namespaces of one type", {"Part in m", "Part in n", "start", "start"},
        {"Part in m", "Part in n"});
    row("F-2: asked for after the start: runs at once", {"Gadget", "start", "Part"},
        {"Gadget", "Part"});
    row("T67: two types, one started earlier, each runs once", {"Gadget", "start", "Part", "start"},
        {"Gadget", "Part"});
    row("T67: started again after a third", {"Gadget", "start", "Part", "start", "Wheel", "start"},
        {"Gadget", "Part", "Wheel"});
    row("F-2: nothing after the end", {"Gadget", "shutdown", "start"}, {});
}

void tst_FactoryOptions::t67_start()
{
    QFETCH(const QStringList, steps);
    Bench bench(false);
    std::vector<std::unique_ptr<priv::InformerBackend>> views;
    for (const QString &step : steps) {
        if (step == u"start") {
            bench.factory->start();
        } else if (step == u"shutdown") {
            bench.factory->shutdown();
        } else {
            const QStringList asked = step.split(u" in "_s);
            const Gvk gvk{u"demo.example"_s, u"v1"_s, asked[0]};
            QVERIFY(bench.factory
                        ->makeInformer({gvk, asked[0].toLower() + u's', true},
                            InformerRequest(gvk).inNamespaces(asked.mid(1)), bench.faults,
                            &views.emplace_back())
                        .isOk());
        }
        bench.run();
    }
    QStringList begun; // no source has answered: each call is another beginning
    for (const auto &[scope, source] : bench.sources)
        begun.insert(begun.end(), qsizetype(source->calls.size()), scope);
    begun.replaceInStrings(u"demo.example/v1 "_s, QString());
    begun.sort();
    QTEST(begun, "begun");
}

void tst_FactoryOptions::f1_resyncPerKind()
{
    FactoryOptions options;
    options.resyncPeriod = 1h;
    options.resyncPeriodOf = [](const Gvk &gvk) {
        return gvk == kWidget ? std::chrono::nanoseconds(10s) : std::chrono::nanoseconds(-1);
    };
    Bench bench(true, options);
    PluginView view = bench.view(everything());
    bench.list({}, widgets({"n/a@1"}), u"10"_s);
    view.heard();
    bench.clock.advance(10s, &bench.executor);
    bench.run();
    QCOMPARE(view.heard(), L({"~n/a@1>n/a@1"}));
    bench.clock.advance(9s, &bench.executor);
    bench.run();
    QCOMPARE(view.heard(), QStringList());
}

// 4.2, by views that come one after the other.
void tst_FactoryOptions::ownResync_data()
{
    using Periods = QList<int>;
    QTest::addColumn<int>("byDefault"); // seconds
    QTest::addColumn<bool>("isStarted"); // before the views come
    QTest::addColumn<Periods>("asked"); // milliseconds; -1: nothing
    QTest::addColumn<Periods>("effective"); // seconds
    QTest::addColumn<QStringList>("warnings");
    const QString shorter
        = u"2|cache|a resync period is shorter than that of the watch that is shared"
          "|resource=demo.example/v1 Widget|askedSeconds=%1|periodSeconds=%2"_s;
    const QString useless
        = u"2|cache|a resync period has no effect, the watch that is shared has no resync"
          "|resource=demo.example/v1 Widget|askedSeconds=5"_s;
    QTest::newRow("nothing asked: the default")
        << 20 << true << Periods{-1} << Periods{20} << L({});
    QTest::newRow("0: none") << 20 << true << Periods{0, -1} << Periods{0, 20} << L({});
    QTest::newRow("I-5: before the start the shortest is checked")
        << 20 << false << Periods{0, 10000, 5000, -1} << Periods{0, 10, 5, 20} << L({});
    QTest::newRow("I-5: the first view of a running factory counts")
        << 20 << true << Periods{5000, 10000} << Periods{5, 10} << L({});
    QTest::newRow("4.2: after the start no shorter one")
        << 20 << true << Periods{-1, 5000} << Periods{20, 20}
        << QStringList{shorter.arg(5).arg(20)};
    QTest::newRow("longer than the default") << 5 << true << Periods{20000} << Periods{20} << L({});
    QTest::newRow("no default: the first view has its own, the others none")
        << 0 << true << Periods{5000, -1, 10000} << Periods{5, 0, 10} << L({});
    QTest::newRow("I-5: a watch without a resync gets none later")
        << 0 << true << Periods{-1, 5000} << Periods{0, 0} << QStringList{useless};
    QTest::newRow("4.2: at least a second")
        << 20 << true << Periods{10} << Periods{1}
        << QStringList{u"2|cache|a resync period below a second is taken as one second"
                       "|resource=demo.example/v1 Widget|askedSeconds=0.01"_s};
}

void tst_FactoryOptions::ownResync()
{
    QFETCH(const int, byDefault);
    QFETCH(const bool, isStarted);
    QFETCH(const QList<int>, asked);
    fake::Lines lines;
    FactoryOptions options;
    options.resyncPeriod = std::chrono::seconds(byDefault);
    options.log = Logger(lines, u"cache"_s);
    Bench bench(isStarted, options);
    std::vector<PluginView> views;
    for (const int milliseconds : asked)
        views.push_back(
            bench.view(everything().resyncPeriod(std::chrono::milliseconds(milliseconds))));
    bench.factory->start();
    bench.run();
    bench.list({}, widgets({"n/a@1"}), u"10"_s);
    for (PluginView &view : views)
        view.heard();
    QList<int> effective(asked.size(), 0);
    for (int second = 1; second <= 30; ++second) {
        bench.clock.advance(1s, &bench.executor);
        bench.run();
        for (qsizetype i = 0; i < asked.size(); ++i) {
            if (!views[std::size_t(i)].heard().isEmpty() && effective[i] == 0)
                effective[i] = second;
        }
    }
    QTEST(effective, "effective");
    QTEST(lines.seen, "warnings");
}

// A view that moves to a wider watch keeps the period it asked for, whatever that one checked.
void tst_FactoryOptions::ownResyncMoves()
{
    Bench bench;
    PluginView narrow = bench.view(in("n").resyncPeriod(5s));
    bench.list(u"in n"_s, widgets({"n/a@1"}), u"10"_s);
    PluginView wide = bench.view(everything());
    bench.list({}, widgets({"n/a@1", "m/b@2"}), u"20"_s);
    QCOMPARE(bench.running(), L({""}));
    narrow.heard();
    wide.heard();
    for (int i = 0; i < 2; ++i) {
        bench.clock.advance(4s, &bench.executor);
        bench.run();
        QCOMPARE(narrow.heard(), QStringList());
        bench.clock.advance(1s, &bench.executor);
        bench.run();
        QCOMPARE(narrow.heard(), L({"~n/a@1>n/a@1"}));
        QCOMPARE(wide.heard(), QStringList()); // asked for none
    }
}

void tst_FactoryOptions::f5_namespace_data()
{
    QTest::addColumn<QStringList>("asked");
    QTest::addColumn<bool>("isNamespaced");
    QTest::addColumn<QString>("scope"); // "-": refused
    QTest::newRow("all becomes the one") << QStringList() << true << "in n";
    QTest::newRow("the one") << L({"n"}) << true << "in n";
    QTest::newRow("another is refused") << L({"m"}) << true << "-";
    QTest::newRow("another beside the one is refused") << L({"n", "m"}) << true << "-";
    QTest::newRow("cluster scope is not touched") << QStringList() << false << "";
}

void tst_FactoryOptions::f5_namespace()
{
    QFETCH(const QStringList, asked);
    QFETCH(const bool, isNamespaced);
    QFETCH(const QString, scope);
    FactoryOptions options;
    options.namespaceName = u"n"_s;
    Bench bench(true, options);
    transport::Resource resource = kWidgets;
    resource.isNamespaced = isNamespaced;
    std::unique_ptr<priv::InformerBackend> backend;
    const Status status = bench.factory->makeInformer(
        resource, everything().inNamespaces(asked), bench.faults, &backend);
    bench.run();
    QCOMPARE(status.isOk(), scope != u"-");
    if (status.isOk()) {
        QCOMPARE(bench.running(), QStringList{scope});
    } else {
        QCOMPARE(status.error().code(), ErrorCode::InvalidArgument);
        QCOMPARE(status.error().message(),
            u"watch demo.example/v1 Widget in m: this cache is for the namespace n alone"_s);
        QVERIFY(bench.sources.empty());
    }
}

// Applied to LIST and WATCH alike, on the wire.
void tst_FactoryOptions::f5_tweak()
{
    class Targets final : public transport::Transport
    {
    public:
        QByteArrayList targets;
        transport::ResponseSink *sink = nullptr;
        std::unique_ptr<transport::Exchange> start(const transport::Request &request,
            support::Executor &, transport::ResponseSink &to) override
        {
            targets += request.target;
            sink = &to;
            return std::make_unique<transport::Exchange>();
        }
        QString serverName() const override { return u"nowhere"_s; }
    } wire;
    testing::ManualExecutor executor;
    testing::ManualClock clock;
    QThreadPool pool;
    Faults faults;
    FactoryOptions options;
    options.executor = &executor;
    options.initialSync = [](const Gvk &) { return InitialSync::List; };
    options.tweak = [](const Gvk &gvk, transport::ListOptions *list) {
        list->fieldSelector = u"metadata.name!="_s + gvk.kind.toLower();
    };
    SharedInformerFactory factory(wire, pool, clock, options);
    factory.start();
    std::unique_ptr<priv::InformerBackend> backend;
    QVERIFY(factory.makeInformer(kWidgets, green(), faults, &backend).isOk());
    executor.runAll();
    transport::ResponseHead head;
    head.httpStatus = 200;
    wire.sink->onHead(head);
    wire.sink->onBytes(R"({"kind":"WidgetList","apiVersion":"demo.example/v1","metadata":)"
                       R"({"resourceVersion":"7"},"items":[]})");
    wire.sink->onFinished({});
    executor.runAll();
    QCOMPARE(wire.targets.size(), 2);
    for (const QByteArray &target : std::as_const(wire.targets)) {
        QVERIFY2(target.contains("fieldSelector=metadata.name%21%3Dwidget"), target.constData());
        QVERIFY2(target.contains("labelSelector=colour%3Dgreen"), target.constData());
    }
    QVERIFY(wire.targets[1].contains("watch=true"));
    factory.shutdown();
    executor.runAll();
}

void tst_FactoryOptions::f5_transform()
{
    FactoryOptions options;
    options.transform = [](Object *object) {
        if (object->name() == u"b")
            *object = widget(u"n/b@2", {}, 22);
        return Status::ok();
    };
    Bench bench(true, options);
    PluginView view = bench.view(everything());
    bench.list({}, three(), u"10"_s);
    const Lister lister = view.lister();
    QCOMPARE(lister.find({u"n"_s, u"b"_s})["spec"_L1]["size"_L1].toInt(), 22);
    QCOMPARE(lister.find({u"n"_s, u"a"_s})["spec"_L1]["size"_L1].toInt(), 1);
}

// R-7 for whoever builds on the factory: who failed, and why.
void tst_FactoryOptions::watchErrors()
{
    QStringList told;
    FactoryOptions options;
    options.onWatchError = [&](const WatchScope &scope, const Error &error) {
        told += scope.toText() + u": "_s + error.message();
    };
    Bench bench(true, options);
    PluginView view = bench.view(in("n"));
    bench.source(u"in n"_s).failList(error(ErrorCode::Forbidden, u"no"_s));
    bench.run();
    QCOMPARE(told, L({"demo.example/v1 Widget in n: no"}));
    bench.clock.advance(2s, &bench.executor);
    bench.list(u"in n"_s, {}, u"10"_s);
    bench.clock.advance(2s, &bench.executor);
    bench.source(u"in n"_s).end(); // no failure
    bench.run();
    QCOMPARE(told.size(), 1);
}

// Who hears of a watch's batches is let go when that watch ends, so that its metrics can go (B66).
void tst_FactoryOptions::processingEnds_data()
{
    QTest::addColumn<QString>("end");
    QTest::addColumn<QStringList>("left");
    QTest::newRow("all run") << QString() << L({"", "in n"});
    QTest::newRow("the last view of one leaves") << u"view"_s << L({""});
    QTest::newRow("one moves to a wider watch") << u"synced"_s << L({""});
    QTest::newRow("all end while views live") << u"shutdown"_s << L({});
}

void tst_FactoryOptions::processingEnds()
{
    QFETCH(const QString, end);
    std::vector<std::pair<QString, std::weak_ptr<int>>> heard;
    FactoryOptions options;
    options.onProcessed = [&](const WatchScope &scope, const QString &) {
        const auto life = std::make_shared<int>(0);
        heard.emplace_back(scope.toText().remove(toString(kWidget)).trimmed(), life);
        return [life](std::chrono::nanoseconds) {};
    };
    Bench bench(true, options);
    PluginView narrow = bench.view(in("n"));
    bench.list(u"in n"_s, widgets({"n/a@1"}), u"10"_s);
    PluginView wide = bench.view(everything());
    if (end == u"view")
        narrow.backend.reset();
    else if (end == u"synced")
        bench.list({}, widgets({"n/a@1", "m/b@2"}), u"20"_s);
    else if (end == u"shutdown")
        bench.factory->shutdown();
    bench.run();
    QStringList left;
    for (const auto &[scope, life] : heard)
        if (!life.expired())
            left += scope;
    left.sort();
    QTEST(left, "left");
}

void tst_FactoryOptions::f3_waitForSync_data()
{
    QTest::addColumn<QStringList>("silent"); // namespaces whose list never comes
    QTest::addColumn<QStringList>("waiting");
    QTest::newRow("F-3: all have come") << QStringList() << QStringList();
    QTest::newRow("F-3: what has not is named, sorted")
        << L({"o", "n"}) << L({"demo.example/v1 Widget in n", "demo.example/v1 Widget in o"});
}

// On real strands: the wait is for news, not for a poll.
void tst_FactoryOptions::f3_waitForSync()
{
    QFETCH(const QStringList, silent);
    class Source final : public ListerWatcher
    {
    public:
        explicit Source(bool isSilent) : m_isSilent(isSilent) { }
        std::unique_ptr<Operation> list(
            const transport::ListOptions &, support::Executor &executor, ListSink &sink) override
        {
            if (!m_isSilent)
                executor.post([&sink] { sink.onListFinished({}, {u"5"_s, {}, 0}); });
            return std::make_unique<Operation>();
        }
        std::unique_ptr<Operation> watch(
            const transport::ListOptions &, support::Executor &, WatchSink &) override
        {
            return std::make_unique<Operation>();
        }
        bool supportsWatchList() const override { return false; }

    private:
        const bool m_isSilent;
    };
    QThreadPool pool;
    NoTransport nowhere;
    Faults faults;
    FactoryOptions options;
    options.source = [&](const WatchScope &scope) {
        return std::make_unique<Source>(silent.contains(scope.namespaceName));
    };
    SharedInformerFactory factory(nowhere, pool, support::systemTimeSource(), options);
    std::vector<std::unique_ptr<priv::InformerBackend>> views(3);
    int i = 0;
    for (const char *space : {"m", "n", "o"})
        QVERIFY(factory.makeInformer(kWidgets, in(space), faults, &views[std::size_t(i++)]).isOk());
    factory.start();
    QFETCH(const QStringList, waiting);
    if (waiting.isEmpty()) {
        QCOMPARE(factory.waitForSync(1min), waiting);
    } else {
        QTRY_COMPARE(factory.unsynced(), waiting); // the third one has come
        QCOMPARE(factory.waitForSync(1ms), waiting);
        std::thread ending([&] { factory.shutdown(); });
        factory.waitForSync(1min); // ends with the factory
        ending.join();
    }
}

// F-4: each call waits until the last informer has ended, the one that comes second, too.
void tst_FactoryOptions::f4_shutdownTwiceAtATime()
{
    // A watch whose end takes as long as the test says.
    class Slow final : public ListerWatcher
    {
    public:
        struct Ends final : Operation
        {
            explicit Ends(std::binary_semaphore &semaphore) : mayEnd(semaphore) { }
            ~Ends() override { mayEnd.acquire(); }
            std::binary_semaphore &mayEnd;
        };
        explicit Slow(std::binary_semaphore &mayEnd) : m_mayEnd(mayEnd) { }
        std::unique_ptr<Operation> list(
            const transport::ListOptions &, support::Executor &, ListSink &) override
        {
            return nullptr;
        }
        std::unique_ptr<Operation> watch(
            const transport::ListOptions &, support::Executor &, WatchSink &) override
        {
            return std::make_unique<Ends>(m_mayEnd);
        }

    private:
        std::binary_semaphore &m_mayEnd;
    };
    std::binary_semaphore mayEnd{0};
    QThreadPool pool;
    NoTransport nowhere;
    Faults faults;
    FactoryOptions options;
    options.source = [&](const WatchScope &) { return std::make_unique<Slow>(mayEnd); };
    SharedInformerFactory factory(nowhere, pool, support::systemTimeSource(), options);
    factory.start();
    std::unique_ptr<priv::InformerBackend> backend;
    QVERIFY(factory.makeInformer(kWidgets, everything(), faults, &backend).isOk());
    BlockingCall first([&] { factory.shutdown(); });
    const bool hasFirstBlocked = first.blocks();
    BlockingCall second([&] { factory.shutdown(); });
    const bool hasSecondBlocked = second.blocks();
    mayEnd.release();
    first.join();
    second.join();
    QVERIFY(hasFirstBlocked);
    QVERIFY(hasSecondBlocked);
}

// No kind, namespace or payload is fetched or kept that no plugin asked for.
void tst_FactoryOptions::nothingUnasked()
{
    Bench bench;
    QVERIFY(bench.sources.empty()); // a factory alone asks for nothing
    const quint64 blocks = priv::poolStats().liveBlocks;
    {
        PluginView view = bench.view(in("n").payload(Payload::Metadata));
        QCOMPARE(bench.running(), L({"in n (metadata)"}));
        bench.list(u"in n (metadata)"_s, {priv::metadataOnly(widget(u"n/a@1"))}, u"10"_s);
        QCOMPARE(bench.factory->states().front().objects, 1);
        bench.clock.advance(1h, &bench.executor);
        QCOMPARE(bench.sources.size(), 1u);
    }
    bench.run();
    QCOMPARE(bench.running(), QStringList()); // and nothing stays
    QCOMPARE(priv::poolStats().liveBlocks, blocks);
}

QTEST_GUILESS_MAIN(tst_FactoryOptions)
#include "tst_factoryoptions.moc"
