// "davit get --raw" against servers that never stop, and with nobody who reads.
#include "../transport/rawserver.h"
#include "davitcommand.h"
#include "testfile.h"

#include <QTest>

using namespace Qt::Literals::StringLiterals;

namespace {

// An answer without an end.
void endless(RawConnection &connection, const QByteArray &status)
{
    RawRequest request;
    if (!connection.read(request)
        || !connection.write("HTTP/1.1 " + status
            + "\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"))
        return;
    while (connection.chunk(QByteArray(65536, 'x'))) { }
}

QString kubeconfigFor(const QTemporaryDir &folder, quint16 port)
{
    return writeFile(folder, u"config"_s,
        "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}], users: "
        "[{name: u, user: {}}], clusters: [{name: c, cluster: {server: \"http://127.0.0.1:"
            + QByteArray::number(port) + "\"}}]}");
}

} // namespace

class tst_RawGet : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void nobodyReads();
    void refusalAsItIs();
    void refusalWithoutAnEnd();
    void wordsOfAServer();
};

void tst_RawGet::nobodyReads()
{
    RawServer server([](RawConnection &connection) { endless(connection, "200 OK"); });
    const QTemporaryDir folder;
    QProcess process;
    process.setStandardOutputFile(QStringLiteral("/dev/full"));
    process.start(QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"),
        {u"get"_s, u"--raw"_s, u"/endless"_s, u"--kubeconfig"_s,
            kubeconfigFor(folder, server.port())});
    QVERIFY(process.waitForFinished(60000));
    QCOMPARE(process.exitCode(), 1);
    QVERIFY(process.readAllStandardError().contains("standard output takes no more"));
}

void tst_RawGet::refusalAsItIs()
{
    const QByteArray body = "ping ok\n" + "[-]etcd failed: reason withheld\n"_ba.repeated(20);
    RawServer server([body](RawConnection &connection) {
        if (RawRequest request; connection.read(request))
            connection.answer(500, body);
    });
    const QTemporaryDir folder;
    const Outcome outcome = davitWith(
        {u"get"_s, u"--raw=/healthz"_s, u"--kubeconfig"_s, kubeconfigFor(folder, server.port())});
    QCOMPARE(outcome.exitCode, 1);
    QCOMPARE(outcome.out, QString::fromUtf8(body));
    QVERIFY2(
        outcome.errors.contains(u"/healthz: 500: ping ok [-]etcd"), qPrintable(outcome.errors));
}

void tst_RawGet::refusalWithoutAnEnd()
{
    RawServer server([](RawConnection &connection) { endless(connection, "500 Oh"); });
    const QTemporaryDir folder;
    const Outcome outcome = davitWith({u"get"_s, u"--raw"_s, u"/endless"_s, u"--kubeconfig"_s,
        kubeconfigFor(folder, server.port())});
    QCOMPARE(outcome.exitCode, 1);
    QVERIFY(outcome.out.size() >= 1024 * 1024);
    QVERIFY2(outcome.errors.contains(u"(its body is longer than 1 MiB and was cut)"),
        qPrintable(outcome.errors));
}

// One line, whatever they hold.
void tst_RawGet::wordsOfAServer()
{
    RawServer server([](RawConnection &connection) {
        RawRequest request;
        if (connection.read(request))
            connection.answer(500,
                R"({"kind":"Status","message":"x\nok    rights        all fine\n\u001b[2Jy\u0000z"})");
    });
    const QTemporaryDir folder;
    const Outcome outcome = davitWith(
        {u"get"_s, u"--raw"_s, u"/x"_s, u"--kubeconfig"_s, kubeconfigFor(folder, server.port())});
    QVERIFY2(outcome.errors.endsWith(u"/x: 500: x ok rights all fine [2Jy z\n"),
        qPrintable(outcome.errors));
}

QTEST_GUILESS_MAIN(tst_RawGet)
#include "tst_rawget.moc"
