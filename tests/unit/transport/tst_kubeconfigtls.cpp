// What a kubeconfig says of TLS and of client certificates: what is read, faults, and what counts
// only with it.
#include "kubeconfigrig.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

using namespace davit;
using namespace davit::transport;
using namespace kubeconfigrig;
using namespace Qt::Literals::StringLiterals;

namespace {

// Every field that these entries fill; all others are empty.
struct Tls
{
    QByteArray ca;
    QByteArray certificate;
    QByteArray key;
    QString serverName;
    bool isInsecure = false;
};

QByteArray pem(const char *name)
{
    return contents(data(name));
}

} // namespace

Q_DECLARE_METATYPE(Tls)

class tst_KubeconfigTls : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void nobodyIsImpersonatedWithout();
    void faults_data();
    void faults();
    void entries_data();
    void entries();
};

void tst_KubeconfigTls::nobodyIsImpersonatedWithout() // C-59
{
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("config"));
    write(path, config("server: \"http://h:1\"", "token: t, as: jane, as-groups: [a]"));
    const auto loaded = loadClusterConfig({path, {}}, environmentOf({}));
    QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
    QCOMPARE(loaded.value().impersonation.user, QString());
    QCOMPARE(loaded.value().impersonation.groups, QStringList());
}

// Each fault of TLS names the entry, and the file that it stands in, however many were merged.
void tst_KubeconfigTls::faults_data()
{
    QTest::addColumn<QByteArray>("clusterOrUser");
    QTest::addColumn<QString>("sentence"); // %1: the file
    const QByteArray bad = QByteArray("no PEM").toBase64();
    const QByteArray pem = contents(data("B10-client-ec.pem")).toBase64();
    const QByteArray key = contents(data("B10-key-rsa-pkcs1.pem")).toBase64();
    QTest::newRow("CA") << "certificate-authority-data: " + bad
                        << QStringLiteral(
                               "kubeconfig %1: cluster \"c\": the certificate authority is not "
                               "readable PEM, which has a line BEGIN CERTIFICATE");
    QTest::newRow("certificate")
        << "client-certificate-data: " + bad + ", client-key-data: " + key
        << QStringLiteral("kubeconfig %1: user \"u\": the client certificate is not readable PEM, "
                          "which has a line BEGIN CERTIFICATE");
    QTest::newRow("certificate in a file")
        << "client-certificate: /proc/self/comm, client-key-data: " + key
        << QStringLiteral(
               "kubeconfig %1: user \"u\": the client certificate /proc/self/comm is not "
               "readable PEM, which has a line BEGIN CERTIFICATE");
    QTest::newRow("no key") << "client-certificate-data: " + pem + ", client-key-data: " + bad
                            << QStringLiteral("kubeconfig %1: user \"u\": the client key is not "
                                              "readable PEM, or has a passphrase, which openssl "
                                              "pkey -in OLD -out NEW takes off");
    QTest::newRow("key of another")
        << "client-certificate-data: " + pem + ", client-key-data: " + key
        << QStringLiteral("kubeconfig %1: user \"u\": the client key does not "
                          "belong to the client certificate, take the pair that was issued "
                          "together");
}

void tst_KubeconfigTls::faults()
{
    QFETCH(const QByteArray, clusterOrUser);
    QFETCH(const QString, sentence);
    QTemporaryDir folder;
    const QString context = folder.filePath(QStringLiteral("context"));
    const QString entries = folder.filePath(QStringLiteral("entries"));
    const bool isUser = clusterOrUser.startsWith("client");
    const QByteArray whole
        = config(isUser ? kServer : kServer + ", " + clusterOrUser, isUser ? clusterOrUser : ""_ba);
    const qsizetype end = whole.indexOf("contexts:");
    write(context, "current-context: c\n" + whole.mid(end));
    write(entries, whole.left(end));
    const auto loaded
        = loadClusterConfig({}, environmentOf({{"KUBECONFIG", context + u':' + entries}}));
    QVERIFY(!loaded.isOk());
    QCOMPARE(loaded.error().message(), sentence.arg(entries));
}

void tst_KubeconfigTls::entries_data()
{
    QTest::addColumn<QByteArray>("cluster");
    QTest::addColumn<QByteArray>("user");
    QTest::addColumn<Tls>("want");
    const QByteArray token = "token: t";
    const QByteArray ca = pem("B08/one/pki/ca.pem");
    const QByteArray certificate = pem("B10-client-ec.pem");
    const QByteArray key = pem("B10-key-ec-sec1.pem");
    const QByteArray caPath = data("B08/one/pki/ca.pem").toUtf8();
    QVERIFY(!ca.isEmpty() && !certificate.isEmpty() && !key.isEmpty());
    QTest::newRow("none") << kServer << token << Tls();
    QTest::newRow("certificate-authority")
        << kServer + ", certificate-authority: " + caPath << token << Tls{ca, {}, {}, {}, false};
    QTest::newRow("certificate-authority-data")
        << kServer + ", certificate-authority-data: " + ca.toBase64() << token
        << Tls{ca, {}, {}, {}, false};
    QTest::newRow("insecure-skip-tls-verify")
        << kServer + ", insecure-skip-tls-verify: true" << token << Tls{{}, {}, {}, {}, true};
    QTest::newRow("insecure-skip-tls-verify: false")
        << kServer + ", insecure-skip-tls-verify: false" << token << Tls();
    QTest::newRow("tls-server-name") << kServer + ", tls-server-name: api.example" << token
                                     << Tls{{}, {}, {}, QStringLiteral("api.example"), false};
    QTest::newRow("client certificate and key as data") << kServer
                                                        << "client-certificate-data: "
            + certificate.toBase64() + ", client-key-data: " + key.toBase64()
                                                        << Tls{{}, certificate, key, {}, false};
    QTest::newRow("client certificate and key as files")
        << kServer
        << "client-certificate: " + data("B10-client-ec.pem").toUtf8()
            + ", client-key: " + data("B10-key-ec-sec1.pem").toUtf8()
        << Tls{{}, certificate, key, {}, false};
}

void tst_KubeconfigTls::entries()
{
    QFETCH(const QByteArray, cluster);
    QFETCH(const QByteArray, user);
    QFETCH(const Tls, want);
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("config"));
    write(path, config(cluster, user));
    const auto loaded = loadClusterConfig({path, {}}, environmentOf({}));
    QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
    const ClusterConfig &read = loaded.value();
    QCOMPARE(read.caPem, want.ca);
    QCOMPARE(read.clientCertificatePem, want.certificate);
    QCOMPARE(read.clientKeyPem, want.key);
    QCOMPARE(read.tlsServerName, want.serverName);
    QCOMPARE(read.isInsecure, want.isInsecure);
}

QTEST_GUILESS_MAIN(tst_KubeconfigTls)
#include "tst_kubeconfigtls.moc"
