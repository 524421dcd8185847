// Readers that wait for the cache: what wakes them, what they wait for, how it ends. The waits that
// are woken run on a thread of their own; the test's thread is the informers' strand.
#include "factorybench.h"

#include <cache/runninginformer.h>
#include <cache/viewlister.h>

#include <future>

using namespace fakes;
using namespace davit::cache;
using Bench = FactoryBench;
using Outcome = priv::OwnWrite::Outcome;

namespace {

// Long enough for any machine; a wake-up that is lost ends as StaleCache.
Consistency patient(Consistency consistency)
{
    return consistency.timeout(1min);
}

Consistency look(Consistency consistency)
{
    return consistency.timeout(0ms);
}

void note(const std::shared_ptr<OwnWrites> &own, const Object &object)
{
    own->note(
        {Outcome::Stands, kWidget, object.key(), object.resourceVersion(), object.uid(), object});
}

WatchScope inNamespace(const QString &name)
{
    return {kWidget, name, {}, {}, false};
}

// Informers on the test's executor, and a lister of one part.
struct Rig
{
    testing::ManualExecutor executor;
    testing::ManualClock clock;
    std::map<RunningInformer *, ScriptedSource *> sources;
    std::shared_ptr<OwnWrites> own = std::make_shared<OwnWrites>();
    std::shared_ptr<RunningInformer> narrow = informer(inNamespace(u"n"_s));
    std::shared_ptr<RunningInformer> wide = informer(inNamespace(QString()));
    std::shared_ptr<ViewPart> part = std::make_shared<ViewPart>(inNamespace(u"n"_s), nullptr);
    Lister lister{
        *new ViewLister(kWidget, u"1"_s, {part}, ViewLister::Ownership::Shared, {own, {}})};

    Rig()
    {
        attach(*part);
        executor.runAll();
    }
    ~Rig()
    {
        part->close();
        for (const std::shared_ptr<RunningInformer> &running : {narrow, wide})
            running->informer().stop();
        executor.runAll();
    }
    void attach(ViewPart &view)
    {
        view.attach(narrow, RunningInformer::expect(narrow, inNamespace(u"n"_s)), {});
    }
    std::shared_ptr<RunningInformer> informer(const WatchScope &scope)
    {
        auto running = std::make_shared<RunningInformer>(scope, executor);
        auto source = std::make_unique<ScriptedSource>();
        sources[running.get()] = source.get();
        SharedInformerOptions options;
        options.reflector.name = scope.toText();
        options.reflector.expectedGvk = kWidget;
        options.reflector.initialSync = InitialSync::List;
        running->setUp(std::move(source), clock, options);
        running->informer().start();
        executor.runAll();
        return running;
    }
    void list(const std::shared_ptr<RunningInformer> &from, Texts items, const QString &version)
    {
        sources[from.get()]->answerList(widgets(items), version);
        executor.runAll();
        sources[from.get()]->open();
    }
    void send(const std::shared_ptr<RunningInformer> &from, const codec::WatchEvent &event)
    {
        sources[from.get()]->send({event});
        executor.runAll();
    }
    std::future<Status> waiting(const Consistency &consistency) const
    {
        return std::async(std::launch::async,
            [reader = lister, consistency] { return reader.waitFor(consistency); });
    }
};

// What happens while a reader waits for its write of n/a@20; the cache has n/a@5 at version 10.
const std::map<QString, std::function<void(Rig &)>> kHappenings{
    {u"its event"_s, [](Rig &r) { r.send(r.narrow, happened(Type::Modified, widget(u"n/a@20"))); }},
    {u"a later event of the object"_s,
        [](Rig &r) { r.send(r.narrow, happened(Type::Modified, widget(u"n/a@21"))); }},
    {u"a later event of another object"_s,
        [](Rig &r) { r.send(r.narrow, happened(Type::Added, widget(u"n/b@21"))); }},
    {u"a bookmark"_s, [](Rig &r) { r.send(r.narrow, bookmark(u"20"_s)); }},
    {u"other news first"_s,
        [](Rig &r) {
            r.send(r.narrow, happened(Type::Added, widget(u"n/b@15")));
            r.send(r.narrow, bookmark(u"19"_s));
            r.send(r.narrow, happened(Type::Modified, widget(u"n/a@20")));
        }},
    {u"the move to a wider informer"_s,
        [](Rig &r) {
            r.list(r.wide, {"n/a@20", "m/c@9"}, u"22"_s);
            r.narrow->setSuccessor(r.wide);
            r.executor.runAll();
        }},
    {u"its event on the wider one, which was behind"_s,
        [](Rig &r) {
            r.list(r.wide, {"n/a@5"}, u"8"_s);
            r.narrow->setSuccessor(r.wide);
            r.executor.runAll();
            r.send(r.wide, happened(Type::Modified, widget(u"n/a@20")));
        }},
    {u"the end of the view"_s, [](Rig &r) { r.part->close(); }},
    {u"the end of the informer"_s, [](Rig &r) { r.narrow->informer().stop(); }},
    {u"the end of the wider one before the move"_s,
        [](Rig &r) {
            r.list(r.wide, {"n/a@5"}, u"8"_s);
            r.narrow->setSuccessor(r.wide);
            r.executor.runAll();
            r.wide->informer().stop();
        }},
    {u"a move to an informer that has stopped"_s,
        [](Rig &r) {
            r.wide->informer().stop();
            r.narrow->setSuccessor(r.wide);
            r.executor.runAll();
        }},
};

} // namespace

