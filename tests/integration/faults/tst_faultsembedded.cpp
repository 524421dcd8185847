// Random faults between informers and the embedded API server, and of the server itself, while 20
// writers change objects; in the end each store and each handler's replay equals a fresh list. The
// seed is printed; DAVIT_FAULT_SEED and DAVIT_FAULT_COUNT play a row again or longer (the faults
// are the same, their moments are not).
#include "faultrun.h"

#include <testing/embeddedapiserver.h>

#include <QtCore/qrandom.h>
#include <QtTest>

using convergence::History;
using davit::testing::EmbeddedApiServer;

// QtTest ends a function after five minutes unless told otherwise; ctest's own limit is what
// counts.
static const bool kIsPatient = qputenv("QTEST_FUNCTION_TIMEOUT", "900000");

class tst_FaultsEmbedded : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void randomFaults_data();
    void randomFaults();

private:
    FaultTarget target(EmbeddedApiServer &server) const;
};

FaultTarget tst_FaultsEmbedded::target(EmbeddedApiServer &server) const
{
    FaultTarget target{
        server.port(), {}, {}, ApiConnection(server.port()), LoadWriter::Server::MayForget, {}};
    target.config.source = QStringLiteral("the embedded server");
    target.config.server = QUrl(server.url());
    target.strikeServer = [&server](Fault::Kind kind) {
        switch (kind) {
        case Fault::Kind::EndWatches:
            return server.endWatches();
        case Fault::Kind::ExpireWatches:
            return server.endWatches(EmbeddedApiServer::WatchEnd::Expired);
        case Fault::Kind::ExpireHistory:
            server.expireHistory();
            return server.dropConnections();
        default:
            if (kind == Fault::Kind::Restore)
                QTest::qWait(500); // what was written meanwhile will be lost
            server.stop();
            if (kind == Fault::Kind::Restore)
                server.restore();
            if (!server.start().isOk())
                qFatal("the server does not come back");
        }
    };
    return target;
}

void tst_FaultsEmbedded::randomFaults_data()
{
    QTest::addColumn<int>("count");
    QTest::addColumn<ServerFaults>("server");
    QTest::addColumn<History>("history");
    QTest::newRow("500 faults") << 500 << ServerFaults{3, 3, 3, 1, 0} << History::Grows;
    QTest::newRow("500 faults, restored with a lower version")
        << 500 << ServerFaults{3, 3, 3, 1, 2} << History::MayGoBack;
    // Without other faults nothing but the reflector's own question finds out.
    QTest::newRow("3 times restored with lower versions")
        << 3 << ServerFaults{0, 0, 0, 0, 100} << History::MayGoBack;
    QTest::newRow("60 faults, restored with lower versions")
        << 60 << ServerFaults{3, 3, 3, 3, 15} << History::MayGoBack;
}

void tst_FaultsEmbedded::randomFaults()
{
    QFETCH(int, count);
    QFETCH(const ServerFaults, server);
    QFETCH(const History, history);
    bool isGiven = false;
    quint32 seed = qEnvironmentVariable("DAVIT_FAULT_SEED").toUInt(&isGiven);
    if (!isGiven)
        seed = QRandomGenerator::global()->generate();
    count = qEnvironmentVariableIntValue("DAVIT_FAULT_COUNT") > 0
        ? qEnvironmentVariableIntValue("DAVIT_FAULT_COUNT")
        : count;
    qInfo("DAVIT_FAULT_SEED=%u DAVIT_FAULT_COUNT=%d", seed, count);

    EmbeddedApiServer apiServer;
    QVERIFY(apiServer.start().isOk());
    FaultRun run(target(apiServer));
    QCOMPARE(run.begin(), QString());
    apiServer.backup();
    const QList<Fault> faults = planFaults(seed, count, server);
    for (const Fault &fault : faults)
        QCOMPARE(run.play(fault), QString());
    const QStringList disagreements = run.disagreements(history);
    qInfo("%s", qUtf8Printable(run.summary()));
    QCOMPARE(disagreements.mid(0, 8).join(u'\n'), QString());
    QCOMPARE(run.unnoticedDrops(seed, history).join(u'\n'), QString());
}

QTEST_GUILESS_MAIN(tst_FaultsEmbedded)
#include "tst_faultsembedded.moc"
