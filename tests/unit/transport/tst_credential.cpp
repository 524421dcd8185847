#include "transport/credential.h"
#include "transport/inputfile.h"
#include "transport/tlsmaterial.h"

#include <QSslKey>
#include <QTemporaryDir>
#include <QTest>
#include <sys/stat.h>

using namespace davit;
using namespace davit::transport;
using namespace std::chrono_literals;
using namespace Qt::Literals::StringLiterals;

namespace {

class FixedTime final : public support::TimeSource
{
public:
    Nanoseconds monotonic() const override { return now; }
    Nanoseconds utc() const override { return now; }
    TimerId callAfter(Nanoseconds, support::Executor &, support::Executor::Work) override
    {
        return 0;
    }
    void cancel(TimerId) override { }
    Nanoseconds now{0};
};

void write(const QString &path, const QByteArray &text)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
}

QByteArray pem(const char *name)
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/") + QLatin1String(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class tst_Credential : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void staticToken();
    void fileIsReadAgain();
    void fileGoneKeepsTheOldToken();
    void renewAfterRefusal();
    void emptyFromTheStart();
    void unfitFiles();
    void basicHeader();
    void impersonationHeaderNames_data();
    void impersonationHeaderNames();
    void nobodyImpersonated();
    void webTokens_data();
    void webTokens();
    void tls_data();
    void tls();
    void names_data();
    void names();
};

void tst_Credential::staticToken()
{
    FixedTime time;
    ClusterConfig config;
    config.token = "a"_ba;
    const auto credential = makeCredential(config, time);
    QCOMPARE(credential->token().value(), "a"_ba);
    QVERIFY(!credential->renew("a"_ba));
}

// C-46
void tst_Credential::fileIsReadAgain()
{
    QTemporaryDir folder;
    FixedTime time;
    ClusterConfig config;
    config.tokenFile = folder.filePath(QStringLiteral("token"));
    write(config.tokenFile, "one\n");
    const auto credential = makeCredential(config, time);
    QCOMPARE(credential->token().value(), "one"_ba);
    write(config.tokenFile, "two");
    time.now = 49s;
    QCOMPARE(credential->token().value(), "one"_ba);
    time.now = 50s;
    QCOMPARE(credential->token().value(), "two"_ba);
}

// B03
void tst_Credential::fileGoneKeepsTheOldToken()
{
    QTemporaryDir folder;
    FixedTime time;
    ClusterConfig config;
    config.tokenFile = folder.filePath(QStringLiteral("token"));
    write(config.tokenFile, "one");
    const auto credential = makeCredential(config, time);
    QCOMPARE(credential->token().value(), "one"_ba);
    write(config.tokenFile, "");
    time.now = 60s;
    QCOMPARE(credential->token().value(), "one"_ba);
    QFile::remove(config.tokenFile);
    time.now = 120s;
    QCOMPARE(credential->token().value(), "one"_ba);
    QVERIFY(!credential->renew("one"_ba));
}

void tst_Credential::renewAfterRefusal()
{
    QTemporaryDir folder;
    FixedTime time;
    ClusterConfig config;
    config.tokenFile = folder.filePath(QStringLiteral("token"));
    write(config.tokenFile, "one");
    const auto credential = makeCredential(config, time);
    QCOMPARE(credential->token().value(), "one"_ba);
    QVERIFY(!credential->renew("one"_ba)); // nothing else was found: not again
    write(config.tokenFile, "two");
    QVERIFY(credential->renew("one"_ba));
    QVERIFY(credential->renew("one"_ba)); // another request was refused with the old one
    QCOMPARE(credential->token().value(), "two"_ba);
}

void tst_Credential::emptyFromTheStart()
{
    FixedTime time;
    ClusterConfig config;
    config.tokenFile = QStringLiteral("/no/token");
    const auto credential = makeCredential(config, time);
    QCOMPARE(credential->token().error().code(), ErrorCode::InvalidConfiguration);
    QVERIFY(credential->token().error().message().startsWith(
        u"token file /no/token: it cannot be read: "));
    QTemporaryDir folder;
    ClusterConfig blank;
    blank.tokenFile = folder.filePath(u"token"_s);
    write(blank.tokenFile, " \n");
    QCOMPARE(makeCredential(blank, time)->token().error().message(),
        u"token file %1: it is empty; check the file that the kubeconfig or the service account "
        "names"_s.arg(blank.tokenFile));
    write(blank.tokenFile, "a\r\nX-Remote-User: root\n");
    QVERIFY(makeCredential(blank, time)
                ->token()
                .error()
                .message()
                .contains(u": it holds control characters, a token is one line; "));
    config.token = "fallback"_ba;
    QCOMPARE(makeCredential(config, time)->token().value(), "fallback"_ba);
}

