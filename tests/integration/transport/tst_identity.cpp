// Who a server takes us for: what is on the wire for each kind of credential, and what becomes of
// it when files change under a running transport.
#include "aheadtime.h"
#include "rawserver.h"
#include "recorder.h"
#include "tlsfixture.h"
#include "transport/httpheaders.h"
#include "transport/kubeconfig.h"

#include <QTemporaryDir>
#include <QTest>
#include <QTimeZone>

using namespace davit;
using namespace davit::transport;
using namespace std::chrono_literals;
using namespace Qt::Literals::StringLiterals;

namespace {

// The lines of a request's head whose names begin so, in the order they came, names in lower case:
// Qt writes them so from 6.8 on.
QByteArrayList linesOf(const QByteArray &head, const QByteArray &begin)
{
    QByteArrayList lines;
    for (const QByteArray &line : head.split('\n')) {
        const qsizetype colon = line.indexOf(':');
        if (line.toLower().startsWith(begin))
            lines << (line.left(colon).toLower() + line.mid(colon)).trimmed();
    }
    return lines;
}

void write(const QString &path, const QByteArray &text)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
}

// Answers with the head of each request.
void tellHead(RawConnection &connection)
{
    RawRequest request;
    while (connection.read(request))
        connection.answer(200, request.head, "Date: Mon, 30 Nov 2026 03:40:00 GMT\r\n"_ba);
}

// The folder's certificate and key become these cases' ones; without a name they go.
void lay(const QTemporaryDir &folder, const QString &certificate, const QString &key)
{
    for (const auto &[path, name] : {std::pair(folder.filePath(u"tls.crt"_s), certificate),
             std::pair(folder.filePath(u"tls.key"_s), key)}) {
        if (name.isEmpty())
            QVERIFY(QFile::remove(path));
        else
            write(path, caseData(name));
    }
}

} // namespace

class tst_Identity : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void basic();
    void impersonation_data();
    void impersonation();
    void certificateRotation_data();
    void certificateRotation();
    void caRotation();
    void caForms_data();
    void caForms();
    void facts();
};

void tst_Identity::basic()
{
    RawServer server(tellHead, serverTls());
    ClusterConfig config = tlsConfig(server.port());
    config.basicUser = u"Aladdin"_s;
    config.basicPassword = "open sesame"_ba;
    const auto head = getOnce(*makeQnamTransport(config));
    QVERIFY2(head.isOk(), qPrintable(head.isOk() ? QString() : head.error().message()));
    QCOMPARE(linesOf(head.value(), "authorization:"),
        QByteArrayList{"authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="});
}

void tst_Identity::impersonation_data()
{
    QTest::addColumn<QByteArray>("method");
    QTest::newRow("C-48 read") << "GET"_ba;
    QTest::newRow("C-48 write") << "POST"_ba;
}

// One line for each group and each value of an extra, beside the credential.
void tst_Identity::impersonation()
{
    QFETCH(const QByteArray, method);
    RawServer server(tellHead, serverTls());
    ClusterConfig config = tlsConfig(server.port());
    config.token = "tok"_ba;
    config.impersonation.user = u"jane"_s;
    config.impersonation.uid = u"7"_s;
    config.impersonation.groups = {u"dev, ops"_s};
    config.impersonation.extra = {{u"Acme.com/x"_s, {u"view"_s}}};
    QByteArrayList expected{"impersonate-user: jane", "impersonate-uid: 7",
        "impersonate-group: dev, ops", "impersonate-extra-acme.com%2fx: view"};
    if (canRepeatHeaders()) { // else a kubeconfig with several is refused
        config.impersonation.groups << u"admins"_s;
        config.impersonation.extra.front().second << u"edit"_s;
        expected << "impersonate-group: admins"
                 << "impersonate-extra-acme.com%2fx: edit";
    }
    Request request;
    request.method = method;
    request.body = "{}"_ba;
    const auto head = getOnce(*makeQnamTransport(config), request);
    QVERIFY2(head.isOk(), qPrintable(head.isOk() ? QString() : head.error().message()));
    QCOMPARE(linesOf(head.value(), "authorization:"), QByteArrayList{"authorization: Bearer tok"});
    QByteArrayList lines = linesOf(head.value(), "impersonate-");
    std::sort(lines.begin(), lines.end());
    std::sort(expected.begin(), expected.end());
    QCOMPARE(lines, expected);
}