class tst_ConsistencyWait : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void woken_data();
    void woken();
    void noReadGoesBack();
    void wokenByTheFirstList();
    void nothingIsMissed();
    void looks_data();
    void looks();
    void manyWrites();
    void staleUntilWaitedFor();
    void neverListens();
    void partsOfTwoNamespaces();
    void observed();
    void snapshotsAreLetGo();
};

void tst_ConsistencyWait::woken_data()
{
    QTest::addColumn<QString>("happening");
    QTest::addColumn<ErrorCode>("code");
    for (const auto &[name, happening] : kHappenings) {
        const bool isEnd = name.contains(u" end "_s) || name.contains(u"stopped"_s);
        QTest::newRow(qPrintable(name)) << name << (isEnd ? ErrorCode::Canceled : ErrorCode::Unset);
    }
}

void tst_ConsistencyWait::woken()
{
    QFETCH(const QString, happening);
    Rig rig;
    rig.list(rig.narrow, {"n/a@5"}, u"10"_s);
    note(rig.own, widget(u"n/a@20"));
    std::future<Status> wait = rig.waiting(patient(Consistency::ownWrites()));
    QTRY_COMPARE(rig.part->waiters(), 1); // on its thread by now
    kHappenings.at(happening)(rig);
    const Error error = wait.get().error();
    QTEST(error.code(), "code");
    if (error.isError())
        QCOMPARE(error.message(),
            u"wait for the cache of demo.example/v1 Widget in n: own write of n/a at version 20 "
            u"did "
            "not come before the view was closed; the cache is at version 10"_s);
}

// What was read once is read until the wider informer has come as far.
void tst_ConsistencyWait::noReadGoesBack()
{
    Rig rig;
    const ObjectKey key{u"n"_s, u"a"_s};
    rig.list(rig.narrow, {"n/a@5"}, u"10"_s);
    rig.send(rig.narrow, happened(Type::Modified, widget(u"n/a@20")));
    rig.list(rig.wide, {"n/a@5"}, u"8"_s);
    rig.narrow->setSuccessor(rig.wide);
    rig.executor.runAll();
    QVERIFY(!rig.sources[rig.narrow.get()]->calls.back()->isAlive); // nothing new shows there
    QCOMPARE(text(rig.lister.find(key)), u"n/a@20"_s);
    rig.send(rig.wide, bookmark(u"12"_s));
    QCOMPARE(text(rig.lister.find(key)), u"n/a@20"_s);
    rig.send(rig.wide, happened(Type::Modified, widget(u"n/a@21")));
    QCOMPARE(text(rig.lister.find(key)), u"n/a@21"_s);
}

void tst_ConsistencyWait::wokenByTheFirstList()
{
    Rig rig;
    QCOMPARE(rig.lister.waitFor(look(Consistency::ownWrites())).error().message(),
        u"wait for the cache of demo.example/v1 Widget in n: the first list did not come within "
        "0 s; the cache has not synced"_s);
    std::future<Status> wait = rig.waiting(patient(Consistency::ownWrites()));
    QTRY_COMPARE(rig.part->waiters(), 1); // on its thread by now
    rig.list(rig.narrow, {"n/a@5"}, u"10"_s);
    QVERIFY(wait.get().isOk());
    QVERIFY(rig.lister.hasSynced());
}

