#include "observability/metricsregistry.h"

#include "../loglines.h"
#include "observability/processmetrics.h"

#include <QTest>
#include <atomic>
#include <thread>

using namespace davit;
using namespace davit::observability;
using Type = MetricsRegistry::Type;

class tst_MetricsRegistry : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void text();
    void labelValues_data();
    void labelValues();
    void refused_data();
    void refused();
    void removed();
    void removedPlugin();
    void dropped();
    void cutOff();
    void churn();
    void scrapeUnderWriters();
    void process();
};

void tst_MetricsRegistry::text()
{
    MetricsRegistry registry;
    registry
        .counter(QStringLiteral("b_total"), QStringLiteral("Two\nlines"),
            {{QStringLiteral("code"), QStringLiteral("200")}})
        .increment(3);
    registry.gauge(QStringLiteral("a"), QStringLiteral("First")).set(-1.5);
    const Histogram seconds
        = registry.histogram(QStringLiteral("c_seconds"), QStringLiteral("Time"), {0.1, 1});
    seconds.observe(0.1); // on the bound: inside
    seconds.observe(0.5);
    seconds.observe(7);
    QCOMPARE(registry.text(),
        QByteArray(
            "# HELP a First\n# TYPE a gauge\na -1.5\n"
            "# HELP b_total Two\\nlines\n# TYPE b_total counter\nb_total{code=\"200\"} 3\n"
            "# HELP c_seconds Time\n# TYPE c_seconds histogram\nc_seconds_count 3\n"
            "c_seconds_sum 7.6\nc_seconds_bucket{le=\"0.1\"} 1\nc_seconds_bucket{le=\"1\"} 2\n"
            "c_seconds_bucket{le=\"+Inf\"} 3\n"));
}

void tst_MetricsRegistry::labelValues_data()
{
    QTest::addColumn<QString>("value");
    QTest::addColumn<QByteArray>("written");
    QTest::newRow("B66 quote") << QStringLiteral("quote \" in it")
                               << QByteArray("quote \\\" in it");
    QTest::newRow("B66 backslash") << QStringLiteral("back\\slash") << QByteArray("back\\\\slash");
    QTest::newRow("B66 newline") << QStringLiteral("new\nline") << QByteArray("new\\nline");
    QTest::newRow("B66 other letters") << QStringLiteral("naïve 日本") << QByteArray("naïve 日本");
    QTest::newRow("B66 empty") << QString() << QByteArray();
    QTest::newRow("B66 lone surrogate") << QString(QChar(0xdc00)) << QByteArray("?");
}

void tst_MetricsRegistry::labelValues()
{
    QFETCH(const QString, value);
    QFETCH(const QByteArray, written);
    MetricsRegistry registry;
    registry.counter(QStringLiteral("m"), QStringLiteral("h"), {{QStringLiteral("l"), value}})
        .increment();
    QCOMPARE(registry.text(), "# HELP m h\n# TYPE m counter\nm{l=\"" + written + "\"} 1\n");
}

void tst_MetricsRegistry::refused_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("help");
    QTest::addColumn<int>("type");
    QTest::addColumn<QString>("label");
    QTest::addColumn<QString>("line"); // empty: accepted
    const auto add = [](const char *row, const char *name, const char *help, Type type,
                         const char *label, const char *line) {
        QTest::newRow(row) << QString::fromUtf8(name) << QString::fromUtf8(help) << int(type)
                           << QString::fromUtf8(label) << QString::fromUtf8(line);
    };
    const char *other = "the name exists with another type, help, label or bucket";
    add("B66 the same from a second plugin", "done_total", "Done", Type::Counter, "kind", "");
    add("B66 other help", "done_total", "Other", Type::Counter, "kind", other);
    add("B66 other labels", "done_total", "Done", Type::Counter, "colour", other);
    add("other type", "done_total", "Done", Type::Gauge, "kind", other);
    add("wrong name", "done-total", "Done", Type::Counter, "kind",
        "the name breaks Prometheus' rules");
    add("the host's family", "workqueue_depth", "Done", Type::Counter, "kind",
        "names that start like this are the host's own");
    add("wrong label", "x_total", "X", Type::Counter, "a-b", "label \"a-b\" is not allowed");
    add("the plugin label", "x_total", "X", Type::Counter, "plugin",
        "label \"plugin\" is not allowed");
}

