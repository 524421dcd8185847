// "davit check" and "davit get --raw" with servers that begin to answer and do not come to an end,
// that ask to come again or answer something else, whose certificates or ours have ended, and with
// an address whose scheme is not the server's.
#include "../transport/tlsfixture.h"
#include "troubledserver.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTest>

using namespace davit;
using namespace Qt::Literals::StringLiterals;

class tst_CheckServer : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void trickles_data();
    void trickles();
    void longHead();
    void busy_data();
    void busy();
    void strange_data();
    void strange();
    void certificates_data();
    void certificates();
    void printedCertificate_data();
    void printedCertificate();
    void schemes_data();
    void schemes();
    void isNotRedacted();
    void nothingThere_data();
    void nothingThere();
};

void tst_CheckServer::trickles_data()
{
    QTest::addColumn<QByteArray>("path"); // its end
    QTest::addColumn<QString>("topic");
    QTest::addColumn<QString>("text"); // SERVER stands for its address
    QTest::newRow("the version") << "/version"_ba << u"server"_s
                                 << u"FAIL: GET SERVER/version: no whole answer within 10 s; it "
                                    "began to answer: look at its load, and at what stands before "
                                    "it"_s;
    QTest::newRow("who we are") << "selfsubjectreviews"_ba << u"identity"_s
                                << u"FAIL: the server does not tell who we are: POST "
                                   "SERVER/apis/authentication.k8s.io/v1/selfsubjectreviews: no "
                                   "whole answer within 10 s; it began to answer: look at its "
                                   "load, and at what stands before it"_s;
    QTest::newRow("the kinds") << "/api/v1"_ba << u"kinds"_s
                               << u"FAIL: the server does not say what it serves: GET "
                                  "SERVER/api/v1: no whole answer within 10 s; look at its load, "
                                  "and at what stands before it"_s;
}

void tst_CheckServer::trickles()
{
    QFETCH(const QByteArray, path);
    QFETCH(const QString, topic);
    QFETCH(QString, text);
    Trouble trouble;
    trouble.cut = path;
    RawServer server([&](RawConnection &connection) { play(trouble, connection); }, serverTls());
    const QByteArray url = "https://127.0.0.1:" + QByteArray::number(server.port());
    const QTemporaryDir dir;
    const Outcome outcome = davitWith({u"check"_s, u"--plugin-dir"_s,
        QStringLiteral(DAVIT_BUILD_DIR "/plugins/replicator.so"), u"--kubeconfig"_s,
        writeKubeconfig(
            dir, url, "token: t", QStringLiteral(DAVIT_TEST_DATA "/cases/common-ca.pem"))});
    QCOMPARE(outcome.exitCode, 3);
    QCOMPARE(finding(outcome, topic), text.replace(u"SERVER"_s, QString::fromLatin1(url)));
}

// The connection stays open: Qt would wait for its end.
void tst_CheckServer::longHead()
{
    RawServer server([](RawConnection &connection) {
        RawRequest request;
        while (connection.read(request))
            connection.answer(200, "{}", "X: " + QByteArray(110 * 1024, 'x') + "\r\n");
    });
    const QByteArray url = "http://127.0.0.1:" + QByteArray::number(server.port());
    const QTemporaryDir dir;
    const QString path = writeKubeconfig(dir, url, "token: t");
    const QString fault
        = u"GET %1/version: the head of the answer (HTTP 200) cannot be used: it has "
          "no line, more than 100, one above 100 KiB, or more than 256 KiB in all, "
          "which are Qt's limits; "_s.arg(QString::fromLatin1(url));
    const Outcome check = davitWith({u"check"_s, u"--kubeconfig"_s, path});
    QCOMPARE(check.exitCode, 3);
    QCOMPARE(finding(check, u"server"_s),
        u"FAIL: "_s + fault + u"look at what stands before the server, a proxy or a gateway"_s);
    const Outcome get = davitWith({u"get"_s, u"--raw=/version"_s, u"--kubeconfig"_s, path});
    QCOMPARE(get.exitCode, 3);
    QCOMPARE(get.errors, u"davit: "_s + fault + u"davit check looks for the reason\n"_s);
}