// A reader that always waits for the next version, beside a strand that never waits for it.
void tst_ConsistencyWait::nothingIsMissed()
{
    constexpr int kVersions = 2000;
    Rig rig;
    rig.list(rig.narrow, {"n/a@10"}, u"10"_s);
    std::future<int> reader = std::async(std::launch::async, [lister = rig.lister] {
        for (int version = 11; version <= kVersions; ++version) {
            const Consistency wanted = Consistency::notOlderThan(QString::number(version));
            if (!lister.waitFor(patient(wanted)).isOk())
                return version;
            if (lister.find({u"n"_s, u"a"_s}).resourceVersion().toInt() < version - 1)
                return -version; // bookmarks are every second version
        }
        return 0;
    });
    for (int version = 11; version <= kVersions; ++version) {
        rig.send(rig.narrow,
            version % 2 ? bookmark(QString::number(version))
                        : happened(Type::Modified, widget(QStringLiteral("n/a@%1").arg(version))));
    }
    QCOMPARE(reader.get(), 0);
}

void tst_ConsistencyWait::looks_data()
{
    QTest::addColumn<QStringList>("written");
    QTest::addColumn<QString>("version"); // empty: own writes
    QTest::addColumn<QString>("missed"); // empty: nothing, it shows
    const auto row = [](const char *name, Texts written, const char *version, const char *missed) {
        QTest::newRow(name) << L(written) << QString::fromLatin1(version)
                            << QString::fromLatin1(missed);
    };
    row("nothing was written", {}, "", "");
    row("a write that shows", {"n/a@5"}, "", "");
    row("a write that does not", {"n/a@20"}, "", "own write of n/a at version 20");
    row("two of three", {"n/b@20", "n/a@5", "n/c@21"}, "",
        "own write of n/b at version 20 and 1 more");
    row("a write in another namespace", {"m/c@20"}, "", "");
    row("the version of the cache", {"n/a@20"}, "10", "");
    row("an older one", {}, "9", "");
    row("a later one", {}, "11", "version 11");
}

void tst_ConsistencyWait::looks()
{
    QFETCH(const QStringList, written);
    QFETCH(const QString, version);
    QFETCH(const QString, missed);
    Rig rig;
    rig.list(rig.narrow, {"n/a@5"}, u"10"_s);
    for (const QString &one : written)
        note(rig.own, widget(one));
    const Status status = rig.lister.waitFor(
        look(version.isEmpty() ? Consistency::ownWrites() : Consistency::notOlderThan(version)));
    QCOMPARE(status.error().code(), missed.isEmpty() ? ErrorCode::Unset : ErrorCode::StaleCache);
    if (!missed.isEmpty())
        QCOMPARE(status.error().message(),
            u"wait for the cache of demo.example/v1 Widget in n: %1 did not come within 0 s; the "
            "cache is at version 10"_s.arg(missed));
}

// What is not remembered by key any more is a version to come to.
void tst_ConsistencyWait::manyWrites()
{
    Rig rig;
    rig.list(rig.narrow, {"n/a@5"}, u"10"_s);
    note(rig.own, widget(u"n/first@20"));
    for (int i = 0; i < OwnWrites::kMaxKeys; ++i)
        note(rig.own, widget(QStringLiteral("n/o%1@9").arg(i)));
    const Error error = rig.lister.waitFor(look(Consistency::ownWrites())).error();
    QCOMPARE(error.code(), ErrorCode::StaleCache);
    QVERIFY2(error.message().contains(u"own writes up to version 20 did not come"_s),
        qPrintable(error.message()));
    rig.send(rig.narrow, bookmark(u"20"_s));
    QVERIFY(rig.lister.waitFor(look(Consistency::ownWrites())).isOk());
}

void tst_ConsistencyWait::staleUntilWaitedFor()
{
    Rig rig;
    rig.list(rig.narrow, {"n/a@5"}, u"10"_s);
    note(rig.own, widget(u"n/a@20"));
    const ObjectKey key{u"n"_s, u"a"_s};
    QCOMPARE(text(rig.lister.find(key)), u"n/a@5"_s);
    QCOMPARE(text(rig.lister.find(key, Consistency::any()).value()), u"n/a@5"_s);
    QCOMPARE(rig.lister.find(key, Consistency::ownWrites().timeout(1ms)).error().code(),
        ErrorCode::StaleCache);
    rig.send(rig.narrow, happened(Type::Modified, widget(u"n/a@20")));
    const Lister copy = rig.lister;
    QCOMPARE(text(copy.find(key, Consistency::ownWrites()).value()), u"n/a@20"_s);
    const Consistency endless = Consistency::ownWrites().timeout(std::chrono::milliseconds::max());
    QCOMPARE(text(copy.find(key, endless).value()), u"n/a@20"_s);
    QCOMPARE(texts(copy.list(Consistency::ownWrites()).value()), L({"n/a@20"}));
}