void tst_Identity::certificateRotation_data()
{
    QTest::addColumn<QString>("certificate"); // what is laid in the place of the EC pair
    QTest::addColumn<QString>("key");
    QTest::addColumn<int>("seconds"); // until the next look
    QTest::addColumn<bool>("isAsked"); // by a request; else the watch is all there is
    QTest::addColumn<bool>("isTaken");
    const QString rsa = u"B10-client-rsa.pem"_s;
    const QString rsaKey = u"B10-key-rsa-pkcs1.pem"_s;
    QTest::newRow("T93 C-42 with a request") << rsa << rsaKey << 11 << true << true;
    QTest::newRow("T93 C-42 without any, in 5 min") << rsa << rsaKey << 300 << false << true;
    QTest::newRow("C-42 it is too early for a look") << rsa << rsaKey << 5 << true << false;
    QTest::newRow("B64 half of the swap") << rsa << u"B10-key-ec-sec1.pem"_s << 11 << true << false;
    QTest::newRow("B64 gone for a moment") << QString() << QString() << 11 << true << false;
}

// A changed pair serves new connections, and a watch under the old one ends; a pair that does not
// fit, or is gone, changes nothing, and a later one is taken nevertheless.
void tst_Identity::certificateRotation()
{
    QFETCH(const QString, certificate);
    QFETCH(const QString, key);
    QFETCH(const int, seconds);
    QFETCH(const bool, isAsked);
    QFETCH(const bool, isTaken);
    QTemporaryDir folder;
    lay(folder, u"B10-client-ec.pem"_s, u"B10-key-ec-sec1.pem"_s);
    std::atomic<int> open{0};
    RawServer server(
        [&open](RawConnection &connection) {
            ++open;
            tellName(connection);
            --open;
        },
        mutualTls());
    ClusterConfig config = tlsConfig(server.port());
    config.clientCertificateFile = folder.filePath(u"tls.crt"_s);
    config.clientKeyFile = folder.filePath(u"tls.key"_s);
    config.clientCertificatePem = caseData(u"B10-client-ec.pem"_s);
    config.clientKeyPem = caseData(u"B10-key-ec-sec1.pem"_s);
    AheadTime time;
    TransportOptions options;
    options.time = &time;
    const auto transport = makeQnamTransport(config, options);
    Caller caller(*transport);
    Request watch;
    watch.target = "/watch"_ba;
    watch.channel = Channel::Watch;
    Recorder running;
    const auto exchange = caller.start(watch, running);
    QVERIFY(running.waitForBytes(6));
    QCOMPARE(running.body(), "dev-ec"_ba);
    QCOMPARE(getOnce(*transport).value(), "dev-ec"_ba); // its connection is kept

    lay(folder, certificate, key);
    time.advance(std::chrono::seconds(seconds));
    if (isAsked)
        QCOMPARE(getOnce(*transport).value(), isTaken ? "dev-rsa"_ba : "dev-ec"_ba);
    if (!isTaken) {
        QCOMPARE(running.ends(), 0);
        lay(folder, u"B10-client-rsa.pem"_s, u"B10-key-rsa-pkcs1.pem"_s);
        time.advance(11s);
        QCOMPARE(getOnce(*transport).value(), "dev-rsa"_ba);
    }
    QVERIFY(running.waitForEnd());
    QCOMPARE(running.error().code(), ErrorCode::ConnectionLost);
    QCOMPARE(running.error().message(),
        u"https://127.0.0.1:%1: the client certificate was replaced, the watch begins again with "
        "the new one"_s.arg(server.port()));
    QCOMPARE(getOnce(*transport).value(), "dev-rsa"_ba);
    QTRY_COMPARE(open.load(), 1); // those of the old pair are closed by the io thread
}

