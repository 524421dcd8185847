// Exec plugins: what they are told, what is made of their answers, and when they run again.
#include "aheadtime.h"
#include "execrig.h"
#include "recorder.h"
#include "transport/execcredential.h"
#include "transport/kubeconfig.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

using namespace davit;
using namespace davit::transport;
using namespace execrig;
using namespace std::chrono_literals;
using namespace Qt::Literals::StringLiterals;

namespace {

int runsIn(const QTemporaryDir &folder)
{
    QFile file(folder.filePath(QStringLiteral("runs")));
    return file.open(QIODevice::ReadOnly) ? int(file.readAll().count('x')) : 0;
}

// An ExecCredential with that certificate and key, on one line.
QByteArray credentialOf(const char *certificate, const char *key, const QString &expires = {})
{
    QJsonObject status{
        {u"clientCertificateData"_s, QString::fromLatin1(caseData(QLatin1StringView(certificate)))},
        {u"clientKeyData"_s, QString::fromLatin1(caseData(QLatin1StringView(key)))}};
    if (!expires.isEmpty())
        status.insert(u"expirationTimestamp"_s, expires);
    const QJsonObject credential{
        {u"apiVersion"_s, kV1}, {u"kind"_s, u"ExecCredential"_s}, {u"status"_s, status}};
    return QJsonDocument(credential).toJson(QJsonDocument::Compact);
}

// Script lines that print the text and end, but only at the first run.
QByteArray printingOnce(const QTemporaryDir &folder, const QByteArray &text)
{
    const QByteArray mark = folder.filePath(u"mark"_s).toUtf8();
    return "if [ ! -e " + mark + " ]; then touch " + mark + "; cat <<'END'\n" + text
        + "\nEND\nexit; fi\n";
}

} // namespace

class tst_Exec : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void outputs_data();
    void outputs();
    void info();
    void modes_data();
    void modes();
    void faults_data();
    void faults();
    void manyRequestsOneRun();
    void runsAgainWhenExpired();
    void installHints();
    void runsAgainAfterRefusal();
    void certificate_data();
    void certificate();
    void slowerThanTheRequestMayTake();
    void orphansDoNotDisturb_data();
    void orphansDoNotDisturb();
    void inheritsNothing();
    void terminal_data();
    void terminal();
};

void tst_Exec::outputs_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("fault");
    QTest::addColumn<qint64>("expires"); // seconds since 1970; -1: never
    const auto credential = [](const QByteArray &status) {
        return "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
               "\"status\":{"
            + status + "}}";
    };
    const auto good = [](const char *name, const QByteArray &text, qint64 expires = -1) {
        QTest::newRow(name) << text << QString() << expires;
    };
    const auto bad = [](const char *name, const QByteArray &text, const char *fault) {
        QTest::newRow(name) << text << QString::fromLatin1(fault) << qint64(-1);
    };
    const auto expiring = [&](const QByteArray &time) {
        return credential("\"token\":\"t\",\"expirationTimestamp\":" + time);
    };
    good("token", credential("\"token\":\"t\""));
    good("certificate and key",
        credential("\"clientCertificateData\":\"c\",\"clientKeyData\":\"k\""));
    good("B03 offset", caseData(u"B03-execcredential.json"_s), 1893546245); // 01:04:05Z
    good("null is no member",
        credential("\"token\":\"t\",\"clientKeyData\":null,\"expirationTimestamp\":null"));
    good("C-67 a fraction", expiring("\"2030-01-01T00:00:00.5Z\""), 1893456000);
    good("C-67 never, as many write it", expiring("\"9999-12-31T23:59:59Z\""), 9223372035);
    good("C-67 past the end of 64 bits", expiring("\"2263-01-01T00:00:00Z\""), 9223372035);
    good("C-67 long ago", expiring("\"1970-01-01T00:00:01Z\""), 1);
    good("C-67 Go's zero", expiring("\"0001-01-01T00:00:00Z\""), 0);
    const char *noTime = "it printed an expirationTimestamp that is no RFC 3339 time";
    bad("C-67 a word for a time", expiring("\"soon\""), noTime);
    bad("C-67 a day", expiring("\"2030-01-01\""), noTime);
    bad("C-67 no zone", expiring("\"2030-01-01T00:00:00\""), noTime);
    bad("C-67 an empty time", expiring("\"\""), noTime);
    bad("C-67 a number for a time", expiring("1893456000"),
        "it printed a status.expirationTimestamp that is no text");
    bad("a number for a token", credential("\"token\":4711"),
        "it printed a status.token that is no text");
    bad("a list for a key", credential("\"token\":\"t\",\"clientKeyData\":[]"),
        "it printed a status.clientKeyData that is no text");
    bad("C-67 empty status", credential(""), "it printed neither a token nor a certificate");
    bad("C-67 certificate alone", credential("\"clientCertificateData\":\"c\""),
        "it printed a certificate without a key, or a key without a certificate");
    bad("nothing", {}, "it printed no JSON object");
    bad("C-67 another version", credential("\"token\":\"t\"").replace("/v1\"", "/v1beta1\""),
        "it printed another apiVersion than the kubeconfig names");
    bad("a token with a header in it", credential(R"("token":"a\r\nX-Remote-User: root")"),
        "it printed a token with control characters");
    bad("another kind", "{\"kind\":\"Pod\"}", "it printed something else than an ExecCredential");
}