// What is put in the place of a file at run time keeps the old token, and hangs nobody.
void tst_Credential::unfitFiles()
{
    QTemporaryDir folder;
    const QString pipe = folder.filePath(u"pipe"_s);
    QCOMPARE(mkfifo(qPrintable(pipe), 0600), 0);
    const QString huge = folder.filePath(u"huge"_s);
    write(huge, "x");
    QVERIFY(QFile::resize(huge, kMaxInputFile + 1));
    for (const auto &[path, fault] : {std::pair(pipe, u"it is a pipe that nobody writes to"_s),
             std::pair(huge, u"it is larger than 16 MiB"_s),
             std::pair(u"/dev/zero"_s, u"it is a device"_s),
             std::pair(folder.path(), u"it is a directory"_s)}) {
        FixedTime time;
        ClusterConfig config;
        config.tokenFile = path;
        QCOMPARE(makeCredential(config, time)->token().error().message(),
            u"token file %1: it cannot be read: %2; check the file that the kubeconfig or the "
            "service account names"_s.arg(path, fault));
        config.token = "old"_ba;
        QCOMPARE(makeCredential(config, time)->token().value(), "old"_ba);
    }
}

void tst_Credential::basicHeader() // the example of RFC 7617
{
    QCOMPARE(basicAuthorization(u"Aladdin"_s, "open sesame"_ba),
        "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="_ba);
}

void tst_Credential::impersonationHeaderNames_data()
{
    QTest::addColumn<QString>("key");
    QTest::addColumn<QByteArray>("header");
    QTest::newRow("C-48 plain") << "scopes"
                                << "Impersonate-Extra-scopes"_ba;
    QTest::newRow("C-48 lower case") << "Acme.COM"
                                     << "Impersonate-Extra-acme.com"_ba;
    QTest::newRow("C-48 slash") << "acme.com/project"
                                << "Impersonate-Extra-acme.com%2Fproject"_ba;
    QTest::newRow("C-48 percent") << "a%b"
                                  << "Impersonate-Extra-a%25b"_ba;
    QTest::newRow("C-48 beyond ASCII") << QString::fromUtf8("ä") << "Impersonate-Extra-%C3%A4"_ba;
    QTest::newRow("a colon ends no name") << "a: b"
                                          << "Impersonate-Extra-a%3A%20b"_ba;
}

void tst_Credential::impersonationHeaderNames()
{
    QFETCH(const QString, key);
    Impersonation as;
    as.user = u"jane"_s;
    as.uid = u"7"_s;
    as.groups = {u"a"_s, u"b"_s};
    as.extra = {{key, {u"x"_s}}, {u"none"_s, {}}};
    const auto headers = impersonationHeaders(as);
    QCOMPARE(headers.size(), 4); // an extra without values is none
    QCOMPARE(headers[0], std::pair("Impersonate-User"_ba, QList({"jane"_ba})));
    QCOMPARE(headers[1], std::pair("Impersonate-Uid"_ba, QList({"7"_ba})));
    QCOMPARE(headers[2], std::pair("Impersonate-Group"_ba, QList({"a"_ba, "b"_ba})));
    QTEST(headers[3].first, "header");
}

void tst_Credential::nobodyImpersonated()
{
    QVERIFY(impersonationHeaders({}).isEmpty());
}

void tst_Credential::webTokens_data()
{
    QTest::addColumn<QByteArray>("token");
    QTest::addColumn<qint64>("seconds"); // -1: not known
    const auto token = [](const QByteArray &payload) {
        return "eyJhbGciOiJSUzI1NiJ9." + payload.toBase64(QByteArray::Base64UrlEncoding) + ".sig";
    };
    QTest::newRow("exp") << token(R"({"sub":"a","exp":1893456000})") << qint64(1893456000);
    QTest::newRow("no exp") << token(R"({"sub":"a"})") << qint64(-1);
    QTest::newRow("exp as text") << token(R"({"exp":"soon"})") << qint64(-1);
    QTest::newRow("year 9999") << token(R"({"exp":253402300799})") << qint64(-1);
    QTest::newRow("beyond all time") << token(R"({"exp":1e300})") << qint64(-1);
    QTest::newRow("two parts") << "a.b"_ba << qint64(-1);
    QTest::newRow("no JSON") << "a.b.c"_ba << qint64(-1);
    QTest::newRow("none") << ""_ba << qint64(-1);
}

