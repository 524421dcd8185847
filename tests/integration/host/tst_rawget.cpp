// "davit get --raw" against servers that never stop, and with nobody who reads.
#include "../transport/rawserver.h"
#include "davitcommand.h"
#include "testfile.h"

#include <QTest>
#include <csignal>

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

// A user whose credential a shell script is to print; nobody listens at the server's address.
QString kubeconfigWith(const QTemporaryDir &folder, const QString &script)
{
    return writeFile(folder, u"config"_s,
        "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}], clusters: "
        "[{name: c, cluster: {server: \"https://127.0.0.1:1\"}}], users: [{name: u, user: {exec: "
        "{apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: /bin/sh, "
        "args: [\""
            + script.toUtf8() + "\"]}}}]}");
}

} // namespace

class tst_RawGet : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void nobodyReads_data();
    void nobodyReads();
    void refusalAsItIs();
    void refusalWithoutAnEnd();
    void wordsOfAServer();
    void signalEndsExecProgram_data();
    void signalEndsExecProgram();
    void execEnvironment_data();
    void execEnvironment();
};

void tst_RawGet::nobodyReads_data()
{
    QTest::addColumn<QStringList>("command"); // KUBECONFIG stands for one
    QTest::addColumn<int>("exitCode");
    const QString library = QStringLiteral(DAVIT_BUILD_DIR "/plugins/replicator.so");
    const QString kubeconfig = u"--kubeconfig=KUBECONFIG"_s;
    QTest::newRow("an endless body") << QStringList{u"get"_s, u"--raw=/x"_s, kubeconfig} << 1;
    QTest::newRow("check, which fails anyway")
        << QStringList{u"check"_s, u"--kubeconfig=/none"_s} << 2;
    QTest::newRow("plugin inspect") << QStringList{u"plugin"_s, u"inspect"_s, library} << 1;
    QTest::newRow("plugin try") << QStringList{u"plugin"_s, u"try"_s, library} << 1;
    QTest::newRow("--help") << QStringList{u"--help"_s} << 1;
    QTest::newRow("--version") << QStringList{u"--version"_s} << 1;
}

void tst_RawGet::nobodyReads()
{
    QFETCH(QStringList, command);
    QFETCH(const int, exitCode);
    RawServer server([](RawConnection &connection) { endless(connection, "200 OK"); });
    const QTemporaryDir folder;
    QProcess process;
    process.setStandardOutputFile(QStringLiteral("/dev/full"));
    process.start(QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"),
        command.replaceInStrings(u"KUBECONFIG"_s, kubeconfigFor(folder, server.port())));
    QVERIFY(process.waitForFinished(60000));
    QCOMPARE(process.exitCode(), exitCode);
    QCOMPARE(process.readAllStandardError(),
        "davit: standard output takes no more, so what was to stand there is cut off; look at the "
        "disk, or at who reads it\n"_ba);
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

void tst_RawGet::signalEndsExecProgram_data()
{
    QTest::addColumn<QStringList>("command");
    QTest::addColumn<int>("number");
    const QStringList get{u"get"_s, u"--raw=/version"_s};
    QTest::newRow("get, SIGTERM") << get << SIGTERM;
    QTest::newRow("get, SIGINT") << get << SIGINT;
    QTest::newRow("check, SIGHUP") << QStringList{u"check"_s} << SIGHUP;
}

// With what it began: a script's child would live on alone.
void tst_RawGet::signalEndsExecProgram()
{
    QFETCH(const QStringList, command);
    QFETCH(const int, number);
    const QTemporaryDir folder;
    const QString script = writeFile(folder, u"plugin.sh"_s,
        "sleep 300 & echo $! > '" + folder.filePath(u"child"_s).toUtf8() + "'\nwait\n");
    const QString kubeconfig = kubeconfigWith(folder, script);
    std::signal(SIGHUP, SIG_DFL); // what the child inherits, also under nohup
    QProcess davit;
    davit.start(QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"),
        command + QStringList{u"--kubeconfig"_s, kubeconfig});
    QFile child(folder.filePath(u"child"_s));
    QTRY_VERIFY_WITH_TIMEOUT(child.size() > 0, 20000);
    QVERIFY(child.open(QIODevice::ReadOnly));
    const QString process = u"/proc/"_s + QString::fromLatin1(child.readAll().trimmed());
    QVERIFY(QFile::exists(process));
    QVERIFY(::kill(pid_t(davit.processId()), number) == 0);
    QVERIFY(davit.waitForFinished(20000));
    QCOMPARE(davit.exitStatus(), QProcess::CrashExit); // of the signal
    const auto runs = [&process] {
        QFile stat(process + u"/stat"_s);
        return stat.open(QIODevice::ReadOnly) && !stat.readAll().contains(") Z ");
    };
    QTRY_VERIFY_WITH_TIMEOUT(!runs(), 20000);
}

void tst_RawGet::execEnvironment_data()
{
    QTest::addColumn<QByteArray>("given"); // null: nothing
    QTest::addColumn<QByteArray>("seen");
    QTest::newRow("davit sets it for itself") << QByteArray() << "unset\n"_ba;
    QTest::newRow("the user's own") << "1"_ba
                                    << "1\n"_ba;
    QTest::newRow("the user's own, empty") << ""_ba
                                           << "\n"_ba;
}

void tst_RawGet::execEnvironment()
{
    QFETCH(const QByteArray, given);
    const QTemporaryDir folder;
    const QString script = writeFile(folder, u"plugin.sh"_s,
        "echo \"${QT_NO_GLIB-unset}\" > '" + folder.filePath(u"seen"_s).toUtf8() + "'\n");
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.remove(u"QT_NO_GLIB"_s);
    if (!given.isNull())
        environment.insert(u"QT_NO_GLIB"_s, QString::fromLatin1(given));
    QProcess davit;
    davit.setProcessEnvironment(environment);
    davit.start(QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"),
        {u"get"_s, u"--raw=/version"_s, u"--kubeconfig"_s, kubeconfigWith(folder, script)});
    QVERIFY(davit.waitForFinished(60000));
    QFile seen(folder.filePath(u"seen"_s));
    QVERIFY(seen.open(QIODevice::ReadOnly));
    QTEST(seen.readAll(), "seen");
}

QTEST_GUILESS_MAIN(tst_RawGet)
#include "tst_rawget.moc"