void tst_Exec::outputs()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, fault);
    const auto output = parseExecOutput(text, kV1);
    QCOMPARE(output.isOk() ? QString() : output.error().message(), fault);
    const auto expires = output.isOk() ? output.value().expires : std::nullopt;
    QTEST(expires ? qint64(std::chrono::floor<std::chrono::seconds>(*expires).count()) : qint64(-1),
        "expires");
}

// C-65
void tst_Exec::info()
{
    ClusterConfig config = tlsConfig(6443);
    config.exec.emplace();
    config.exec->apiVersion = kV1;
    const auto spec = [&](bool isInteractive) {
        return QJsonDocument::fromJson(execInfo(config, isInteractive))[QLatin1String("spec")];
    };
    QCOMPARE(spec(true)[QLatin1String("interactive")], QJsonValue(true));
    QCOMPARE(spec(false)[QLatin1String("interactive")], QJsonValue(false));
    QVERIFY(spec(false)[QLatin1String("cluster")].isUndefined());
    config.exec->isClusterInfoProvided = true;
    config.exec->clusterExtensionJson = "{\"audience\":\"x\"}"_ba;
    const QJsonValue cluster = spec(false)[QLatin1String("cluster")];
    QCOMPARE(cluster[QLatin1String("server")].toString(), QStringLiteral("https://127.0.0.1:6443"));
    QCOMPARE(QByteArray::fromBase64(
                 cluster[QLatin1String("certificate-authority-data")].toString().toLatin1()),
        config.caPem);
    QCOMPARE(cluster[QLatin1String("config")][QLatin1String("audience")].toString(),
        QStringLiteral("x"));
}

void tst_Exec::modes_data()
{
    QTest::addColumn<QString>("context");
    QTest::addColumn<QByteArray>("header"); // empty: an error
    QTest::newRow("B01 v1beta1: if available") << "v1beta1-missing"
                                               << "Bearer tok-v1beta1-missing-notty"_ba;
    QTest::newRow("B01 never") << "v1-never"
                               << "Bearer tok-v1-never-notty"_ba;
    QTest::newRow("B01 if available") << "v1-ifavailable"
                                      << "Bearer tok-v1-ifavailable-notty"_ba;
    QTest::newRow("B01 always, but no terminal") << "v1-always"
                                                 << ""_ba;
}

