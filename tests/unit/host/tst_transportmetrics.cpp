// What comes of the transport's news: series of rest_client_*, and lines of the log.
#include "../loglines.h"
#include "host/transportmetrics.h"
#include "testing/manualclock.h"

#include <QTest>

using namespace davit;
using namespace Qt::Literals::StringLiterals;
using namespace std::chrono_literals;

namespace {

struct Rig
{
    testing::ManualClock clock;
    fake::Lines lines;
    observability::MetricsRegistry metrics;
    transport::TransportOptions options;

    Rig()
    {
        transport::ClusterConfig cluster;
        cluster.server = QUrl(u"https://h:6443"_s);
        options = host::transportOptions(cluster, clock, lines, metrics);
    }
    bool has(const QByteArray &line) const { return metrics.text().contains('\n' + line + '\n'); }
};

} // namespace

class tst_TransportMetrics : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void managers();
    void caReloads();
    void waits_data();
    void waits();
};

void tst_TransportMetrics::managers() // C-75
{
    Rig rig;
    const QByteArray calls = "rest_client_transport_create_calls_total";
    QVERIFY(rig.has(calls + "{result=\"hit\"} 0") && rig.has(calls + "{result=\"miss\"} 0"));
    QVERIFY(rig.has("rest_client_transport_cache_entries 0"));
    rig.options.managers.onUse(transport::ManagerUse::Miss);
    rig.options.managers.onUse(transport::ManagerUse::Hit);
    rig.options.managers.onUse(transport::ManagerUse::Hit);
    rig.options.managers.onCount(3);
    QVERIFY(rig.has(calls + "{result=\"hit\"} 2") && rig.has(calls + "{result=\"miss\"} 1"));
    QVERIFY(rig.has("rest_client_transport_cache_entries 3"));
}

void tst_TransportMetrics::caReloads() // C-75
{
    Rig rig;
    rig.options.onCaReload({"success", "updated"});
    rig.options.onCaReload({"failure", "empty"});
    rig.options.onCaReload({"failure", "empty"});
    const QByteArray name = "rest_client_transport_ca_reload_total";
    QVERIFY(rig.has(name + "{reason=\"updated\",result=\"success\"} 1"));
    QVERIFY(rig.has(name + "{reason=\"empty\",result=\"failure\"} 2"));
}

void tst_TransportMetrics::waits_data()
{
    QTest::addColumn<bool>("isBackoff"); // else of the rate limit
    QTest::addColumn<int>("milliseconds");
    QTest::addColumn<QStringList>("lines");
    const QString limit = u"|client|a request waits for the rate limit of --kube-api-qps"
                          "|path=/api/v1/pods|verb=GET|seconds=%1"_s;
    const QString backoff
        = u"3|client|a request waits, since the server refused or broke what it was asked before"
          "|path=/api/v1/pods|verb=GET|seconds=%1"_s;
    QTest::newRow("C-5 50 ms for the rate limit") << false << 50 << QStringList();
    QTest::newRow("C-5 more") << false << 500 << QStringList{u'4' + limit.arg(0.5)};
    QTest::newRow("C-5 more than a second") << false << 1500 << QStringList{u'3' + limit.arg(1.5)};
    QTest::newRow("C-13 a second of back-off") << true << 1000 << QStringList();
    QTest::newRow("C-13 more") << true << 1500 << QStringList{backoff.arg(1.5)};
}

void tst_TransportMetrics::waits()
{
    QFETCH(const bool, isBackoff);
    QFETCH(const int, milliseconds);
    Rig rig;
    rig.lines.most = LogLevel::Debug;
    transport::Request request;
    request.target = "/api/v1/pods?limit=1";
    (isBackoff ? rig.options.onBackoff : rig.options.onWait)(
        request, std::chrono::milliseconds(milliseconds));
    QTEST(rig.lines.seen, "lines");
    QCOMPARE(rig.metrics.text().contains("rest_client_rate_limiter_duration_seconds_count{host=\"h:"
                                         "6443\",verb=\"GET\"} 1\n"),
        !isBackoff);
}

QTEST_GUILESS_MAIN(tst_TransportMetrics)
#include "tst_transportmetrics.moc"
