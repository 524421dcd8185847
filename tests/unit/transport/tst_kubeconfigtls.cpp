// What a kubeconfig says of TLS: faults, and what counts only with it.
#include "transport/kubeconfig.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

using namespace davit;
using namespace davit::transport;
using namespace Qt::Literals::StringLiterals;

namespace {

QString data(const char *name)
{
    return QStringLiteral(DAVIT_TEST_DATA "/cases/") + QLatin1String(name);
}

QByteArray contents(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void write(const QString &path, const QByteArray &text)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
}

LoadEnvironment environmentOf(const QHash<QByteArray, QString> &variables)
{
    LoadEnvironment environment;
    environment.variable = [variables](const char *name) { return variables.value(name); };
    environment.homeFolder = QStringLiteral("/nonexistent");
    return environment;
}

// A kubeconfig with one context "c" whose cluster and user are as given, in flow style.
QByteArray config(const QByteArray &cluster, const QByteArray &user,
    const QByteArray &context = "cluster: c, user: u")
{
    return "current-context: c\nclusters: [{name: c, cluster: {" + cluster
        + "}}]\nusers: [{name: u, user: {" + user + "}}]\ncontexts: [{name: c, context: {" + context
        + "}}]\n";
}

const QByteArray kServer = "server: \"https://h:1\"";

} // namespace

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
