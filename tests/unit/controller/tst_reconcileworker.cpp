// What a reconcile's answer does to its key.
#include "fakehost.h"

#include <davit/controllerbuilder.h>

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

using namespace davit;
using namespace davit::controller;
using namespace davit::workqueue;
using namespace std::chrono_literals;

namespace {

const WorkKey kX{{QStringLiteral("apps"), QStringLiteral("x")}, QString()};

// One worker, one key; each run answers the next of the results, then done.
struct Runs : ControllerFixture
{
    std::mutex mutex;
    std::deque<ReconcileResult> results;
    std::vector<std::chrono::nanoseconds> times;
    std::vector<int> priorities;

    Runs(std::initializer_list<ReconcileResult> answers, std::chrono::milliseconds timeout = 0ms)
        : results(answers)
    {
        ControllerBuilder builder(host.context(), QStringLiteral("copies"));
        const Status status = builder.watches(kWidget).reconcileTimeout(timeout).reconcileWith(
            reconciler([this](const ReconcileRequest &request, ReconcileContext &) {
                return run(request);
            }));
        if (!status.isOk())
            qFatal("%s", qPrintable(status.error().message()));
        synced();
    }
    ~Runs() { stop(); }

    ReconcileResult run(const ReconcileRequest &request)
    {
        const std::lock_guard lock(mutex);
        times.push_back(clock.monotonic());
        priorities.push_back(request.priority());
        if (results.empty())
            return ReconcileResult::done();
        const ReconcileResult next = results.front();
        results.pop_front();
        return next;
    }
    void start(int priority = 0)
    {
        AddOptions options;
        options.priority = priority;
        queue().add(kX, options);
        settle();
    }
    // Goes on to the next timer; how long that was. Negative when there is none.
    std::chrono::nanoseconds toNextRun()
    {
        const auto wait = clock.untilNextTimer();
        if (!wait)
            return -1ns;
        advance(*wait);
        return *wait;
    }
};

const Error kOops(ErrorCode::InternalError, QStringLiteral("oops"));

std::shared_ptr<support::Permit> makePermit(const support::TimeSource &time)
{
    return std::make_shared<support::Permit>(time, QStringLiteral("not the leader"));
}

std::unique_ptr<Reconciler> done()
{
    return reconciler(
        [](const ReconcileRequest &, ReconcileContext &) { return ReconcileResult::done(); });
}

} // namespace

class tst_ReconcileWorker : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void standsByUntilItLeads_data();
    void standsByUntilItLeads();
    void reconcilesOnlyWithPermit_data();
    void reconcilesOnlyWithPermit();
    void failuresBackOff();
    void retryAfterOfTheServer_data();
    void retryAfterOfTheServer();
    void terminal();
    void thrownIsTold();
    void requeueAfter();
    void priorities();
    void b36_goodRunsForget();
    void timeOut();
    void changedMeanwhile();
};

// Warm standby: sources sync and the queue fills, whichever comes first.
void tst_ReconcileWorker::standsByUntilItLeads_data()
{
    QTest::addColumn<QByteArray>("order"); // Start, Lead, Sync
    QTest::newRow("M-11 warm, then leads") << QByteArray("SYL");
    QTest::newRow("leads, then syncs") << QByteArray("SLY");
    QTest::newRow("a controller that starts when it leads") << QByteArray("LSY");
}

void tst_ReconcileWorker::standsByUntilItLeads()
{
    QFETCH(const QByteArray, order);
    ControllerFixture f(makePermit);
    for (const char step : order) {
        f.executor.runAll();
        QCOMPARE(f.observer.began(), 0);
        QCOMPARE(f.observer.workers(), 0);
        if (step == 'S') {
            QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                        .watches(kWidget)
                        .workers(2)
                        .reconcileWith(done())
                        .isOk());
            f.added(widget(QStringLiteral("a")), true);
            QCOMPARE(f.queue().length(), 1);
        } else if (step == 'Y') {
            f.synced();
        } else {
            QVERIFY(f.permit->extend(10s));
            f.runtime.lead();
            f.runtime.lead(); // only the first counts
        }
    }
    f.settle();
    QCOMPARE(f.observer.workers(), 2);
    QCOMPARE(f.observer.began(), 1);
}

// B45: no reconcile starts when the lease has run out, whoever has noticed; the key is not lost.
void tst_ReconcileWorker::reconcilesOnlyWithPermit_data()
{
    QTest::addColumn<bool>("isGuarded");
    QTest::addColumn<int>("began");
    QTest::addColumn<int>("queued"); // afterwards
    QTest::newRow("B45 the lease has run out") << true << 1 << 1;
    QTest::newRow("the guard taken out: it is seen") << false << 2 << 0;
}

