#include "host/hostmetrics.h"
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
    void handlers();
    void faults();
    void informers();
    void endedInformers_data();
    void endedInformers();
};

// 4.7, S-2: the informer_* of client-go.
void tst_QueueMetrics::informers()
{
    observability::MetricsRegistry registry;
    cache::ResourceState state;
    state.scope.gvk = {QStringLiteral("apps"), QStringLiteral("v1"), QStringLiteral("Deployment")};
    state.plural = QStringLiteral("deployments");
    state.queueDepth = 7;
    state.storeVersion = QStringLiteral("99123456789012345"); // the last 15 digits count
    addCacheMetrics(registry, [&] { return std::vector<cache::ResourceState>{state}; });
    ProcessingMetrics processing(registry);
    const auto heard = processing.histogram(state.scope, state.plural);
    heard(3ms);
    const QByteArray labels
        = "group=\"apps\",name=\"apps/v1 Deployment\",resource=\"deployments\",version=\"v1\"";
    const QByteArray page = registry.text();
    for (const QByteArray &line : {"informer_queued_items{" + labels + "} 7\n",
             "informer_store_resource_version{" + labels + "} 123456789012345\n",
             "informer_processing_latency_seconds_count{" + labels + "} 1\n",
             "informer_processing_latency_seconds_sum{" + labels + "} 0.003\n"})
        QVERIFY2(page.contains(line), page.constData());
}

// B66: what a watch counted goes with the last informer on it.
void tst_QueueMetrics::endedInformers_data()
{
    QTest::addColumn<QStringList>("begun"); // kinds, in this order
    QTest::addColumn<QList<int>>("ended"); // their places
    QTest::addColumn<QStringList>("left"); // kinds with a series
    const QString pod = QStringLiteral("Pod");
    const QString node = QStringLiteral("Node");
    using L = QStringList;
    using Places = QList<int>;
    QTest::newRow("none ended") << L{pod, node} << Places{} << L{node, pod};
    QTest::newRow("one of two kinds") << L{pod, node} << Places{0} << L{node};
    QTest::newRow("all") << L{pod, node} << Places{1, 0} << L{};
    QTest::newRow("one of two on the same") << L{pod, pod} << Places{0} << L{pod};
    QTest::newRow("both on the same") << L{pod, pod} << Places{0, 1} << L{};
}

void tst_QueueMetrics::endedInformers()
{
    QFETCH(const QStringList, begun);
    QFETCH(const QList<int>, ended);
    observability::MetricsRegistry registry;
    ProcessingMetrics processing(registry);
    std::vector<std::function<void(std::chrono::nanoseconds)>> informers;
    for (const QString &kind : begun) {
        cache::WatchScope scope;
        scope.gvk = {QString(), QStringLiteral("v1"), kind};
        informers.push_back(processing.histogram(scope, kind.toLower() + u's'));
        informers.back()(1ms);
    }
    for (const int place : ended)
        informers[std::size_t(place)] = nullptr;
    const QByteArray page = registry.text();
    QStringList left;
    for (const char *kind : {"Node", "Pod"})
        if (page.contains(QByteArray("name=\"v1 ") + kind + '"'))
            left << QString::fromLatin1(kind);
    QTEST(left, "left");
    QCOMPARE(page.isEmpty(), left.isEmpty());
}

// B28: with the plugin and the index; other calls are counted by what was called alone.
void tst_QueueMetrics::faults()
{
    observability::MetricsRegistry registry;
    const auto count = faultCounter(registry);
    count(QStringLiteral("replicator"), "index function", QStringLiteral("byName"));
    count(QStringLiteral("replicator"), "index function", QStringLiteral("byName"));
    count(QStringLiteral("replicator"), "slot added", QStringLiteral("v1 Secret"));
    const QByteArray page = registry.text();
    for (const QByteArray &line :
        {QByteArray("plugin_faults_total{kind=\"index function\",plugin=\"replicator\"} 2\n"),
            QByteArray("plugin_faults_total{kind=\"slot added\",plugin=\"replicator\"} 1\n"),
            QByteArray("index_function_faults_total{index=\"byName\",plugin=\"replicator\"} 2\n")})
        QVERIFY2(page.contains("davit_" + line), page.constData());
}

// What a label calls a resource is what the cache's own metrics call it.
void tst_QueueMetrics::handlers()
{
    observability::MetricsRegistry registry;
    const Gvk secret{QString(), QStringLiteral("v1"), QStringLiteral("Secret")};
    addHandlerMetrics(registry, [&secret] {
        const QString owner = QStringLiteral("replicator");
        return std::vector<cache::HandlerState>{{owner, InformerRequest(secret), 1},
            {owner, InformerRequest(secret).payload(Payload::Metadata), 2},
            {owner, InformerRequest(secret).payload(Payload::Metadata), 3}};
    });
    const QByteArray page = registry.text();
    for (const QByteArray &line : {QByteArray("plugin=\"replicator\",resource=\"v1 Secret\"} 1\n"),
             QByteArray("plugin=\"replicator\",resource=\"v1 Secret (metadata)\"} 5\n")})
        QVERIFY2(page.contains("davit_handler_pending{delivery=\"every event\"," + line),
            page.constData());
}

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
    queue->depthChanged(7, 1); // one of a priority that it never had, too
    QCOMPARE(registry.text(), QByteArray());
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
