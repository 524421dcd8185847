#include "fakehost.h"

#include <davit/controllerbuilder.h>

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSemaphore>

using namespace davit;
using namespace davit::controller;
using namespace davit::workqueue;
using namespace std::chrono_literals;

namespace {

// Which keys were reconciled, in order.
class Seen
{
public:
    void add(const ReconcileRequest &request)
    {
        const std::lock_guard lock(m_mutex);
        m_lines += toString(request.key()) + QLatin1Char(' ') + QString::number(request.priority());
    }
    QStringList take()
    {
        const std::lock_guard lock(m_mutex);
        return std::exchange(m_lines, {});
    }

private:
    std::mutex m_mutex;
    QStringList m_lines;
};

std::unique_ptr<Reconciler> recorder(Seen &seen)
{
    return reconciler([&seen](const ReconcileRequest &request, ReconcileContext &) {
        seen.add(request);
        return ReconcileResult::done();
    });
}

class SameKey final : public KeyMapper
{
public:
    QList<ObjectKey> keys(const Object &object) const override { return {object.key()}; }
};

void nestedThrow(int depth)
{
    if (depth == 0)
        std::function<void()>([] { throw std::runtime_error("from a nested callback"); })();
    else
        nestedThrow(depth - 1);
}

} // namespace

class tst_Controller : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void t107_workersWaitForEverySource();
    void requestsOfTheSources();
    void eventsBecomeKeys();
    void ownersAreReconciled();
    void b41_echoOfTheOwnStatus_data();
    void b41_echoOfTheOwnStatus();
    void throwingPredicateAndMapper();
    void b40_poisonObjects();
    void context();
    void refused_data();
    void refused();
    void nextGenerationGoesOn();
    void stats();
    void neverTwoReconcilesForOneKey();
};

void tst_Controller::t107_workersWaitForEverySource() // M-1, T107
{
    ControllerFixture f;
    Seen seen;
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .mapped(kConfigMap, new SameKey)
                .workers(1)
                .reconcileWith(recorder(seen))
                .isOk());
    f.added(widget(QStringLiteral("a")), true);
    f.added(widget(QStringLiteral("b")), true);
    f.synced(0);
    QCOMPARE(f.queue().length(), 2);
    QCOMPARE(f.observer.workers(), 0);
    f.added(widget(QStringLiteral("live")));
    f.synced(0); // told twice: counts once
    QCOMPARE(f.queue().stats().processing, 0);
    f.synced(1);
    f.settle();
    QCOMPARE(f.observer.workers(), 1);
    QCOMPARE(seen.take(),
        (QStringList{QStringLiteral("apps/live 0"), QStringLiteral("apps/a -100"),
            QStringLiteral("apps/b -100")}));
}

void tst_Controller::requestsOfTheSources()
{
    ControllerFixture f;
    Seen seen;
    InformerRequest narrow(kConfigMap);
    narrow.inNamespaces({QStringLiteral("ops")})
        .withLabels(QStringLiteral("app=web"))
        .payload(Payload::Metadata);
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .owns(narrow)
                .reconcileWith(recorder(seen))
                .isOk());
    QCOMPARE(f.host.informerCount(), size_t(2));
    const InformerRequest asked = f.host.informer(1).request();
    QCOMPARE(asked.delivery(), priv::kLatestOfController);
    QCOMPARE(asked.payload(), Payload::Metadata);
    QCOMPARE(asked.namespaces(), QStringList{QStringLiteral("ops")});
    QCOMPARE(asked.labelSelector(), QStringLiteral("app=web"));
}

void tst_Controller::eventsBecomeKeys()
{
    ControllerFixture f;
    Seen seen;
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .where(predicates::resourceVersionChanged())
                .reconcileWith(recorder(seen))
                .isOk());
    f.synced();
    const Object old = widget(QStringLiteral("x"), 1);
    f.updated(old, old); // dropped by the predicate
    f.settle();
    QCOMPARE(seen.take(), QStringList());
    f.updated(old, widget(QStringLiteral("x"), 2));
    f.settle();
    f.deleted(old);
    f.settle();
    QCOMPARE(seen.take(), (QStringList{QStringLiteral("apps/x 0"), QStringLiteral("apps/x 0")}));
    f.deleted(Object()); // M-8
    f.settle();
    QCOMPARE(seen.take(), QStringList());
    QVERIFY(f.host.logLines().contains(
        QStringLiteral("plugin.replicator: an event without an object was dropped kind=")
        + toString(kWidget)));
}