void tst_CheckServer::busy_data()
{
    QTest::addColumn<QByteArray>("path"); // its end
    QTest::addColumn<int>("httpStatus");
    QTest::addColumn<int>("refusals");
    QTest::addColumn<int>("checkExit");
    QTest::addColumn<int>("getExit"); // of get --raw PATH; -1: nobody gets that
    for (const int status : {429, 503}) {
        const auto row = [status](const char *name, const QByteArray &path, int refusals,
                             int checkExit, int getExit) {
            QTest::addRow("%s, %d", name, status)
                << path << status << refusals << checkExit << getExit;
        };
        row("the version", "/version"_ba, 1, 0, 0);
        row("the version, for long", "/version"_ba, 1000, 3, 1);
        row("who we are", "/selfsubjectreviews"_ba, 1, 0, -1);
        row("a right", "/selfsubjectaccessreviews"_ba, 1, 0, -1);
        row("the kinds", "/api/v1"_ba, 1, 0, 0);
    }
}

// C-8: what the server refuses with Retry-After is asked again, ten times at most.
void tst_CheckServer::busy()
{
    QFETCH(const QByteArray, path);
    QFETCH(const int, httpStatus);
    QFETCH(const int, refusals);
    QFETCH(const int, checkExit);
    QFETCH(const int, getExit);
    Trouble trouble;
    trouble.busy = path;
    trouble.busyStatus = httpStatus;
    trouble.retryAfter = refusals > 1 ? "0" : "1";
    trouble.refusals = std::make_shared<std::atomic<int>>(refusals);
    RawServer server([&](RawConnection &connection) { play(trouble, connection); }, serverTls());
    const QTemporaryDir dir;
    const QStringList kubeconfig{u"--kubeconfig"_s,
        writeKubeconfig(dir, "https://127.0.0.1:" + QByteArray::number(server.port()), "token: t",
            QStringLiteral(DAVIT_TEST_DATA "/cases/common-ca.pem"))};
    const Outcome check = davitWith(QStringList{u"check"_s, u"--plugin-dir"_s,
                                        QStringLiteral(DAVIT_BUILD_DIR "/plugins/replicator.so")}
        + kubeconfig);
    QVERIFY2(check.exitCode == checkExit, qPrintable(check.out + check.errors));
    if (checkExit != 0)
        QCOMPARE(refusals - *trouble.refusals, 11);
    if (getExit < 0)
        return;
    *trouble.refusals = refusals;
    const Outcome get
        = davitWith(QStringList{u"get"_s, u"--raw"_s, QString::fromLatin1(path)} + kubeconfig);
    QVERIFY2(get.exitCode == getExit, qPrintable(get.out + get.errors));
}

void tst_CheckServer::strange_data()
{
    QTest::addColumn<QByteArray>("path"); // its end
    QTest::addColumn<QByteArray>("words");
    QTest::addColumn<QString>("topic");
    QTest::addColumn<QString>("text");
    const QString end = u"; look at what stands before SERVER"_s;
    const auto rows = [&](const char *name, const char *path, const char *topic,
                          const QString &text, const QByteArrayList &answers) {
        for (const QByteArray &words : answers)
            QTest::addRow("%s, %s", name, words.constData())
                << QByteArray(path) << words << QString::fromLatin1(topic) << text + end;
    };
    rows("who we are", "/selfsubjectreviews", "identity",
        u"FAIL: the server does not tell who we are: its answer (HTTP 200) is no "
        "SelfSubjectReview that names a user"_s,
        {"<html>login</html>", "{}", "", "[]", R"({"status":{"userInfo":{"username":""}}})",
            R"({"status":{"userInfo":{"username":7}}})", R"({"status":{"userInfo":["bob"]}})"});
    rows("a right", "/selfsubjectaccessreviews", "plugins",
        u"FAIL: the server does not say what this user may do: its answer (HTTP 200) is no "
        "SelfSubjectAccessReview that allows or denies"_s,
        {"<html>login</html>", "{}", "", R"({"status":{}})", R"({"status":{"allowed":"yes"}})",
            R"({"status":{"allowed":null}})"});
    rows("the kinds", "/api/v1", "kinds",
        u"FAIL: the server does not say what it serves at /api/v1: its answer (HTTP 200) is no "
        "APIResourceList"_s,
        {"<html>login</html>", "{}", R"({"resources":{}})"});
}