void tst_MetricsRegistry::refused()
{
    QFETCH(const QString, name);
    QFETCH(const QString, help);
    QFETCH(const int, type);
    QFETCH(const QString, label);
    QFETCH(const QString, line);
    fake::Lines lines;
    MetricsRegistry registry;
    registry.setLogger(Logger(lines, QStringLiteral("metrics")));
    QVERIFY(registry.cell(Type::Counter, QStringLiteral("first"), QStringLiteral("done_total"),
        QStringLiteral("Done"), {{QStringLiteral("kind"), QStringLiteral("a")}}, {}));
    const bool isAccepted = registry.cell(
        Type(type), QStringLiteral("second"), name, help, {{label, QStringLiteral("v")}}, {});
    QCOMPARE(isAccepted, line.isEmpty());
    QCOMPARE(lines.seen,
        line.isEmpty() ? QStringList()
                       : QStringList(QStringLiteral("2|metrics|metric refused: nobody will see it"
                                                    "|plugin=second|metric=%1|reason=%2")
                                         .arg(name, line)));
}

void tst_MetricsRegistry::removed()
{
    MetricsRegistry registry;
    const QString name = QStringLiteral("done_total");
    const QString help = QStringLiteral("Done");
    priv::MetricCell *gone
        = registry.cell(Type::Counter, QStringLiteral("gone"), name, help, {}, {});
    registry.cell(Type::Counter, QStringLiteral("stays"), name, help, {}, {})->add(1);
    registry.counter(
        QStringLiteral("other_total"), help, {{QStringLiteral("plugin"), QStringLiteral("gone")}});
    QCOMPARE(registry.removeSeries({{QStringLiteral("plugin"), QStringLiteral("gone")}}), 2);
    gone->add(1); // a counter that outlived its plugin is harmless
    QCOMPARE(registry.text(),
        QByteArray(
            "# HELP done_total Done\n# TYPE done_total counter\ndone_total{plugin=\"stays\"} 1\n"));
    // It comes back from zero, as a new one.
    registry.cell(Type::Counter, QStringLiteral("gone"), name, help, {}, {})->add(5);
    QVERIFY(registry.text().contains("done_total{plugin=\"gone\"} 5\n"));
}

// B66: what is counted for a plugin that has gone makes no series anew.
void tst_MetricsRegistry::removedPlugin()
{
    MetricsRegistry registry;
    const QString id = QStringLiteral("gone");
    const QString name = QStringLiteral("done_total");
    const QString help = QStringLiteral("Done");
    const MetricLabels labels{{QStringLiteral("plugin"), id}};
    registry.cell(Type::Counter, id, name, help, {}, {})->add(1);
    registry.counter(QStringLiteral("other_total"), help, labels).increment();
    registry.removePlugin(id);
    registry.cell(Type::Counter, id, name, help, {}, {})->add(1);
    registry.counter(QStringLiteral("other_total"), help, labels).increment();
    registry.gauge(QStringLiteral("depth"), help, labels).set(1);
    registry.histogram(QStringLiteral("seconds"), help, {0.1}, labels).observe(1);
    QCOMPARE(registry.text(), QByteArray());
    registry.counter(QStringLiteral("other_total"), help, {{QStringLiteral("plugin"), name}})
        .increment(); // another plugin
    QCOMPARE(registry.seriesCount(), 1);
    registry.admitPlugin(id); // it comes back from zero
    registry.counter(QStringLiteral("other_total"), help, labels).increment(2);
    QVERIFY(registry.text().contains("\nother_total{plugin=\"gone\"} 2\n"));
}

