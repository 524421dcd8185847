// What a kubeconfig says of TLS: faults, and what counts only with it.
#include "kubeconfigrig.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

using namespace davit;
using namespace davit::transport;
using namespace kubeconfigrig;
using namespace Qt::Literals::StringLiterals;

class tst_KubeconfigTls : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void nobodyIsImpersonatedWithout();
    void faults_data();
    void faults();
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
                               "readable PEM");
    QTest::newRow("certificate")
        << "client-certificate-data: " + bad + ", client-key-data: " + key
        << QStringLiteral("kubeconfig %1: user \"u\": the client certificate is not readable PEM");
    QTest::newRow("key of another")
        << "client-certificate-data: " + pem + ", client-key-data: " + key
        << QStringLiteral("kubeconfig %1: user \"u\": the client key does not "
                          "belong to the client certificate");
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

QTEST_GUILESS_MAIN(tst_KubeconfigTls)
#include "tst_kubeconfigtls.moc"