// An answer that is none is never taken for a yes or a no.
void tst_CheckServer::strange()
{
    QFETCH(const QByteArray, path);
    QFETCH(const QByteArray, words);
    QFETCH(const QString, topic);
    QFETCH(QString, text);
    Trouble trouble;
    trouble.strange = path;
    trouble.words = words;
    RawServer server([&](RawConnection &connection) { play(trouble, connection); }, serverTls());
    const QTemporaryDir dir;
    const QByteArray url = "https://127.0.0.1:" + QByteArray::number(server.port());
    const Outcome outcome = davitWith({u"check"_s, u"--plugin-dir"_s,
        QStringLiteral(DAVIT_BUILD_DIR "/plugins/replicator.so"), u"--kubeconfig"_s,
        writeKubeconfig(
            dir, url, "token: t", QStringLiteral(DAVIT_TEST_DATA "/cases/common-ca.pem"))});
    QCOMPARE(finding(outcome, topic), text.replace(u"SERVER"_s, QString::fromLatin1(url)));
    QCOMPARE(outcome.exitCode, 2);
    QVERIFY2(!outcome.out.contains(u"kubectl create"), qPrintable(outcome.out));
}

void tst_CheckServer::certificates_data()
{
    QTest::addColumn<QString>("server"); // files of tests/data/tls
    QTest::addColumn<QString>("ca"); // of the kubeconfig; empty: it is insecure
    QTest::addColumn<QString>("client"); // empty: a token
    QTest::addColumn<bool>("isDemanded"); // the server ends TLS without a client certificate
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QStringList>("lines"); // patterns of the findings that are not "ok"
    const auto row = [](const char *name, const char *server, const char *ca, const char *client,
                         bool isDemanded, int exitCode, const QStringList &lines) {
        QTest::newRow(name) << QString::fromLatin1(server) << QString::fromLatin1(ca)
                            << QString::fromLatin1(client) << isDemanded << exitCode << lines;
    };
    const QString clock = u"look clock says 20.*Z here, the server's is not known; .* by NTP"_s;
    const QString below = u"FAIL server .*; see the certificates below"_s;
    const QString ended = u" ended .* days ago, at 2021-01-01T00:00:00Z; "_s;
    const QString early = u" is not valid before 2090-01-01T00:00:00Z, in .* days; "_s;
    const QString renew = u"renew it on the server"_s;
    const QString replace = u"put a new one in its place, Davit takes it up while it runs"_s;
    const QString refused = u"FAIL credential https://.* does not accept it \\(GET https://.*: the "
                            "server %1 \\(TLS alert: %2\\)\\); renew it, or check the user in .*"_s;
    const QString notAccepted = u"does not accept the client certificate"_s;
    row("all good", "good-server", "good-ca", "", false, 0, {});
    row("the server's is over", "ended-server", "good-ca", "", false, 3,
        {below, clock, u"FAIL server cert"_s + ended + renew});
    row("the server's is to come", "early-server", "good-ca", "", false, 3,
        {below, clock, u"FAIL server cert"_s + early + renew});
    row("the server's is over, insecure", "ended-server", "", "", false, 0,
        {u"look server whoever .*"_s, u"look server cert"_s + ended + renew});
    row("the server's is to come, insecure", "early-server", "", "", false, 0,
        {u"look server whoever .*"_s, u"look server cert"_s + early + renew});
    row("the CA is over", "endedca-server", "ended-ca", "", false, 3,
        {below, clock,
            u"FAIL ca cert"_s + ended
                + u"it is ended-ca in /.*/tls/ended-ca.pem, put the cluster's present one there"_s});
    row("another CA", "good-server", "ended-client", "", false, 3,
        {below, clock, u"FAIL ca cert.*"_s});
    row("the client's is over", "good-server", "good-ca", "ended-client", false, 4,
        {u"FAIL client cert"_s + ended + replace});
    row("the client's is to come", "good-server", "good-ca", "early-client", false, 4,
        {u"FAIL client cert"_s + early + replace});
    row("the client's is refused, over", "good-server", "good-ca", "ended-client", true, 4,
        {refused.arg(notAccepted, u"certificate expired"_s),
            u"FAIL client cert"_s + ended + replace});
    row("the client's is refused, to come", "good-server", "good-ca", "early-client", true, 4,
        {refused.arg(notAccepted, u"bad certificate"_s), u"FAIL client cert"_s + early + replace});
    row("the client's is refused, of nobody known", "good-server", "good-ca", "endedca-server",
        true, 4, {refused.arg(notAccepted, u"unknown ca"_s)});
    row("a client's is demanded", "good-server", "good-ca", "", true, 4,
        {refused.arg(
            u"wants a client certificate, and there is none"_s, u"certificate required"_s)});
}