void tst_Exec::modes()
{
    QFETCH(const QString, context);
    QFETCH(const QByteArray, header);
    RawServer server(tellToken, serverTls());
    const auto loaded = loadClusterConfig(
        {QStringLiteral(DAVIT_TEST_DATA "/cases/B01-kubeconfig.yaml"), context});
    QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
    ClusterConfig config = loaded.value();
    config.server.setPort(server.port());
    const auto body = getOnce(*makeQnamTransport(config));
    if (header.isEmpty()) {
        QVERIFY(!body.isOk());
        QVERIFY2(body.error().message().endsWith(QLatin1String(
                     "interactiveMode is Always and there is no terminal; run davit in one, or "
                     "write IfAvailable")),
            qPrintable(body.error().message()));
        return;
    }
    QVERIFY2(body.isOk(), qPrintable(body.isOk() ? QString() : body.error().message()));
    QCOMPARE(body.value(), header);
}

void tst_Exec::faults_data()
{
    QTest::addColumn<QByteArray>("script");
    QTest::addColumn<QString>("end");
    const QString byHand
        = u"; its own words stand on standard error, run it in a shell to see more"_s;
    const QString mustPrint = u"; it has to print one ExecCredential and nothing else, run it in a "
                              "shell to see what it does"_s;
    QTest::newRow("C-71 exit code")
        << "exit 3"_ba << u"plugin.sh: it ended with exit code 3"_s + byHand;
    QTest::newRow("killed") << "kill -9 $$"_ba << u"plugin.sh: signal 9 ended it"_s + byHand;
    QTest::newRow("no JSON") << "echo hello"_ba
                             << u"plugin.sh: it printed no JSON object"_s + mustPrint;
    QTest::newRow("endless") << "yes"_ba << u"plugin.sh: it printed more than 1 MiB"_s + mustPrint;
    QTest::newRow("too much, and an end")
        << "yes | head -c 1048577"_ba << u"plugin.sh: it printed more than 1 MiB"_s + mustPrint;
    QTest::newRow("C-71 missing") << ""_ba
                                  << "No such file or directory; get it at x.io";
}

void tst_Exec::faults()
{
    QFETCH(const QByteArray, script);
    QFETCH(const QString, end);
    RawServer server(tellToken, serverTls());
    QTemporaryDir folder;
    ClusterConfig config = execConfig(server.port(), folder, script);
    if (script.isEmpty()) {
        config.exec->command = folder.filePath(QStringLiteral("missing"));
        config.exec->installHint = QStringLiteral("get it at x.io");
    }
    const auto body = getOnce(*makeQnamTransport(config));
    QVERIFY(!body.isOk());
    QCOMPARE(body.error().code(), ErrorCode::InvalidConfiguration);
    QVERIFY2(body.error().message().startsWith(QLatin1String("test: user \"u\": exec plugin /")),
        qPrintable(body.error().message()));
    QVERIFY2(body.error().message().endsWith(end), qPrintable(body.error().message()));
}

void tst_Exec::manyRequestsOneRun()
{
    RawServer server(tellToken, serverTls());
    QTemporaryDir folder;
    const auto transport
        = makeQnamTransport(execConfig(server.port(), folder, "sleep 0.2\n" + printing(folder)));
    Caller caller(*transport);
    std::vector<Recorder> recorders(20);
    std::vector<std::unique_ptr<Exchange>> exchanges;
    for (Recorder &recorder : recorders)
        exchanges.push_back(caller.start(Request{}, recorder));
    exchanges.front().reset(); // one of those that wait gives up
    for (size_t i = 1; i < recorders.size(); ++i) {
        QVERIFY(recorders[i].waitForEnd());
        QCOMPARE(recorders[i].body(), "Bearer t1"_ba);
    }
    QCOMPARE(runsIn(folder), 1);
}