void tst_ConsistencyWait::neverListens()
{
    Rig rig;
    rig.narrow->informer().stop();
    const auto late = std::make_shared<ViewPart>(inNamespace(u"n"_s), nullptr);
    rig.attach(*late);
    rig.executor.runAll();
    const Lister lister(
        *new ViewLister(kWidget, u"2"_s, {late}, ViewLister::Ownership::Owned, {rig.own, {}}));
    QCOMPARE(lister.waitFor(patient(Consistency::ownWrites())).error().code(), ErrorCode::Canceled);
}

void tst_ConsistencyWait::partsOfTwoNamespaces()
{
    Bench bench;
    const auto own = std::make_shared<OwnWrites>();
    priv::ListerBackend *backend = nullptr;
    const InformerRequest both = everything().inNamespaces(L({"n", "m"}));
    QVERIFY(bench.factory->makeLister(kWidgets, both, &backend, own).isOk());
    const Lister lister(*backend);
    bench.run();
    bench.list(u"in n"_s, widgets({"n/a@5"}), u"10"_s);
    bench.list(u"in m"_s, widgets({"m/c@6"}), u"20"_s);
    note(own, widget(u"m/c@19"));
    QVERIFY(lister.waitFor(look(Consistency::ownWrites())).isOk()); // n is not concerned
    note(own, widget(u"n/a@11"));
    const Error error = lister.waitFor(look(Consistency::ownWrites())).error();
    QCOMPARE(error.code(), ErrorCode::StaleCache);
    QVERIFY2(error.message().contains(u"Widget in n: "_s), qPrintable(error.message()));
    QVERIFY(!lister.waitFor(look(Consistency::notOlderThan(u"11"_s))).isOk()); // each part counts
    bench.send(u"in n"_s, {happened(Type::Modified, widget(u"n/a@11"))});
    QVERIFY(lister.waitFor(look(Consistency::ownWrites())).isOk());
    QVERIFY(lister.waitFor(look(Consistency::notOlderThan(u"11"_s))).isOk());
}

// Of informers and listers alike; any() is not counted.
void tst_ConsistencyWait::observed()
{
    QStringList waits;
    FactoryOptions options;
    options.onConsistencyWait = [&](QLatin1StringView operation, QLatin1StringView result,
                                    std::chrono::nanoseconds waited) {
        waits += operation + u' ' + result + (waited < 1min ? QString() : u" slow"_s);
    };
    Bench bench(true, options);
    const auto own = std::make_shared<OwnWrites>();
    std::unique_ptr<priv::InformerBackend> view;
    QVERIFY(
        bench.factory->makeInformer(kWidgets, in("n"), bench.faults, &view, u"p"_s, own).isOk());
    bench.run();
    bench.list(u"in n"_s, widgets({"n/a@5"}), u"10"_s);
    const Lister lister(view->lister());
    QVERIFY(lister.waitFor(Consistency::any()).isOk());
    QVERIFY(lister.waitFor(Consistency::ownWrites()).isOk());
    note(own, widget(u"n/a@11"));
    QVERIFY(!lister.waitFor(look(Consistency::ownWrites())).isOk());
    QVERIFY(lister.waitFor(Consistency::notOlderThan(u"10"_s)).isOk());
    view.reset();
    QVERIFY(!lister.waitFor(Consistency::notOlderThan(u"11"_s)).isOk());
    QCOMPARE(waits,
        L({"own_writes success", "own_writes timeout", "not_older_than success",
            "not_older_than error"}));
}

// Who waits does not pin what the cache has left behind.
void tst_ConsistencyWait::snapshotsAreLetGo()
{
    Rig rig;
    rig.list(rig.narrow, {"n/a@5"}, u"10"_s);
    std::future<Status> wait = rig.waiting(patient(Consistency::notOlderThan(u"20"_s)));
    QTRY_COMPARE(rig.part->waiters(), 1); // on its thread by now
    QCOMPARE(rig.narrow->informer().store()->heldSnapshots(), 1); // the store's own
    rig.send(rig.narrow, bookmark(u"20"_s));
    QVERIFY(wait.get().isOk());
}

QTEST_GUILESS_MAIN(tst_ConsistencyWait)
#include "tst_consistencywait.moc"