void tst_Credential::webTokens()
{
    QFETCH(const QByteArray, token);
    FixedTime time;
    ClusterConfig config;
    config.token = token;
    const auto expires = makeCredential(config, time)->expires();
    QTEST(expires ? qint64(std::chrono::duration_cast<std::chrono::seconds>(*expires).count())
                  : qint64(-1),
        "seconds");
}

void tst_Credential::tls_data()
{
    QTest::addColumn<QByteArray>("certificate");
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QString>("fault"); // empty: fine
    const QByteArray ec = pem("B10-client-ec.pem");
    const QByteArray rsa = pem("B10-client-rsa.pem");
    QTest::newRow("none") << ""_ba
                          << ""_ba
                          << "";
    QTest::newRow("B10 SEC1") << ec << pem("B10-key-ec-sec1.pem") << "";
    QTest::newRow("B10 EC PKCS#8") << ec << pem("B10-key-ec-pkcs8.pem") << "";
    QTest::newRow("B10 PKCS#1") << rsa << pem("B10-key-rsa-pkcs1.pem") << "";
    QTest::newRow("B10 RSA PKCS#8") << rsa << pem("B10-key-rsa-pkcs8.pem") << "";
    QTest::newRow("B10 key of another kind")
        << ec << pem("B10-key-rsa-pkcs8.pem")
        << "the client key does not belong to the client "
           "certificate, take the pair that was issued together";
    QTest::newRow("B10 key of another certificate")
        << ec << pem("B64-gen1.key")
        << "the client key does not belong to the client certificate, take the pair that was "
           "issued together";
    QTest::newRow("C-38 no key") << ec << ""_ba
                                 << "the client certificate has no key, add client-key";
    QTest::newRow("C-38 no certificate")
        << ""_ba << pem("B10-key-ec-sec1.pem")
        << "the client key has no certificate, add client-certificate";
    QTest::newRow("key is a word") << ec << "key"_ba
                                   << "the client key is not readable PEM, or has a passphrase, "
                                      "which openssl pkey -in OLD -out NEW "
                                      "takes off";
    QTest::newRow("certificate is a word")
        << "x"_ba << pem("B10-key-ec-sec1.pem")
        << "the client certificate is not readable PEM, which has a line BEGIN CERTIFICATE";
}

void tst_Credential::tls()
{
    ClusterConfig config;
    config.source = QStringLiteral("here");
    QFETCH(const QString, fault);
    QFETCH(const QByteArray, certificate);
    QFETCH(const QByteArray, key);
    config.clientCertificatePem = certificate;
    config.clientKeyPem = key;
    const auto ssl = tlsConfiguration(config);
    if (!fault.isEmpty()) {
        QVERIFY(!ssl.isOk());
        QCOMPARE(ssl.error().code(), ErrorCode::InvalidConfiguration);
        QCOMPARE(ssl.error().message(), QStringLiteral("here: ") + fault);
        return;
    }
    QVERIFY(ssl.isOk());
    QCOMPARE(ssl.value().protocol(), QSsl::TlsV1_2OrLater); // C-34
    QCOMPARE(ssl.value().privateKey().isNull(), key.isEmpty());
    QCOMPARE(ssl.value().localCertificateChain().size(), certificate.isEmpty() ? 0 : 1);
}

void tst_Credential::names_data()
{
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QString>("host");
    QTest::addColumn<bool>("isFor");
    QTest::newRow("B06 address in an iPAddress SAN") << "B06-server-ipsan.pem"_ba
                                                     << "127.0.0.1" << true;
    QTest::newRow("B04 IPv6 address") << "B06-server-ipsan.pem"_ba
                                      << "::1" << true;
    QTest::newRow("B06 another address") << "B06-server-ipsan.pem"_ba
                                         << "127.0.0.2" << false;
    QTest::newRow("B06 address as a dNSName") << "B06-server-ip-as-dns.pem"_ba
                                              << "127.0.0.1" << false;
    QTest::newRow("B06 address in the CN") << "B06-server-ip-in-cn.pem"_ba
                                           << "127.0.0.1" << false;
    QTest::newRow("the CN never counts") << "B06-server-ipsan.pem"_ba
                                         << "kube-apiserver" << false;
    QTest::newRow("name") << "common-server.pem"_ba
                          << "localhost" << true;
    QTest::newRow("another name") << "common-server.pem"_ba
                                  << "local" << false;
}

void tst_Credential::names()
{
    QFETCH(const QByteArray, file);
    QFETCH(const QString, host);
    const QSslCertificate certificate(pem(file.constData()), QSsl::Pem);
    QVERIFY(!certificate.isNull());
    QTEST(isCertificateFor(certificate, host), "isFor");
}

QTEST_GUILESS_MAIN(tst_Credential)
#include "tst_credential.moc"