// C-68, B03: the time it prints has an offset; ten seconds before it the credential is renewed.
void tst_Exec::runsAgainWhenExpired()
{
    RawServer server(tellToken, serverTls());
    QTemporaryDir folder;
    const auto expiring = [&](std::chrono::seconds after) {
        const QDateTime time = QDateTime::currentDateTimeUtc().addSecs(after.count());
        return printing(folder,
            ",\"expirationTimestamp\":\""
                + time.toOffsetFromUtc(7200).toString(Qt::ISODate).toUtf8() + '"');
    };
    const auto lasting = makeQnamTransport(execConfig(server.port(), folder, expiring(1h)));
    QCOMPARE(getOnce(*lasting).value(), "Bearer t1"_ba);
    const auto forEver = makeQnamTransport(execConfig(server.port(), folder,
        printing(folder, ",\"expirationTimestamp\":\"9999-12-31T23:59:59Z\"")));
    QCOMPARE(getOnce(*forEver).value(), "Bearer t2"_ba);
    QCOMPARE(getOnce(*forEver).value(), "Bearer t2"_ba);
    QList<ExecRun> runs;
    TransportOptions options;
    options.onExecRun = [&runs](const ExecRun &run) { runs << run; };
    const auto expired
        = makeQnamTransport(execConfig(server.port(), folder, expiring(5s)), options);
    QCOMPARE(getOnce(*expired).value(), "Bearer t3"_ba);
    QCOMPARE(getOnce(*expired).value(), "Bearer t4"_ba);
    QCOMPARE(runs.size(), 2); // C-75
    QCOMPARE(QByteArray(runs[0].callStatus), "no_error"_ba);
    QVERIFY(runs[1].expires.has_value());
}

// C-71, C-75: the hint is shown ten times an hour, each failure is counted.
void tst_Exec::installHints()
{
    RawServer server(tellToken, serverTls());
    QTemporaryDir folder;
    ClusterConfig config = execConfig(server.port(), folder, {});
    config.exec->command = folder.filePath(QStringLiteral("missing"));
    config.exec->installHint = QStringLiteral("get it at x.io");
    AheadTime time;
    QByteArrayList statuses;
    TransportOptions options;
    options.time = &time;
    options.onExecRun = [&statuses](const ExecRun &run) { statuses << run.callStatus; };
    const auto transport = makeQnamTransport(config, options);
    const auto hasHint
        = [&] { return getOnce(*transport).error().message().endsWith(config.exec->installHint); };
    for (int i = 0; i < 10; ++i)
        QVERIFY(hasHint());
    QVERIFY(!hasHint());
    time.advance(1h);
    QVERIFY(hasHint());
    QCOMPARE(statuses, QByteArrayList(12, "plugin_not_found_error"));
}

// C-69, B03: the server knows better than the clock.
void tst_Exec::runsAgainAfterRefusal()
{
    std::atomic<int> refused{0};
    RawServer server(
        [&](RawConnection &connection) {
            RawRequest request;
            while (connection.read(request)) {
                const bool isGood = request.headers["authorization"] == "Bearer t2";
                refused += isGood ? 0 : 1;
                connection.answer(isGood ? 200 : 401, "body"_ba);
            }
        },
        serverTls());
    QTemporaryDir folder;
    const auto transport = makeQnamTransport(execConfig(server.port(), folder, printing(folder)));
    QCOMPARE(getOnce(*transport).value(), "body"_ba);
    QCOMPARE(runsIn(folder), 2);
    QCOMPARE(refused.load(), 1);
    QCOMPARE(getOnce(*transport).value(), "body"_ba);
    QCOMPARE(runsIn(folder), 2);
}

void tst_Exec::certificate_data()
{
    QTest::addColumn<QString>("expires"); // the first one; empty: never
    QTest::addColumn<bool>("isRefused"); // the first one, by calls
    QTest::addColumn<QByteArray>("name"); // who the next call is
    QTest::newRow("C-67 used") << QString() << false << "dev-ec"_ba;
    QTest::newRow("C-68 renewed when it ends")
        << u"2026-01-02T03:04:05+02:00"_s << false << "dev-rsa"_ba;
    QTest::newRow("C-69 renewed when it is refused") << QString() << true << "dev-rsa"_ba;
}