void tst_Controller::ownersAreReconciled()
{
    ControllerFixture f;
    Seen seen;
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(Gvk{QStringLiteral("demo.example"), QStringLiteral("v1"),
                    QStringLiteral("Cluster")})
                .owns(kConfigMap)
                .reconcileWith(recorder(seen))
                .isOk());
    f.synced(0);
    f.synced(1);
    f.added(parsed(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":)"
                   R"("apps","ownerReferences":[{"apiVersion":"demo.example/v1","kind":"Cluster",)"
                   R"("name":"edge","uid":"u","controller":true}]}})"),
        false, 1);
    f.settle();
    QCOMPARE(seen.take(), QStringList{QStringLiteral("edge 0")}); // a kind at cluster scope
}

void tst_Controller::b41_echoOfTheOwnStatus_data() // B41-echo.ndjson
{
    QTest::addColumn<bool>("countsMetadata");
    QTest::addColumn<int>("runs");
    QTest::newRow("B41 generation filter") << false << 1;
    QTest::newRow("B41 labels and annotations count") << true << 2;
}

void tst_Controller::b41_echoOfTheOwnStatus()
{
    QFETCH(const bool, countsMetadata);
    ControllerFixture f;
    Seen seen;
    const Predicate wanted = countsMetadata ? predicates::generationChanged()
            || predicates::labelsChanged() || predicates::annotationsChanged()
                                            : predicates::generationChanged();
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .where(wanted)
                .reconcileWith(recorder(seen))
                .isOk());
    f.synced();
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B41-echo.ndjson"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    Object before;
    while (!file.atEnd()) {
        const Object event = parsed(file.readLine());
        const Object object = parsed(event[QLatin1StringView("object")].toJson());
        if (before.isNull())
            f.added(object);
        else
            f.updated(before, object);
        f.settle();
        before = object;
    }
    QTEST(int(seen.take().size()), "runs");
}

void tst_Controller::throwingPredicateAndMapper()
{
    ControllerFixture f;
    Seen seen;
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .where(Predicate::from([](const ObjectEvent &event) -> bool {
                    if (event.object.name() == QStringLiteral("bad"))
                        throw std::runtime_error("filter");
                    return false;
                }))
                .mappedBy(kConfigMap, [](const Object &) -> QList<ObjectKey> { throw 7; })
                .reconcileWith(recorder(seen))
                .isOk());
    f.synced(0);
    f.synced(1);
    f.added(widget(QStringLiteral("good")));
    f.added(widget(QStringLiteral("bad")));
    f.added(widget(QStringLiteral("c")), false, 1);
    f.settle();
    QCOMPARE(seen.take(), QStringList{QStringLiteral("apps/bad 0")}); // passes: no key is lost
    QCOMPARE(f.host.faultLog().lines(),
        (QStringList{QStringLiteral("predicate (demo.example/v1 Widget): filter"),
            QStringLiteral("key mapper (v1 ConfigMap): something that is no std::exception")}));
}