// What has ended or is to come is named with its date, and a refused credential is one.
void tst_CheckServer::certificates()
{
    QFETCH(const QString, server);
    QFETCH(const QString, ca);
    QFETCH(const QString, client);
    QFETCH(const bool, isDemanded);
    QFETCH(const int, exitCode);
    QFETCH(const QStringList, lines);
    const auto file
        = [](const QString &name) { return QStringLiteral(DAVIT_TEST_DATA "/tls/") + name; };
    QSslConfiguration tls
        = serverTls(testData(u"tls/%1.pem"_s.arg(server)), testData(u"tls/%1.key"_s.arg(server)));
    if (isDemanded) {
        tls.setCaCertificates({QSslCertificate(testData(u"tls/good-ca.pem"_s), QSsl::Pem)});
        tls.setPeerVerifyMode(QSslSocket::VerifyPeer);
        tls.setHandshakeMustInterruptOnError(true);
        tls.setMissingCertificateIsFatal(true);
    }
    RawServer running([](RawConnection &connection) { play({}, connection); }, tls);
    const QTemporaryDir dir;
    QByteArray address = "https://127.0.0.1:" + QByteArray::number(running.port());
    if (ca.isEmpty())
        address += "\", insecure-skip-tls-verify: true, tls-server-name: \"";
    const QString kubeconfig = writeKubeconfig(dir, address,
        client.isEmpty() ? "token: t"_ba
                         : "client-certificate: \"" + file(client + u".pem"_s).toUtf8()
                + "\", client-key: \"" + file(client + u".key"_s).toUtf8() + '"',
        ca.isEmpty() ? QString() : file(ca + u".pem"_s));
    const Outcome check = davitWith({u"check"_s, u"--plugin-dir"_s,
        QStringLiteral(DAVIT_BUILD_DIR "/plugins/replicator.so"), u"--kubeconfig"_s, kubeconfig});
    QVERIFY2(check.exitCode == exitCode, qPrintable(check.out));
    QStringList found;
    for (const QString &line : check.out.split(u'\n'))
        if (line.startsWith(u"FAIL") || line.startsWith(u"look"))
            found << line.simplified();
    QVERIFY2(found.size() == lines.size(), qPrintable(check.out));
    for (qsizetype i = 0; i < lines.size(); ++i)
        QVERIFY2(QRegularExpression(u"^%1$"_s.arg(lines[i])).match(found[i]).hasMatch(),
            qPrintable(found[i] + u"\n"_s + lines[i]));
    const Outcome get = davitWith({u"get"_s, u"--raw=/version"_s, u"--kubeconfig"_s, kubeconfig});
    QCOMPARE(get.exitCode, isDemanded || exitCode == 3 ? exitCode : 0);
}