// C-69: once there is another one no connection of the old one stays, a watch's is none.
void tst_Exec::certificate()
{
    QFETCH(const QString, expires);
    QFETCH(const bool, isRefused);
    QFETCH(const QByteArray, name);
    std::atomic<int> open{0};
    RawServer server(
        [&](RawConnection &connection) {
            ++open;
            tellName(connection, isRefused ? "dev-ec"_ba : ""_ba);
            --open;
        },
        mutualTls());
    QTemporaryDir folder;
    const auto transport = makeQnamTransport(execConfig(server.port(), folder,
        printingOnce(folder, credentialOf("B10-client-ec.pem", "B10-key-ec-sec1.pem", expires))
            + "cat <<'END'\n" + credentialOf("B10-client-rsa.pem", "B10-key-rsa-pkcs1.pem")
            + "\nEND\n"));
    Caller caller(*transport);
    Request watch;
    watch.target = "/watch"_ba;
    watch.channel = Channel::Watch;
    Recorder running;
    const auto exchange = caller.start(watch, running);
    QVERIFY(running.waitForBytes(6));
    QCOMPARE(running.body(), "dev-ec"_ba);
    const auto body = getOnce(*transport);
    QVERIFY2(body.isOk(), qPrintable(body.isOk() ? QString() : body.error().message()));
    QCOMPARE(body.value(), name);
    if (name == "dev-ec") {
        QCOMPARE(running.ends(), 0);
        return;
    }
    QVERIFY(running.waitForEnd());
    QCOMPARE(running.error().code(), ErrorCode::ConnectionLost);
    QTRY_COMPARE(open.load(), 1); // that of the call; the io thread closes the others
}

// The server is never reached: that is said, and not that it is slow.
void tst_Exec::slowerThanTheRequestMayTake()
{
    RawServer server(tellToken, serverTls());
    QTemporaryDir folder;
    const ClusterConfig config = execConfig(server.port(), folder, "exec sleep 300\n");
    const auto transport = makeQnamTransport(config);
    Caller caller(*transport);
    Recorder recorder;
    Request request;
    request.target = "/api/v1";
    request.totalDeadline = 300ms;
    const auto exchange = caller.start(request, recorder);
    QVERIFY(recorder.waitForEnd());
    QCOMPARE(recorder.error().code(), ErrorCode::Timeout);
    QCOMPARE(recorder.error().message(),
        QStringLiteral("GET https://127.0.0.1:%1/api/v1: it was not sent: exec plugin %2 has not "
                       "given a credential within 0.3 s")
            .arg(server.port())
            .arg(config.exec->command));
}

void tst_Exec::orphansDoNotDisturb_data()
{
    QTest::addColumn<int>("times");
    QTest::addColumn<int>("atOnce");
    QTest::newRow("B63 one after the other") << 10 << 1;
    QTest::newRow("B63 two hundred, side by side") << 200 << 40;
}

// B63: a plugin that leaves a child behind which keeps nothing of ours open, and ends at once: its
// exit code and what it printed come from each run.
void tst_Exec::orphansDoNotDisturb()
{
    QFETCH(const int, times);
    QFETCH(const int, atOnce);
    RawServer server(tellToken, serverTls());
    ClusterConfig config = tlsConfig(server.port());
    config.exec.emplace();
    config.exec->apiVersion = kV1;
    config.exec->interactiveMode = ExecConfig::InteractiveMode::Never;
    config.exec->command = QStringLiteral("/bin/sh");
    config.exec->arguments
        = QStringList{QStringLiteral(DAVIT_TEST_DATA "/cases/B63-exec-orphan.sh")};
    struct Run
    {
        std::unique_ptr<Transport> transport;
        Recorder recorder;
        std::unique_ptr<Caller> caller;
        std::unique_ptr<Exchange> exchange;
    };
    for (int done = 0; done < times; done += atOnce) {
        std::vector<std::unique_ptr<Run>> runs;
        for (int i = 0; i < atOnce; ++i) {
            auto run = std::make_unique<Run>();
            run->transport = makeQnamTransport(config);
            run->caller = std::make_unique<Caller>(*run->transport);
            run->exchange = run->caller->start(Request{}, run->recorder);
            runs.push_back(std::move(run));
        }
        for (const auto &run : runs) {
            QVERIFY(run->recorder.waitForEnd());
            QVERIFY2(!run->recorder.error().isError(), qPrintable(run->recorder.error().message()));
            QCOMPARE(run->recorder.body(), "Bearer t"_ba);
        }
    }
}