// NOLINTNEXTLINE(readability-function-size): one story
void tst_Controller::b40_poisonObjects() // B40-poison.json
{
    ControllerFixture f;
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B40-poison.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonArray objects
        = QJsonDocument::fromJson(file.readAll()).object()[QStringLiteral("objects")].toArray();
    std::mutex mutex;
    std::map<QString, qint64> sizes;
    std::map<QString, int> good;
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .workers(1)
                .reconcileWith(reconciler([&](const ReconcileRequest &request, ReconcileContext &) {
                    qint64 size = 0;
                    {
                        const std::lock_guard lock(mutex);
                        size = sizes[request.key().name];
                    }
                    if (size == 2)
                        throw std::bad_alloc();
                    if (size == 3)
                        throw 7;
                    if (size == 4)
                        nestedThrow(1000);
                    const std::lock_guard lock(mutex);
                    ++good[request.key().name];
                    return ReconcileResult::done();
                }))
                .isOk());
    for (const auto &json : objects) {
        const Object object = parsed(QJsonDocument(json.toObject()).toJson(QJsonDocument::Compact));
        sizes[object.name()] = object[QLatin1StringView("spec")][QLatin1StringView("size")].toInt();
        f.added(object, true);
    }
    f.synced();
    f.settle();
    QCOMPARE(
        good, (std::map<QString, int>{{QStringLiteral("p-0"), 1}, {QStringLiteral("p-1"), 1}}));
    QCOMPARE(f.host.faultLog().lines(),
        (QStringList{QStringLiteral("reconcile (copies apps/p-2): std::bad_alloc"),
            QStringLiteral("reconcile (copies apps/p-3): something that is no std::exception"),
            QStringLiteral("reconcile (copies apps/p-4): from a nested callback")}));
    for (const auto delay : {5ms, 10ms, 20ms}) { // each backs off, growing; no worker is lost
        QVERIFY(f.clock.untilNextTimer() == delay);
        f.advance(delay);
    }
    QCOMPARE(f.host.faultLog().lines().size(), 12);
    QCOMPARE(f.queue().stats().processing, 0);
    {
        const std::lock_guard lock(mutex);
        sizes[QStringLiteral("p-2")] = 9;
    }
    f.updated(widget(QStringLiteral("p-2")), widget(QStringLiteral("p-2"), 2));
    f.settle();
    QCOMPARE(good[QStringLiteral("p-2")], 1);
    int thrown = 0;
    for (const ReconcileReport &report : f.observer.reports())
        thrown += report.hasThrown && report.outcome == Outcome::Error;
    QCOMPARE(thrown, 12);
}

void tst_Controller::context()
{
    ControllerFixture f;
    std::mutex mutex;
    QStringList causes;
    QStringList ids;
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .reconcileWith(
                    reconciler([&](const ReconcileRequest &request, ReconcileContext &context) {
                        const std::lock_guard lock(mutex);
                        causes = context.causes();
                        ids += context.traceId();
                        context.log().info("hello", {{"more", 7}});
                        if (context.isStopping() || context.deadline() >= 0ns
                            || !request.clusterName().isEmpty())
                            causes = QStringList{QStringLiteral("wrong")};
                        return ids.size() == 1 ? ReconcileResult::failed(
                                   Error(ErrorCode::Conflict, QStringLiteral("update x: conflict")))
                                               : ReconcileResult::done();
                    }))
                .isOk());
    f.added(widget(QStringLiteral("x")));
    f.updated(widget(QStringLiteral("x"), 1), widget(QStringLiteral("x"), 2));
    f.synced();
    f.settle();
    QCOMPARE(causes,
        (QStringList{QStringLiteral("updated demo.example/v1 Widget apps/x"),
            QStringLiteral("added demo.example/v1 Widget apps/x")}));
    f.advance(5ms);
    QCOMPARE(causes, QStringList{QStringLiteral("retry 1")});
    QCOMPARE(ids.size(), 2);
    QVERIFY(ids[0] != ids[1] && ids[0].size() == 36);
    const QStringList lines = f.host.logLines();
    const QString fields = QStringLiteral(" controller=copies namespace=apps name=x reconcileID=");
    QVERIFY2(lines.contains(QStringLiteral("plugin.replicator: hello") + fields + ids[0]
                 + QStringLiteral(" more=7")),
        qPrintable(lines.join(u'\n')));
    QVERIFY(lines.contains(QStringLiteral("plugin.replicator: reconcile failed") + fields + ids[0]
        + QStringLiteral(" error=update x: conflict")));
}

void tst_Controller::refused_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("asksForUnknown");
    QTest::addColumn<ErrorCode>("code");
    QTest::addColumn<QString>("message");
    QTest::newRow("a name that is taken")
        << QStringLiteral("copies") << false << ErrorCode::InvalidArgument
        << QStringLiteral(
               "controller \"copies\": plugin \"replicator\" has one of that name already");
    QTest::newRow("a kind that is not declared")
        << QStringLiteral("other") << true << ErrorCode::UndeclaredResource
        << QStringLiteral("controller \"other\": the metadata does not name this kind");
}