void tst_CheckServer::printedCertificate_data()
{
    QTest::addColumn<QString>("certificate");
    QTest::addColumn<QString>("text"); // its begin; the end names the program
    QTest::newRow("over") << u"ended-client"_s << u"FAIL: ended "_s;
    QTest::newRow("to come") << u"early-client"_s
                             << u"FAIL: is not valid before 2090-01-01T00:00:00Z, in "_s;
}

// What an exec program prints is held to the same times.
void tst_CheckServer::printedCertificate()
{
    QFETCH(const QString, certificate);
    QFETCH(const QString, text);
    RawServer server([](RawConnection &connection) { play({}, connection); },
        serverTls(testData(u"tls/good-server.pem"_s), testData(u"tls/good-server.key"_s)));
    const QTemporaryDir dir;
    const QJsonObject status{{u"clientCertificateData"_s,
                                 QString::fromLatin1(testData(u"tls/%1.pem"_s.arg(certificate)))},
        {u"clientKeyData"_s, QString::fromLatin1(testData(u"tls/%1.key"_s.arg(certificate)))}};
    const QJsonObject credential{{u"apiVersion"_s, u"client.authentication.k8s.io/v1"_s},
        {u"kind"_s, u"ExecCredential"_s}, {u"status"_s, status}};
    const QString printed = writeFile(dir, u"printed"_s, QJsonDocument(credential).toJson());
    const Outcome outcome = davitWith({u"check"_s, u"--plugin-dir"_s,
        QStringLiteral(DAVIT_BUILD_DIR "/plugins/replicator.so"), u"--kubeconfig"_s,
        writeKubeconfig(dir, "https://127.0.0.1:" + QByteArray::number(server.port()),
            "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, "
            "command: /bin/cat, args: [\""
                + printed.toUtf8() + "\"]}",
            QStringLiteral(DAVIT_TEST_DATA "/tls/good-ca.pem"))});
    const QString found = finding(outcome, u"client cert"_s);
    QVERIFY2(found.startsWith(text), qPrintable(outcome.out));
    QVERIFY2(found.endsWith(u"; look at /bin/cat, which printed it"_s), qPrintable(outcome.out));
    QCOMPARE(outcome.exitCode, 4);
}

void tst_CheckServer::schemes_data()
{
    QTest::addColumn<QByteArray>("scheme");
    QTest::addColumn<QByteArray>("answer"); // to whatever comes
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QString>("text"); // SERVER, KUBECONFIG
    const QByteArray bad = "HTTP/1.0 400 Bad Request\r\n\r\n"_ba;
    const QString speaksTls
        = u"the API server SERVER speaks TLS alone; write https:// in KUBECONFIG"_s;
    QTest::newRow("http to TLS, Go")
        << "http://"_ba << bad + "Client sent an HTTP request to an HTTPS server.\n"
        << 2 << speaksTls;
    QTest::newRow("http to TLS, nginx")
        << "http://"_ba
        << "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n"
           "<center>The plain HTTP request was sent to HTTPS port</center>"_ba
        << 2 << speaksTls;
    QTest::newRow("TLS to http") << "https://"_ba << bad + "400 Bad Request" << 3
                                 << u"what answers at SERVER does not speak TLS ("_s;
}

