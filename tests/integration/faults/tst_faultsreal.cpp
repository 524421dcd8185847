// Random faults between informers and a real kube-apiserver, which is also killed or restored with
// an older state of etcd, while 20 writers change objects: see tst_faultsembedded. What passes a
// FaultProxy alone is TLS; what the gateway answers wrongly is plain HTTP on the informers' side.
#include "faultrun.h"

#include <controlplane.h>

#include <QtCore/qrandom.h>
#include <QtTest>

using convergence::History;

static const bool kIsPatient = qputenv("QTEST_FUNCTION_TIMEOUT", "900000");

class tst_FaultsReal : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void randomFaults_data();
    void randomFaults();
};

void tst_FaultsReal::randomFaults_data()
{
    QTest::addColumn<int>("count");
    QTest::addColumn<History>("history"); // MayGoBack: it is restored, else killed
    QTest::newRow("500 faults") << 500 << History::Grows;
    QTest::newRow("500 faults, restored with lower versions") << 500 << History::MayGoBack;
}

void tst_FaultsReal::randomFaults()
{
    QFETCH(int, count);
    QFETCH(const History, history);
    bool isGiven = false;
    quint32 seed = qEnvironmentVariable("DAVIT_FAULT_SEED").toUInt(&isGiven);
    if (!isGiven)
        seed = QRandomGenerator::global()->generate();
    const int given = qEnvironmentVariableIntValue("DAVIT_FAULT_COUNT");
    count = given > 0 ? given : count;
    qInfo("DAVIT_FAULT_SEED=%u DAVIT_FAULT_COUNT=%d", seed, count);

    ControlPlane controlPlane;
    QVERIFY2(controlPlane.start(ControlPlane::ControllerManager::No),
        qPrintable(controlPlane.errorText()));
    const ApiConnection connection(controlPlane.folder(), controlPlane.apiServerPort());
    const FaultTarget target{controlPlane.apiServerPort(), connection.tls(),
        InformerRig::configOf(controlPlane.folder(), controlPlane.apiServerPort()), connection,
        history == History::Grows ? LoadWriter::Server::Remembers : LoadWriter::Server::MayForget,
        {}};
    FaultRun run(target);
    QCOMPARE(run.begin(), QString());
    if (history == History::MayGoBack)
        QVERIFY2(controlPlane.backup(), qPrintable(controlPlane.errorText()));
    const QList<Fault> faults = planFaults(seed, count, {});
    for (qsizetype i = 0; i < faults.size(); ++i) {
        QCOMPARE(run.play(faults.at(i)), QString());
        if (i != count / 3 && i != 2 * count / 3)
            continue;
        if (history == History::MayGoBack) {
            QVERIFY2(controlPlane.restore(), qPrintable(controlPlane.errorText()));
            continue;
        }
        QVERIFY(controlPlane.killApiServer());
        QVERIFY2(controlPlane.restartApiServer(), qPrintable(controlPlane.errorText()));
    }
    const QStringList disagreements = run.disagreements(history);
    qInfo("%s", qUtf8Printable(run.summary()));
    QCOMPARE(disagreements.mid(0, 8).join(u'\n'), QString());
    QCOMPARE(run.unnoticedDrops(seed, history).join(u'\n'), QString());
}

QTEST_GUILESS_MAIN(tst_FaultsReal)
#include "tst_faultsreal.moc"
