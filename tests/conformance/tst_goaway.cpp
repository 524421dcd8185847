// B23 against a real API server that tells one request in fifty to go away (--goaway-chance, which
// it only can with HTTP/2): 50 watches and their writers lose nothing and repeat nothing.
#include "apiconnection.h"
#include "controlplane.h"
#include "loadwriter.h"
#include "recorder.h"

#include <cache/sharedinformerfactory.h>
#include <support/timesource.h>
#include <transport/qnamtransport.h>

#include <QtCore/qfile.h>
#include <QtCore/qthreadpool.h>

#include <QNetworkAccessManager>
#include <QTest>

using convergence::World;

// QtTest ends a function after five minutes unless told otherwise; ctest's own limit is what
// counts.
static const bool kIsPatient = qputenv("QTEST_FUNCTION_TIMEOUT", "900000");

class tst_GoAway : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void watchesAndWriters_data();
    void watchesAndWriters();

private:
    using Recorders = std::vector<std::unique_ptr<Recorder>>;
    static void makeNamespaces(const ControlPlane &controlPlane, int count);
    void write(const ApiConnection &connection, int writers, int writes);
    static void compare(const ApiConnection &connection, const Recorders &recorders);
};

static QByteArray readAll(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

static davit::transport::ClusterConfig configOf(const ControlPlane &controlPlane)
{
    davit::transport::ClusterConfig config;
    config.source = QStringLiteral("tests/conformance");
    config.server = QUrl(QStringLiteral("https://127.0.0.1:%1").arg(controlPlane.apiServerPort()));
    config.caPem = readAll(controlPlane.folder() + QStringLiteral("/ca.crt"));
    config.clientCertificatePem = readAll(controlPlane.folder() + QStringLiteral("/admin.crt"));
    config.clientKeyPem = readAll(controlPlane.folder() + QStringLiteral("/admin.key"));
    return config;
}

void tst_GoAway::watchesAndWriters_data()
{
    QTest::addColumn<int>("watches");
    QTest::addColumn<int>("writers");
    QTest::addColumn<int>("writes"); // of each writer
    QTest::newRow("B23: --goaway-chance=0.02") << 50 << 10 << 300;
}

void tst_GoAway::makeNamespaces(const ControlPlane &controlPlane, int count)
{
    QByteArray namespaces;
    for (int i = 0; i < count; ++i)
        namespaces += "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns-"
            + QByteArray::number(i) + "}\n---\n";
    QByteArray output;
    QCOMPARE(
        controlPlane.kubectl({QStringLiteral("create"), QStringLiteral("-f"), QStringLiteral("-")},
            &output, namespaces),
        0);
}

// Each writer in a namespace of its own; returns when all are done.
void tst_GoAway::write(const ApiConnection &connection, int writers, int writes)
{
    constexpr int kObjects = 50; // of each writer
    std::vector<std::unique_ptr<LoadWriter>> load;
    int done = 0;
    QString failure;
    for (int i = 0; i < writers; ++i) {
        load.push_back(
            std::make_unique<LoadWriter>(connection, "ns-" + QByteArray::number(i), kObjects));
        connect(load.back().get(), &LoadWriter::finished, this, [&] { ++done; });
        connect(load.back().get(), &LoadWriter::failed, this,
            [&](const QString &text) { failure = text; });
        load.back()->begin(LoadWriter::Work::CreateAll, 0, 100);
    }
    QTRY_VERIFY_WITH_TIMEOUT(done == writers || !failure.isEmpty(), 120000);
    done = 0;
    for (const auto &writer : load)
        writer->begin(LoadWriter::Work::Churn, writes, 30);
    QTRY_VERIFY_WITH_TIMEOUT(done == writers || !failure.isEmpty(), 240000);
    QCOMPARE(failure, QString());
    for (const auto &writer : load)
        QCOMPARE(writer->lostAnswers(), 0); // nothing had to be repeated
}

void tst_GoAway::compare(const ApiConnection &connection, const Recorders &recorders)
{
    QNetworkAccessManager manager;
    for (std::size_t i = 0; i < recorders.size(); ++i) {
        int status = 0;
        bool isList = false;
        const World want = convergence::worldOfList(
            connection.get(
                manager, "/api/v1/namespaces/ns-" + QByteArray::number(i) + "/configmaps", &status),
            &isList);
        QVERIFY(status == 200 && isList);
        QStringList faults;
        QTRY_COMPARE_WITH_TIMEOUT(
            convergence::differences(
                want, convergence::replay(recorders[i]->heard(), &(faults = QStringList()))),
            QStringList(), 60000);
        QCOMPARE(faults, QStringList());
        QCOMPARE(convergence::differences(want, recorders[i]->stored()), QStringList());
    }
}

void tst_GoAway::watchesAndWriters()
{
    QFETCH(const int, watches);
    QFETCH(const int, writers);
    QFETCH(const int, writes);
    ControlPlane controlPlane;
    QVERIFY2(controlPlane.start(
                 ControlPlane::ControllerManager::No, {QStringLiteral("--goaway-chance=0.02")}),
        qPrintable(controlPlane.errorText()));
    const ApiConnection connection(controlPlane.folder(), controlPlane.apiServerPort());
    makeNamespaces(controlPlane, watches);

    QThreadPool pool;
    NoFaults noFaults;
    const auto transport = davit::transport::makeQnamTransport(configOf(controlPlane));
    davit::cache::SharedInformerFactory factory(
        *transport, pool, davit::support::systemTimeSource());
    Recorders recorders;
    for (int i = 0; i < watches; ++i) {
        davit::InformerRequest request({{}, QStringLiteral("v1"), QStringLiteral("ConfigMap")});
        request.inNamespaces({QStringLiteral("ns-%1").arg(i)});
        request.delivery(davit::Delivery::EveryEvent);
        std::unique_ptr<davit::priv::InformerBackend> backend;
        const davit::Status made = factory.makeInformer(
            {request.gvk(), QStringLiteral("configmaps"), true}, request, noFaults, &backend);
        QVERIFY2(made.isOk(), qPrintable(made.error().message()));
        recorders.push_back(std::make_unique<Recorder>(std::move(backend)));
    }
    factory.start();
    for (const auto &recorder : recorders)
        QTRY_VERIFY_WITH_TIMEOUT(recorder->hasSynced(), 60000);

    write(connection, writers, writes);
    compare(connection, recorders);
    quint64 opened = 0;
    quint64 fills = 0;
    for (const davit::cache::ResourceState &state : factory.states()) {
        opened += state.reflector.watchRequests;
        fills += state.reflector.fills;
        QCOMPARE(state.reflector.failedRounds, 0u);
    }
    qInfo("%d watches, opened %llu times, %llu fills", watches, qulonglong(opened),
        qulonglong(fills));
    QCOMPARE(int(fills), watches); // no relist
    recorders.clear();
    factory.shutdown();
}

QTEST_GUILESS_MAIN(tst_GoAway)
#include "tst_goaway.moc"