void tst_CheckServer::schemes()
{
    QFETCH(const QByteArray, scheme);
    QFETCH(const QByteArray, answer);
    QFETCH(const int, exitCode);
    QFETCH(QString, text);
    RawServer server([&](RawConnection &connection) {
        connection.socket().waitForReadyRead(2000);
        connection.write(answer);
    });
    const QByteArray url = scheme + "127.0.0.1:" + QByteArray::number(server.port());
    const QTemporaryDir dir;
    const QString path = writeKubeconfig(dir, url, "token: t");
    text.replace(u"SERVER"_s, QString::fromLatin1(url));
    text.replace(u"KUBECONFIG"_s, u"kubeconfig "_s + path + u", context \"c\""_s);
    const Outcome check = davitWith({u"check"_s, u"--kubeconfig"_s, path});
    QCOMPARE(check.exitCode, exitCode);
    const QString found = finding(check, u"server"_s);
    QVERIFY2(found.startsWith(u"FAIL: "_s + text), qPrintable(check.out));
    const Outcome get = davitWith({u"get"_s, u"--raw=/version"_s, u"--kubeconfig"_s, path});
    QCOMPARE(get.exitCode, exitCode);
    QVERIFY2(get.errors.startsWith(u"davit: "_s + text), qPrintable(get.errors));
}

// What the sentence says to do is no secret.
void tst_CheckServer::isNotRedacted()
{
    const QTemporaryDir dir;
    const QString ca = writeFile(dir, u"ca"_s, "no PEM");
    const QString path = writeKubeconfig(dir, "https://127.0.0.1:1", "token: t", ca);
    const Outcome check = davitWith({u"check"_s, u"--kubeconfig"_s, path});
    QCOMPARE(check.exitCode, 2);
    QCOMPARE(finding(check, u"configuration"_s),
        u"FAIL: kubeconfig %1: cluster \"c\": the certificate authority %2 is not readable PEM, "
        "which has a line BEGIN CERTIFICATE"_s.arg(path, ca));
}

void tst_CheckServer::nothingThere_data()
{
    QTest::addColumn<QStringList>("arguments"); // but for check's --kubeconfig
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QString>("sentence"); // the end of the line with it
    QTest::newRow("check, no directory")
        << QStringList{u"check"_s, u"--plugin-dir=/none"_s} << 2
        << u"plugin directory /none: it does not exist; name another with --plugin-dir"_s;
    QTest::newRow("inspect, nothing") << QStringList{u"plugin"_s, u"inspect"_s, u"/none"_s} << 1
                                      << u"there is no such file; name the library of a plugin"_s;
    QTest::newRow("get, nobody there") << QStringList{u"get"_s,
        u"--raw=/x"_s} << 3 << u"/x: Connection refused; davit check looks for the reason"_s;
    QTest::newRow("try, nothing")
        << QStringList{u"plugin"_s, u"try"_s, u"/none"_s} << 1
        << u"not loaded: there is no regular file /none; name the library of a plugin"_s;
    QTest::newRow("try, a directory")
        << QStringList{u"plugin"_s, u"try"_s, u"/proc"_s} << 1
        << u"not loaded: there is no regular file /proc; name the library of a plugin"_s;
}

void tst_CheckServer::nothingThere()
{
    QFETCH(QStringList, arguments);
    QFETCH(const int, exitCode);
    QFETCH(const QString, sentence);
    RawServer server([](RawConnection &connection) { play({}, connection); }, serverTls());
    const QTemporaryDir dir;
    if (arguments.first() == "get"_L1)
        arguments << u"--kubeconfig"_s << writeKubeconfig(dir, "https://127.0.0.1:1", "token: t");
    if (arguments.first() == "check"_L1)
        arguments << u"--kubeconfig"_s
                  << writeKubeconfig(dir, "https://127.0.0.1:" + QByteArray::number(server.port()),
                         "token: t", QStringLiteral(DAVIT_TEST_DATA "/cases/common-ca.pem"));
    const Outcome outcome = davitWith(arguments);
    QCOMPARE(outcome.exitCode, exitCode);
    const QString told = outcome.out + outcome.errors;
    QVERIFY2(told.contains(sentence + u'\n'), qPrintable(told));
}

QTEST_GUILESS_MAIN(tst_CheckServer)
#include "tst_checkserver.moc"
