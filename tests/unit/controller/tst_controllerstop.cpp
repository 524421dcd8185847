// How the controllers of a plugin end.
#include "fakehost.h"

#include <davit/controllerbuilder.h>

#include <QSemaphore>
#include <QThread>

using namespace davit;
using namespace std::chrono_literals;

namespace {

// Tells on which thread it dies.
template <typename Base> class Mortal : public Base
{
public:
    explicit Mortal(QStringList &deaths, const char *name) : m_deaths(deaths), m_name(name) { }
    ~Mortal() override
    {
        const bool isHere = QThread::currentThread() == QCoreApplication::instance()->thread();
        m_deaths += QString::fromLatin1(m_name) + QLatin1StringView(isHere ? "" : " elsewhere");
    }

private:
    QStringList &m_deaths;
    const char *const m_name;
};

class MortalReconciler final : public Mortal<Reconciler>
{
public:
    using Mortal::Mortal;
    ReconcileResult reconcile(const ReconcileRequest &, ReconcileContext &) override
    {
        return ReconcileResult::done();
    }
};

class MortalMapper final : public Mortal<KeyMapper>
{
public:
    using Mortal::Mortal;
    QList<ObjectKey> keys(const Object &object) const override { return {object.key()}; }
};

class MortalFilter final : public Mortal<EventFilter>
{
public:
    using Mortal::Mortal;
    bool accepts(const ObjectEvent &) const override { return true; }
};

} // namespace

class tst_ControllerStop : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void stopWaitsForReconciles();
    void abandonedKeysAreNamed();
    void endsWhileStopping();
    void diesOnThePluginThread();
};

void tst_ControllerStop::stopWaitsForReconciles() // M-3
{
    ControllerFixture f;
    QSemaphore entered;
    std::atomic<bool> sawStop{false};
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .workers(2)
                .reconcileWith(reconciler([&](const ReconcileRequest &, ReconcileContext &context) {
                    entered.release();
                    while (!context.isStopping())
                        std::this_thread::yield();
                    sawStop = true;
                    return ReconcileResult::done();
                }))
                .isOk());
    f.synced();
    for (const char *name : {"a", "b", "c"})
        f.added(widget(QString::fromLatin1(name)));
    entered.acquire(2);
    QCOMPARE(f.stop(), QStringList());
    QVERIFY(sawStop);
    QCOMPARE(f.observer.reports().size(), size_t(2));
    QCOMPARE(f.queue().length(), 1); // the queue and the third key stay with the host
    f.runtime.forget(f.host.pluginId());
    QCOMPARE(f.queue().length(), 0);
}

void tst_ControllerStop::abandonedKeysAreNamed()
{
    // What is given up stays for ever, so all that its worker touches does too.
    static auto &f = *new ControllerFixture;
    static QSemaphore &entered = *new QSemaphore;
    static QSemaphore &never = *new QSemaphore;
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .workers(3)
                .reconcileWith(reconciler([](const ReconcileRequest &request, ReconcileContext &) {
                    if (request.key().name != QStringLiteral("quick")) {
                        entered.release();
                        never.acquire();
                    }
                    return ReconcileResult::done();
                }))
                .isOk());
    f.synced();
    for (const char *name : {"b", "a", "quick"})
        f.added(widget(QString::fromLatin1(name)));
    entered.acquire(2);
    f.settle(2); // "quick" has been and gone
    QCOMPARE(f.stop(30s),
        (QStringList{QStringLiteral("controller copies: apps/a"),
            QStringLiteral("controller copies: apps/b")}));
    never.release(2); // they return after all: nothing breaks
    f.settle();
}

// A stop that waits leaves no timer when the runtime ends: its executor may go with it.
void tst_ControllerStop::endsWhileStopping()
{
    // As above: the worker comes back late.
    static auto &f = *new ControllerFixture;
    static QSemaphore &entered = *new QSemaphore;
    static QSemaphore &never = *new QSemaphore;
    auto ending = std::make_unique<controller::ControllerRuntime>(
        controller::ControllerRuntime::Services{&f.clock, &f.executor, &f.queues, {}, {}, {}});
    f.host.use(*ending);
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .reconcileWith(reconciler([](const ReconcileRequest &, ReconcileContext &) {
                    entered.release();
                    never.acquire();
                    return ReconcileResult::done();
                }))
                .isOk());
    f.synced();
    f.added(widget(QStringLiteral("a")));
    entered.acquire();
    const int before = f.clock.pendingTimers();
    ending->stop(f.host.pluginId(), 30s, [](const QStringList &) {});
    f.executor.runAll();
    QCOMPARE(f.clock.pendingTimers(), before + 1);
    ending.reset();
    QCOMPARE(f.clock.pendingTimers(), before);
    never.release();
    f.host.use(f.runtime);
    f.host.dropPluginObjects();
}

void tst_ControllerStop::diesOnThePluginThread()
{
    QStringList deaths;
    ControllerFixture f;
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .where(Predicate(new MortalFilter(deaths, "filter")))
                .mapped(kConfigMap, new MortalMapper(deaths, "mapper"))
                .reconcileWith(std::make_unique<MortalReconciler>(deaths, "reconciler"))
                .isOk());
    f.synced(0);
    f.synced(1);
    f.added(widget(QStringLiteral("x")));
    f.settle();
    bool isDone = false;
    f.runtime.stop(f.host.pluginId(), -1ns, [&](const QStringList &) { isDone = true; });
    while (!isDone) {
        f.executor.runAll();
        std::this_thread::yield();
    }
    QCOMPARE(deaths, QStringList());
    f.host.dropPluginObjects();
    deaths.sort();
    QCOMPARE(deaths,
        (QStringList{
            QStringLiteral("filter"), QStringLiteral("mapper"), QStringLiteral("reconciler")}));
}

QTEST_GUILESS_MAIN(tst_ControllerStop)
#include "tst_controllerstop.moc"