void tst_ReconcileWorker::reconcilesOnlyWithPermit()
{
    QFETCH(const bool, isGuarded);
    ControllerFixture f(isGuarded ? makePermit : nullptr);
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .workers(1)
                .reconcileWith(done())
                .isOk());
    f.synced();
    if (f.permit) {
        QVERIFY(f.permit->extend(10s));
        f.runtime.lead();
    }
    f.added(widget(QStringLiteral("a")));
    f.settle();
    QCOMPARE(f.observer.began(), 1);
    f.clock.advance(10s);
    f.added(widget(QStringLiteral("b")));
    if (!isGuarded)
        f.settle();
    QCOMPARE(f.stop(), QStringList()); // the worker has ended by itself or does now
    QTEST(f.observer.began(), "began");
    QTEST(int(f.queue().length()), "queued");
}

void tst_ReconcileWorker::failuresBackOff() // T102
{
    Runs runs({ReconcileResult::failed(kOops), ReconcileResult::failed(kOops),
        ReconcileResult::failed(kOops)});
    runs.start();
    QVERIFY(runs.toNextRun() == 5ms);
    QCOMPARE(runs.queue().requeues(kX), 2);
    QVERIFY(runs.toNextRun() == 10ms);
    QVERIFY(runs.toNextRun() == 20ms);
    QVERIFY(runs.toNextRun() < 0ns);
    QCOMPARE(runs.times.size(), size_t(4));
    QCOMPARE(runs.queue().requeues(kX), 0);
    const auto reports = runs.observer.reports();
    QCOMPARE(reports.size(), size_t(4));
    QVERIFY(reports[2].outcome == Outcome::Error && !reports[2].isTerminal);
    QVERIFY(reports[3].outcome == Outcome::Success);
}

void tst_ReconcileWorker::retryAfterOfTheServer_data() // C-17
{
    QTest::addColumn<std::chrono::milliseconds>("retryAfter");
    QTest::addColumn<std::chrono::milliseconds>("delay"); // of the second retry
    QTest::newRow("longer than the back-off") << 3000ms << 3000ms;
    QTest::newRow("shorter than the back-off") << 1ms << 10ms;
    QTest::newRow("none named") << -1ms << 10ms;
}

void tst_ReconcileWorker::retryAfterOfTheServer()
{
    QFETCH(const std::chrono::milliseconds, retryAfter);
    QFETCH(const std::chrono::milliseconds, delay);
    const Error busy
        = Error(ErrorCode::TooManyRequests, QStringLiteral("busy")).withRetryAfter(retryAfter);
    Runs runs({ReconcileResult::failed(kOops), ReconcileResult::failed(busy)});
    runs.start();
    QVERIFY(runs.toNextRun() == 5ms);
    QCOMPARE(runs.queue().requeues(kX), 2);
    QVERIFY(runs.toNextRun() == delay);
    QCOMPARE(runs.queue().requeues(kX), 0);
}

void tst_ReconcileWorker::terminal() // T103, M-5
{
    Runs runs({ReconcileResult::failed(kOops), ReconcileResult::terminal(kOops)});
    runs.start();
    QVERIFY(runs.toNextRun() == 5ms);
    QVERIFY(runs.toNextRun() < 0ns);
    QCOMPARE(runs.queue().requeues(kX), 1); // its history is not forgotten
    const auto reports = runs.observer.reports();
    QCOMPARE(reports.size(), size_t(2));
    QVERIFY(reports[1].outcome == Outcome::Error && reports[1].isTerminal);
}

// What it threw is told elsewhere; here, of which object and which attempt.
void tst_ReconcileWorker::thrownIsTold()
{
    ControllerFixture f;
    QVERIFY(ControllerBuilder(f.host.context(), QStringLiteral("copies"))
                .watches(kWidget)
                .reconcileWith(reconciler([](const ReconcileRequest &,
                                              ReconcileContext &) -> ReconcileResult { throw 7; }))
                .isOk());
    f.synced();
    f.queue().add(kX, AddOptions());
    f.settle();
    const QStringList lines = f.host.logLines().filter(QStringLiteral("reconcile failed"));
    QCOMPARE(lines.size(), 1);
    QVERIFY2(lines.first().startsWith(
                 QStringLiteral("plugin.replicator: reconcile failed controller=copies "
                                "namespace=apps name=x reconcileID="))
            && lines.first().endsWith(QStringLiteral(" error=the reconciler threw")),
        qPrintable(lines.first()));
}

