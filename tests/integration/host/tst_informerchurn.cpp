// Twenty minutes of churn through a whole host: each second 5 % of 20,000 Pods of 11.7 KB are
// deleted and as many others created, and its resident memory stays flat after the first minute.
// The server is in the test's own process, so that its memory does not count. DAVIT_CHURN_SECONDS
// shortens it for a try by hand; DAVIT_CHURN_PODS has fewer of them.
#include "hostprocess.h"
#include "podfeeder.h"

#include <QFile>
#include <QTest>
#include <algorithm>
#include <unistd.h>

using namespace Qt::Literals::StringLiterals;

namespace {

// Of the environment, when it says so.
int chosen(const char *variable, int usual)
{
    const int asked = qEnvironmentVariableIntValue(variable);
    return asked > 0 ? asked : usual;
}

double residentMiB(qint64 pid)
{
    QFile file(u"/proc/%1/statm"_s.arg(pid));
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    const QByteArrayList fields = file.readAll().split(' ');
    return fields.at(1).toDouble() * double(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

double median(QList<double> values)
{
    std::sort(values.begin(), values.end());
    return values.at(values.size() / 2);
}

} // namespace

class tst_InformerChurn : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void residentStaysFlat();

private:
    // Of the host's metrics; -1 when it does not tell.
    static double metric(quint16 port, const QByteArray &series);
};

double tst_InformerChurn::metric(quint16 port, const QByteArray &series)
{
    for (const QByteArray &line : httpGet(port, "/metrics").split('\n'))
        if (line.startsWith(series + ' '))
            return line.mid(series.size()).toDouble();
    return -1;
}

void tst_InformerChurn::residentStaysFlat()
{
    const int seconds = chosen("DAVIT_CHURN_SECONDS", 1200);
    const int pods = chosen("DAVIT_CHURN_PODS", 20000);
    const int eachSecond = pods / 20;
    const int window = std::max(1, seconds / 20); // a minute
    const int warm = (std::min(60, seconds / 3) + window - 1) / window; // windows of minute 1
    PodFeeder feeder(pods, eachSecond);
    QTemporaryDir dir;
    QFile kubeconfig(dir.filePath(u"kubeconfig"_s));
    QVERIFY(kubeconfig.open(QIODevice::WriteOnly));
    kubeconfig.write("apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                     "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                     "clusters: [{name: c, cluster: {server: \"http://127.0.0.1:"
        + QByteArray::number(feeder.port()) + "\"}}]\nusers: [{name: u, user: {}}]\n");
    kubeconfig.close();

    const quint16 port = freePort();
    HostProcess host;
    host.start({u"run"_s, u"--state-dir"_s, host.stateDir(), u"--zap-log-level=error"_s,
        u"--metrics-bind-address=127.0.0.1:%1"_s.arg(port), u"--health-probe-bind-address=0"_s,
        u"--kubeconfig"_s, kubeconfig.fileName(), u"--plugin-dir"_s,
        QStringLiteral(DAVIT_BUILD_DIR "/examples")});
    const QByteArray objects = R"(davit_cache_objects{resource="v1 Pod"})";
    QTRY_VERIFY_WITH_TIMEOUT(host.processId() == 0 || metric(port, objects) == pods, 60000);
    QVERIFY2(host.processId() != 0, host.errorText().constData());
    qInfo("%d Pods are known: %.1f MiB resident", pods, residentMiB(host.processId()));

    QList<double> windows;
    QList<double> samples;
    QElapsedTimer timer;
    timer.start();
    feeder.replace(qint64(seconds) * eachSecond);
    for (int second = 1; second <= seconds; ++second) { // of the feeder
        QTRY_VERIFY_WITH_TIMEOUT(feeder.replaced() >= qint64(second) * eachSecond, 60000);
        samples += residentMiB(host.processId());
        if (second % window == 0) {
            windows += median(std::exchange(samples, {}));
            qInfo("second %d (%.1f s): %lld Pods replaced, %.1f MiB resident", second,
                double(timer.elapsed()) / 1000, feeder.replaced(), windows.last());
        }
    }
    const QByteArray stored
        = R"(informer_store_resource_version{group="",name="v1 Pod",resource="pods",version="v1"})";
    QTRY_COMPARE_WITH_TIMEOUT(metric(port, stored), double(feeder.lastVersion()), 60000);
    QCOMPARE(metric(port, objects), double(pods));
    QCOMPARE(feeder.expiredWatches(), 0);
    QCOMPARE(metric(port, R"(davit_cache_fills_total{resource="v1 Pod"})"), 1); // all came by watch
    const double first = windows.at(warm);
    const double most = *std::max_element(windows.begin() + warm, windows.end());
    qInfo("%lld Pods replaced in %.1f s; resident %.1f MiB after minute 1, %.1f MiB at most from "
          "then on",
        feeder.replaced(), double(timer.elapsed()) / 1000, first, most);
    QVERIFY(most <= first * 1.05);
    QCOMPARE(host.stop(), 0);
}

QTEST_GUILESS_MAIN(tst_InformerChurn)
#include "tst_informerchurn.moc"