void tst_MetricsRegistry::dropped()
{
    MetricsRegistry registry;
    const QString name = QStringLiteral("seconds");
    const QString help = QStringLiteral("Time");
    const MetricLabels a{{QStringLiteral("name"), QStringLiteral("a")}};
    const MetricLabels b{{QStringLiteral("name"), QStringLiteral("b")}};
    registry.counter(QStringLiteral("other_total"), help, a).increment();
    registry.histogram(name, help, {1}, a).observe(1);
    registry.histogram(name, help, {1}, b).observe(1);
    registry.dropSeries(name, a);
    registry.dropSeries(name, a); // there is none any more
    registry.dropSeries(QStringLiteral("nothing"), a);
    QCOMPARE(registry.seriesCount(), 2);
    QVERIFY(registry.text().contains("other_total{name=\"a\"} 1\n")); // of another name
    registry.dropSeries(name, b);
    QVERIFY(!registry.text().contains(name.toUtf8()));
}

void tst_MetricsRegistry::cutOff()
{
    MetricsRegistry registry;
    for (int i = 0; i < 1500; ++i)
        registry
            .cell(Type::Counter, QStringLiteral("p"), QStringLiteral("m_total"),
                QStringLiteral("h"), {{QStringLiteral("name"), QString::number(i)}}, {})
            ->add(1);
    QCOMPARE(registry.seriesCount(), 1002);
    const QByteArray page = registry.text();
    QVERIFY(page.contains("m_total{name=\"exceeded_cardinality_limit\",plugin=\"p\"} 500\n"));
    QVERIFY(page.contains("davit_metrics_cut_off_total{plugin=\"p\"} 500\n"));
}

// B66: as many series after a churn as before it, whatever the objects were called.
void tst_MetricsRegistry::churn()
{
    MetricsRegistry registry;
    const auto round = [&registry](int generation) {
        const QString plugin = QStringLiteral("p%1").arg(generation);
        for (const char *result : {"success", "error"})
            registry.counter(QStringLiteral("controller_runtime_reconcile_total"),
                QStringLiteral("h"),
                {{QStringLiteral("controller"), plugin},
                    {QStringLiteral("result"), QString::fromUtf8(result)}});
        registry.cell(
            Type::Counter, plugin, QStringLiteral("x_total"), QStringLiteral("h"), {}, {});
    };
    round(0);
    const qsizetype before = registry.seriesCount();
    for (int i = 1; i <= 1000; ++i) {
        round(i);
        const QString plugin = QStringLiteral("p%1").arg(i);
        registry.removeSeries({{QStringLiteral("plugin"), plugin}});
        registry.removeSeries({{QStringLiteral("controller"), plugin}});
    }
    QCOMPARE(registry.seriesCount(), before);
}

void tst_MetricsRegistry::scrapeUnderWriters()
{
    MetricsRegistry registry;
    std::atomic<bool> isEnough{false};
    std::vector<std::thread> writers;
    constexpr int kWriters = 8;
    std::atomic<quint64> written{0};
    for (int i = 0; i < kWriters; ++i)
        writers.emplace_back([&registry, &isEnough, &written, i] {
            const Counter counter = registry.counter(QStringLiteral("c_total"), QStringLiteral("h"),
                {{QStringLiteral("l"), QString::number(i % 2)}});
            const Histogram histogram = registry.histogram(
                QStringLiteral("h_seconds"), QStringLiteral("h"), reconcileTimeBuckets());
            quint64 own = 0;
            while (!isEnough) {
                counter.increment();
                histogram.observe(0.3);
                ++own;
            }
            written += own;
        });
    for (int i = 0; i < 50; ++i)
        registry.text();
    isEnough = true;
    for (std::thread &writer : writers)
        writer.join();
    const QByteArray page = registry.text();
    const QByteArray count = "h_seconds_count " + QByteArray::number(written.load()) + '\n';
    QVERIFY2(page.contains(count), page.constData());
}

void tst_MetricsRegistry::process()
{
    MetricsRegistry registry;
    registry.addCollector(collectProcessMetrics);
    const QByteArray page = registry.text();
    for (const char *name :
        {"process_cpu_seconds_total ", "process_resident_memory_bytes ", "process_open_fds ",
            "process_max_fds ", "process_threads ", "process_start_time_seconds "})
        QVERIFY2(page.contains(name), name);
}

QTEST_GUILESS_MAIN(tst_MetricsRegistry)
#include "tst_metricsregistry.moc"
