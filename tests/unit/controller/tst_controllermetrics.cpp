#include "controller/controllermetrics.h"

#include <QTest>

using namespace davit;
using namespace davit::controller;
using namespace std::chrono_literals;

class tst_ControllerMetrics : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void startsAtZero();
    void counts();
    void goesWithItsPlugin();
};

namespace {

const QString kPlugin = QStringLiteral("replicator");
const QString kName = QStringLiteral("copies");

QByteArray series(const char *name, const char *more = "")
{
    return QByteArray("\ncontroller_runtime_") + name
        + R"({controller="copies",plugin="replicator")" + more + "} ";
}

} // namespace

void tst_ControllerMetrics::startsAtZero() // 10.8
{
    observability::MetricsRegistry registry;
    ControllerMetrics metrics(registry);
    metrics.observerFor(kPlugin, kName)->started(3);
    const QByteArray text = registry.text();
    for (const char *result : {"success", "error", "requeue", "requeue_after"})
        QVERIFY2(text.contains(series("reconcile_total",
                                   (QByteArray(",result=\"") + result + '"').constData())
                     + '0'),
            result);
    for (const char *name :
        {"reconcile_errors_total", "terminal_reconcile_errors_total", "reconcile_panics_total",
            "reconcile_timeouts_total", "active_workers", "reconcile_time_seconds_count"})
        QVERIFY2(text.contains(series(name) + '0'), name);
    QVERIFY(text.contains(series("max_concurrent_reconciles") + '3'));
}

void tst_ControllerMetrics::counts()
{
    observability::MetricsRegistry registry;
    ControllerMetrics metrics(registry);
    ControllerObserver *observer = metrics.observerFor(kPlugin, kName);
    QCOMPARE(metrics.observerFor(kPlugin, kName), observer);
    for (int i = 0; i < 5; ++i)
        observer->reconcileBegan();
    QVERIFY(registry.text().contains(series("active_workers") + '5'));
    observer->reconcileEnded({Outcome::Success, 3ms, false, false, false});
    observer->reconcileEnded({Outcome::RequeueAfter, 3ms, false, false, true});
    observer->reconcileEnded({Outcome::Error, 3ms, false, false, false});
    observer->reconcileEnded({Outcome::Error, 3ms, true, false, false});
    observer->reconcileEnded({Outcome::Error, 70s, false, true, false});
    const QByteArray text = registry.text();
    const std::pair<QByteArray, int> wanted[]
        = {{series("reconcile_total", ",result=\"success\""), 1},
            {series("reconcile_total", ",result=\"requeue_after\""), 1},
            {series("reconcile_total", ",result=\"error\""), 3},
            {series("reconcile_errors_total"), 3}, {series("terminal_reconcile_errors_total"), 1},
            {series("reconcile_panics_total"), 1}, {series("reconcile_timeouts_total"), 1},
            {series("active_workers"), 0}, {series("reconcile_time_seconds_count"), 5},
            {series("reconcile_time_seconds_bucket", ",le=\"0.005\""), 4},
            {series("reconcile_time_seconds_bucket", ",le=\"60\""), 4}};
    for (const auto &[name, value] : wanted)
        QVERIFY2(text.contains(name + QByteArray::number(value)), text + name);
}

void tst_ControllerMetrics::goesWithItsPlugin()
{
    observability::MetricsRegistry registry;
    ControllerMetrics metrics(registry);
    ControllerObserver *observer = metrics.observerFor(kPlugin, kName);
    metrics.observerFor(QStringLiteral("other"), kName);
    metrics.removePlugin(kPlugin);
    observer->reconcileBegan(); // a worker that was given up may still come
    QVERIFY(!registry.text().contains(R"(plugin="replicator")"));
    QVERIFY(registry.text().contains(R"(plugin="other")"));
}

QTEST_GUILESS_MAIN(tst_ControllerMetrics)
#include "tst_controllermetrics.moc"