void tst_Controller::refused()
{
    QFETCH(const QString, name);
    QFETCH(const bool, asksForUnknown);
    ControllerFixture f;
    Seen seen;
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .reconcileWith(recorder(seen))
                .isOk());
    const Gvk unknown{QString(), QStringLiteral("v1"), QStringLiteral("Unknown")};
    const Status status = ControllerBuilder(f.host.context(), name)
                              .watches(kWidget)
                              .owns(asksForUnknown ? unknown : kConfigMap)
                              .reconcileWith(recorder(seen));
    QTEST(status.error().code(), "code");
    QTEST(status.error().message(), "message");
    QCOMPARE(f.runtime.stats().size(), size_t(1)); // nothing of it stays
    QCOMPARE(f.host.informerParent()->findChildren<Informer *>().size(), 1);
}

void tst_Controller::nextGenerationGoesOn()
{
    ControllerFixture f;
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .reconcileWith(reconciler([](const ReconcileRequest &, ReconcileContext &) {
                    return ReconcileResult::failed(
                        Error(ErrorCode::Conflict, QStringLiteral("oops")));
                }))
                .isOk());
    f.synced(0);
    f.added(widget(QStringLiteral("x")));
    f.settle();
    f.advance(5ms);
    f.stop();
    QCOMPARE(f.queue().stats().waiting, 1);
    Seen seen;
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .reconcileWith(recorder(seen))
                .isOk());
    f.synced(1);
    f.settle();
    QCOMPARE(seen.take(), QStringList());
    QCOMPARE(f.queue().requeues({{QStringLiteral("apps"), QStringLiteral("x")}, QString()}), 2);
    f.advance(10ms); // the old one's delay
    QCOMPARE(seen.take(), QStringList{QStringLiteral("apps/x 0")});
}

void tst_Controller::stats()
{
    ControllerFixture f;
    QSemaphore entered;
    QSemaphore leave;
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .workers(2)
                .reconcileWith(reconciler([&](const ReconcileRequest &, ReconcileContext &) {
                    entered.release();
                    leave.acquire();
                    return ReconcileResult::done();
                }))
                .isOk());
    QVERIFY(!f.runtime.stats()[0].isRunning);
    f.synced();
    for (const char *name : {"a", "b", "c"})
        f.added(widget(QString::fromLatin1(name)));
    entered.acquire(2);
    const ControllerStats stats = f.runtime.stats()[0];
    QCOMPARE(stats.pluginId, QStringLiteral("replicator"));
    QCOMPARE(stats.controller, QStringLiteral("copies"));
    QVERIFY(stats.isRunning);
    QCOMPARE(stats.activeWorkers, 2);
    QCOMPARE(stats.workers, 2);
    QCOMPARE(stats.queue.ready, 1);
    leave.release(3);
    f.settle();
    QCOMPARE(f.runtime.stats()[0].reconciles, quint64(3));
}

void tst_Controller::neverTwoReconcilesForOneKey()
{
    ControllerFixture f;
    constexpr int kKeys = 6;
    std::array<std::atomic<int>, kKeys> inside{};
    std::atomic<int> overlaps{0};
    std::atomic<int> runs{0};
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .workers(4)
                .reconcileWith(reconciler([&](const ReconcileRequest &request, ReconcileContext &) {
                    std::atomic<int> &mine = inside[size_t(request.key().name.toInt())];
                    overlaps += mine.fetch_add(1);
                    std::this_thread::yield();
                    mine.fetch_sub(1);
                    if (++runs % 50 == 0)
                        throw std::runtime_error("now and then");
                    return ReconcileResult::done();
                }))
                .isOk());
    f.synced();
    for (int i = 0; i < 3000; ++i) {
        const QString name = QString::number(i % kKeys);
        f.updated(widget(name, i), widget(name, i + 1));
        f.clock.advance(1ms);
        f.executor.runAll();
    }
    f.settle();
    QCOMPARE(overlaps.load(), 0);
    QVERIFY(runs.load() >= kKeys);
    QCOMPARE(f.stop(), QStringList());
}

QTEST_GUILESS_MAIN(tst_Controller)
#include "tst_controller.moc"