// B63: nothing but the three standard files, whatever is open here and was before us.
void tst_Exec::inheritsNothing()
{
    const int inherited = ::open("/dev/null", O_RDONLY); // without O_CLOEXEC
    QVERIFY(inherited >= 3);
    RawServer server(tellToken, serverTls());
    QTemporaryDir folder;
    const QByteArray seen = folder.filePath(QStringLiteral("seen")).toUtf8();
    const auto transport = makeQnamTransport(execConfig(
        server.port(), folder, "ls -l /proc/self/fd > " + seen + '\n' + printing(folder)));
    const auto body = getOnce(*transport);
    QVERIFY2(body.isOk(), qPrintable(body.isOk() ? QString() : body.error().message()));
    ::close(inherited);
    QFile file(QString::fromUtf8(seen));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    QList<int> numbers;
    for (const QByteArray &line : text.split('\n'))
        if (line.contains(" -> ") && !line.contains(" -> /proc/")) // which ls itself reads
            numbers.append(line.left(line.indexOf(" -> ")).split(' ').last().toInt());
    QCOMPARE(numbers, (QList<int>{0, 1, 2}));
}

void tst_Exec::terminal_data()
{
    using Mode = ExecConfig::InteractiveMode;
    QTest::addColumn<Mode>("mode");
    QTest::addColumn<bool>("isAsked"); // the program may ask the person
    QTest::newRow("B01 IfAvailable") << Mode::IfAvailable << true;
    QTest::newRow("B01 Always") << Mode::Always << true;
    QTest::newRow("B01 Never") << Mode::Never << false;
}

// Standard input is a terminal here: who may have it has it, and is told so.
void tst_Exec::terminal()
{
    QFETCH(const ExecConfig::InteractiveMode, mode);
    const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    QVERIFY(master >= 0 && ::grantpt(master) == 0 && ::unlockpt(master) == 0);
    const int slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    const int before = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    QVERIFY(slave >= 0 && before >= 0 && ::dup2(slave, STDIN_FILENO) == STDIN_FILENO);
    RawServer server(tellToken, serverTls());
    QTemporaryDir folder;
    const QByteArray seen = folder.filePath(QStringLiteral("seen")).toUtf8();
    ClusterConfig config = execConfig(server.port(), folder,
        "{ echo \"$KUBERNETES_EXEC_INFO\"; [ ! -t 0 ] || echo terminal; } > " + seen + '\n'
            + printing(folder));
    config.exec->interactiveMode = mode;
    const auto body = getOnce(*makeQnamTransport(config));
    ::dup2(before, STDIN_FILENO);
    for (const int file : {before, slave, master})
        ::close(file);
    QVERIFY2(body.isOk(), qPrintable(body.isOk() ? QString() : body.error().message()));
    QFile file(QString::fromUtf8(seen));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    QTEST(text.contains("\"interactive\":true"), "isAsked");
    QTEST(text.endsWith("\nterminal\n"), "isAsked");
}

int main(int argc, char **argv)
{
    if (!std::freopen("/dev/null", "r", stdin)) // no terminal, wherever the test is run
        return 1;
    for (int number = 3; number < 1024; ++number) // what whoever runs the test left open
        ::fcntl(number, F_SETFD, FD_CLOEXEC);
    QCoreApplication application(argc, argv);
    tst_Exec test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_exec.moc"