void tst_ReconcileWorker::requeueAfter() // T104
{
    Runs runs({ReconcileResult::failed(kOops), ReconcileResult::requeueAfter(1s)});
    runs.start();
    QVERIFY(runs.toNextRun() == 5ms);
    QCOMPARE(runs.queue().requeues(kX), 0);
    QVERIFY(runs.toNextRun() == 1s);
    QVERIFY(runs.observer.reports()[1].outcome == Outcome::RequeueAfter);
}

void tst_ReconcileWorker::priorities() // T105, M-4
{
    Runs runs({ReconcileResult::failed(kOops), ReconcileResult::failed(kOops).withPriority(7),
        ReconcileResult::requeueAfter(1s)});
    runs.start(-100);
    runs.toNextRun();
    runs.toNextRun();
    runs.toNextRun();
    QCOMPARE(runs.priorities, (std::vector<int>{-100, -100, 7, 7}));
}

void tst_ReconcileWorker::b36_goodRunsForget() // B36-timeline.json
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B36-timeline.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonArray steps
        = QJsonDocument::fromJson(file.readAll()).object()[QStringLiteral("steps")].toArray();
    QCOMPARE(steps.size(), 9);
    Runs runs({});
    for (const auto &step : steps) {
        const QString result = step[QStringLiteral("result")].toString();
        runs.results.push_back(result == QStringLiteral("error") ? ReconcileResult::failed(kOops)
                : result == QStringLiteral("ok")                 ? ReconcileResult::done()
                                                 : ReconcileResult::requeueAfter(10s));
    }
    const std::chrono::nanoseconds wanted[] = {5ms, 10ms, 10s, 5ms, -1ns, 5ms, 10s, 10s, 5ms};
    runs.start();
    for (size_t run = 0; run < 9; ++run) {
        if (run == 4 || run == 6)
            QCOMPARE(runs.queue().requeues(kX), 0); // the table of failures is empty
        const std::chrono::nanoseconds delay = runs.toNextRun();
        QVERIFY2(delay == wanted[run], qPrintable(QString::number(run + 1)));
        if (run == 4)
            runs.start();
    }
    QCOMPARE(runs.times.size(), size_t(10));
}

void tst_ReconcileWorker::timeOut()
{
    Runs runs({}, 100ms);
    std::atomic<std::chrono::nanoseconds::rep> deadline{0};
    runs.stop();
    ControllerBuilder builder(runs.host.context(), QStringLiteral("copies"));
    QVERIFY(builder.watches(kWidget)
                .reconcileTimeout(100ms)
                .reconcileWith(
                    reconciler([&](const ReconcileRequest &request, ReconcileContext &context) {
                        deadline = (context.deadline() - runs.clock.monotonic()).count();
                        runs.clock.advance(
                            request.key().name == QStringLiteral("slow") ? 101ms : 100ms);
                        return ReconcileResult::done();
                    }))
                .isOk());
    runs.synced(1);
    for (const char *name : {"quick", "slow"}) {
        runs.queue().add({{QString(), QString::fromLatin1(name)}, QString()});
        runs.settle();
    }
    QCOMPARE(deadline.load(), std::chrono::nanoseconds(100ms).count());
    const auto reports = runs.observer.reports();
    QCOMPARE(reports.size(), size_t(2));
    QVERIFY(!reports[0].hasTimedOut);
    QVERIFY(reports[1].hasTimedOut);
    QVERIFY(reports[1].duration == 101ms);
}

void tst_ReconcileWorker::changedMeanwhile() // W-1
{
    ControllerFixture f;
    std::atomic<int> count{0};
    ControllerBuilder builder(f.host.context(), QStringLiteral("copies"));
    QVERIFY(builder.watches(kWidget)
                .reconcileWith(reconciler([&](const ReconcileRequest &, ReconcileContext &) {
                    if (++count == 1) { // the object changes while it is reconciled, twice
                        f.queue().add(kX);
                        f.queue().add(kX);
                    }
                    return ReconcileResult::done();
                }))
                .isOk());
    f.synced();
    f.queue().add(kX);
    f.settle();
    QCOMPARE(count.load(), 2);
}

QTEST_GUILESS_MAIN(tst_ReconcileWorker)
#include "tst_reconcileworker.moc"