// C-43: a new CA serves new exchanges; one that is gone, empty or no PEM keeps the old one.
void tst_Identity::caRotation()
{
    QTemporaryDir folder;
    RawServer server(tellHead, serverTls());
    ClusterConfig config = tlsConfig(server.port());
    config.caFile = folder.filePath(u"ca.crt"_s);
    const QByteArray good = config.caPem;
    const QByteArray other = caseData(u"B06-server-ipsan.pem"_s);
    write(config.caFile, good);
    AheadTime time;
    QStringList faults;
    TransportOptions options;
    options.time = &time;
    options.onReloadFault = [&](const QString &fault) { faults << fault; };
    QByteArrayList reloads; // C-75
    options.onCaReload = [&](const CaReload &reload) {
        reloads << QByteArray(reload.result) + ' ' + reload.reason;
    };
    const auto transport = makeQnamTransport(config, options);
    QVERIFY(getOnce(*transport).isOk());
    for (const QByteArray &unfit : {""_ba, "no PEM"_ba}) {
        write(config.caFile, unfit);
        time.advance(11s);
        QVERIFY(getOnce(*transport).isOk());
    }
    time.advance(11s);
    QVERIFY(getOnce(*transport).isOk());
    QCOMPARE(faults,
        QStringList{u"test: the certificate authority %1 is not readable PEM, which has a line "
                    "BEGIN CERTIFICATE"_s.arg(config.caFile)});
    write(config.caFile, other); // the server is none of its
    time.advance(11s);
    QCOMPARE(getOnce(*transport).error().code(), ErrorCode::TlsFailure);
    QVERIFY(QFile::remove(config.caFile));
    time.advance(11s);
    QCOMPARE(getOnce(*transport).error().code(), ErrorCode::TlsFailure);
    write(config.caFile, other + good);
    time.advance(11s);
    const auto body = getOnce(*transport);
    QVERIFY2(body.isOk(), qPrintable(body.isOk() ? QString() : body.error().message()));
    QCOMPARE(faults.size(), 1); // it was gone for one look only
    time.advance(11s);
    QVERIFY(getOnce(*transport).isOk());
    QCOMPARE(reloads,
        (QByteArrayList{"failure empty", "failure ca_parse_error", "failure ca_parse_error",
            "success updated", "failure read_error", "success updated", "success unchanged"}));
}

void tst_Identity::caForms_data()
{
    QTest::addColumn<QByteArray>("ca");
    QTest::addColumn<bool>("isAccepted");
    const QByteArray good = caseData(u"common-ca.pem"_s);
    const QByteArray other = caseData(u"B06-server-ipsan.pem"_s);
    QTest::newRow("one") << good << true;
    QTest::newRow("the right one last") << other + good << true;
    QTest::newRow("the right one first, with text between")
        << good + "# the old one\n" + other << true;
    QTest::newRow("C-44 an empty file trusts nobody") << ""_ba << false;
}

void tst_Identity::caForms()
{
    QFETCH(const QByteArray, ca);
    QTemporaryDir folder;
    RawServer server(tellHead, serverTls());
    const QString path = folder.filePath(u"config"_s);
    write(folder.filePath(u"ca.crt"_s), ca);
    write(path,
        "current-context: c\nusers: [{name: u, user: {}}]\n"
        "clusters: [{name: c, cluster: {certificate-authority: ca.crt, server: \"https://127.0.0.1:"
            + QByteArray::number(server.port())
            + "\"}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n");
    const auto loaded = loadClusterConfig({path, {}});
    QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
    QTEST(getOnce(*makeQnamTransport(loaded.value())).isOk(), "isAccepted");
}

void tst_Identity::facts()
{
    RawServer server(tellHead, mutualTls());
    ClusterConfig config = tlsConfig(server.port());
    config.clientCertificatePem = caseData(u"B10-client-ec.pem"_s);
    config.clientKeyPem = caseData(u"B10-key-ec-sec1.pem"_s);
    config.token = "h." + R"({"exp":1893456000})"_ba.toBase64() + ".s";
    PeerFacts heard;
    TransportOptions options;
    options.onPeer = [&](const PeerFacts &facts) { heard = facts; };
    const auto transport = makeQnamTransport(config, options);
    QVERIFY(getOnce(*transport).isOk());
    QCOMPARE(heard.serverDate, QDateTime(QDate(2026, 11, 30), QTime(3, 40), QTimeZone::utc()));
    QCOMPARE(heard.serverCertificate, QSslCertificate(caseData(u"common-server.pem"_s), QSsl::Pem));
    QCOMPARE(heard.clientCertificate, QSslCertificate(caseData(u"B10-client-ec.pem"_s), QSsl::Pem));
    QVERIFY(!heard.isClientCertificateRefused);
    QCOMPARE(heard.credentialEnds.toSecsSinceEpoch(), qint64(1893456000));
}

QTEST_GUILESS_MAIN(tst_Identity)
#include "tst_identity.moc"
