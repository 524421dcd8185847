#include "host/queuemetrics.h"

#include <QTest>

using namespace davit;
using namespace davit::host;
using namespace std::chrono_literals;

class tst_QueueMetrics : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void counts();
    void manyPriorities();
};

void tst_QueueMetrics::counts()
{
    observability::MetricsRegistry registry;
    QueueMetrics metrics(registry);
    workqueue::QueueObserver *queue
        = metrics.observerFor(QStringLiteral("replicator"), QStringLiteral("secrets"));
    QVERIFY(registry.text().contains(
        "workqueue_adds_total{controller=\"secrets\",name=\"secrets\",plugin=\"replicator\"} 0\n"));
    queue->added();
    queue->depthChanged(0, 2);
    queue->depthChanged(0, 1);
    queue->depthChanged(-100, 5);
    queue->handedOut(50ms);
    queue->finished(2s);
    queue->retried();
    const QByteArray page = registry.text();
    const QByteArray labels = "controller=\"secrets\",name=\"secrets\",plugin=\"replicator\"";
    for (const QByteArray &line :
        {"workqueue_adds_total{" + labels + "} 1\n", "workqueue_retries_total{" + labels + "} 1\n",
            "workqueue_depth{" + labels + ",priority=\"0\"} 1\n",
            "workqueue_depth{" + labels + ",priority=\"-100\"} 5\n",
            "workqueue_queue_duration_seconds_sum{" + labels + "} 0.05\n",
            "workqueue_work_duration_seconds_bucket{" + labels + ",le=\"1\"} 0\n",
            "workqueue_work_duration_seconds_bucket{" + labels + ",le=\"10\"} 1\n"})
        QVERIFY2(page.contains(line), (line + page).constData());
    metrics.removePlugin(QStringLiteral("replicator"));
    QCOMPARE(registry.text(), QByteArray()); // B66
    queue->added(); // the queue's last moments are harmless
}

void tst_QueueMetrics::manyPriorities()
{
    observability::MetricsRegistry registry;
    QueueMetrics metrics(registry);
    workqueue::QueueObserver *queue = metrics.observerFor(QStringLiteral("p"), QStringLiteral("c"));
    for (int priority = 0; priority < 40; ++priority)
        queue->depthChanged(priority, 1);
    const QByteArray page = registry.text();
    QCOMPARE(page.count("\nworkqueue_depth{"), 26); // W-15
    QVERIFY(page.contains("priority=\"exceeded_cardinality_limit\"} 15\n"));
}

QTEST_GUILESS_MAIN(tst_QueueMetrics)
#include "tst_queuemetrics.moc"
