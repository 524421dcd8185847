// Twenty minutes of churn through a whole host: each second 5 % of 1,000 Pods are deleted and as
// many others created, and its resident memory stays flat after the first minute.
// DAVIT_CHURN_SECONDS shortens it for a try by hand.
#include "../../bench/podgenerator.h"
#include "hostprocess.h"
#include "testing/embeddedapiserver.h"

#include <QElapsedTimer>
#include <QFile>
#include <QJsonDocument>
#include <QSet>
#include <QTest>
#include <algorithm>
#include <unistd.h>

using namespace davit;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPods = 1000; // the server and the generator, in one thread, keep that pace
constexpr int kReplacedEachSecond = kPods / 20;

double residentMiB(qint64 pid)
{
    QFile file(u"/proc/%1/statm"_s.arg(pid));
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    const QByteArrayList fields = file.readAll().split(' ');
    return fields.at(1).toDouble() * double(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

testing::EmbeddedApiServerOptions options()
{
    testing::EmbeddedApiServerOptions options;
    options.collectsGarbage = false; // their ReplicaSets are not there
    return options;
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
    bool addPod();
    bool put(const QJsonObject &object);
    bool replacePods();
    // Of the host's metrics; -1 when it does not tell.
    int metric(quint16 port, const QByteArray &series) const;

    testing::EmbeddedApiServer m_server{options()};
    bench::PodGenerator m_generator{31};
    QList<QByteArray> m_pods; // their paths, the oldest first
    QSet<QString> m_spaces;
};

bool tst_InformerChurn::addPod()
{
    QJsonObject pod = QJsonDocument::fromJson(m_generator.next()).object();
    QJsonObject metadata = pod["metadata"_L1].toObject();
    metadata.remove("resourceVersion"_L1); // the server's to give
    metadata.remove("uid"_L1);
    pod["metadata"_L1] = metadata;
    const QString space = metadata["namespace"_L1].toString();
    m_pods
        += u"/api/v1/namespaces/%1/pods/%2"_s.arg(space, metadata["name"_L1].toString()).toUtf8();
    if (!m_spaces.contains(space)
        && !put(QJsonObject{{u"apiVersion"_s, u"v1"_s}, {u"kind"_s, u"Namespace"_s},
            {u"metadata"_s, QJsonObject{{u"name"_s, space}}}}))
        return false;
    m_spaces.insert(space);
    return put(pod);
}

bool tst_InformerChurn::put(const QJsonObject &object)
{
    const Status status = m_server.put(QJsonDocument(object).toJson(QJsonDocument::Compact));
    if (!status.isOk())
        qWarning("%s", qUtf8Printable(status.error().message()));
    return status.isOk();
}

bool tst_InformerChurn::replacePods()
{
    for (int i = 0; i < kReplacedEachSecond; ++i)
        if (m_server.request("DELETE", m_pods.takeFirst()).httpStatus != 200 || !addPod())
            return false;
    return true;
}

int tst_InformerChurn::metric(quint16 port, const QByteArray &series) const
{
    for (const QByteArray &line : httpGet(port, "/metrics").split('\n'))
        if (line.startsWith(series + ' '))
            return int(line.mid(series.size()).toDouble());
    return -1;
}

void tst_InformerChurn::residentStaysFlat()
{
    const int asked = qEnvironmentVariableIntValue("DAVIT_CHURN_SECONDS");
    const int seconds = asked > 0 ? asked : 1200;
    const int window = std::max(1, seconds / 20); // a minute
    QTemporaryDir dir;
    QVERIFY(m_server.start().isOk());
    QVERIFY(m_server.writeKubeconfig(dir.filePath(u"kubeconfig"_s)).isOk());
    QVERIFY(m_server.put(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"bench"}})")
                .isOk());
    while (m_pods.size() < kPods)
        QVERIFY(addPod());

    const quint16 port = freePort();
    HostProcess host;
    host.start({u"run"_s, u"--state-dir"_s, host.stateDir(), u"--zap-log-level=error"_s,
        u"--metrics-bind-address=127.0.0.1:%1"_s.arg(port), u"--health-probe-bind-address=0"_s,
        u"--kubeconfig"_s, dir.filePath(u"kubeconfig"_s), u"--plugin-dir"_s,
        QStringLiteral(DAVIT_BUILD_DIR "/examples")});
    const QByteArray objects = R"(davit_cache_objects{resource="v1 Pod"})";
    QTRY_VERIFY_WITH_TIMEOUT(host.processId() == 0 || metric(port, objects) == kPods, 60000);
    QVERIFY2(host.processId() != 0, host.errorText().constData());

    QList<double> windows;
    QList<double> samples;
    QElapsedTimer timer;
    timer.start();
    for (int second = 1; second <= seconds; ++second) {
        QVERIFY(replacePods());
        samples += residentMiB(host.processId());
        if (second % window == 0) {
            windows += median(std::exchange(samples, {}));
            qInfo("second %d: %.1f MiB resident", second, windows.last());
        }
        QTest::qWait(std::max(0, int(second * 1000 - timer.elapsed())));
    }
    QTRY_COMPARE_WITH_TIMEOUT(metric(port, objects), kPods, 60000);
    QCOMPARE(metric(port, R"(davit_cache_fills_total{resource="v1 Pod"})"), 1); // all came by watch
    const double first = windows.at(1); // after minute 1
    const double most = *std::max_element(windows.begin() + 1, windows.end());
    qInfo("%d Pods replaced in %lld s; resident %.1f MiB in minute 2, %.1f MiB at most after that",
        seconds * kReplacedEachSecond, timer.elapsed() / 1000, first, most);
    QVERIFY(most <= first * 1.05);
    QCOMPARE(host.stop(), 0);
}

QTEST_GUILESS_MAIN(tst_InformerChurn)
#include "tst_informerchurn.moc"
