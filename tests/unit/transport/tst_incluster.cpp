#include "transport/incluster.h"
#include "transport/proxyenvironment.h"
#include "transport/qnamtransport.h"

#include <QTemporaryDir>
#include <QTest>

using namespace davit;
using namespace davit::transport;
using namespace Qt::Literals::StringLiterals;

namespace {

void write(const QString &path, const QByteArray &text)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
}

// A pod whose service account is in the folder.
LoadEnvironment podIn(const QTemporaryDir &folder, const QString &host, const QString &port,
    const QString &podNamespace = {})
{
    const QHash<QByteArray, QString> variables{{"KUBERNETES_SERVICE_HOST", host},
        {"KUBERNETES_SERVICE_PORT", port}, {"POD_NAMESPACE", podNamespace}};
    LoadEnvironment environment;
    environment.serviceAccountFolder = folder.path();
    environment.variable = [variables](const char *name) { return variables.value(name); };
    return environment;
}

} // namespace

class tst_InCluster : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void load_data();
    void load();
    void faults_data();
    void faults();
    void variablesOfAPod();
    void ipv6();
    void proxies_data();
    void proxies();
    void ports_data();
    void ports();
};

void tst_InCluster::load_data()
{
    QTest::addColumn<QString>("host");
    QTest::addColumn<QString>("port");
    QTest::addColumn<QByteArray>("token");
    QTest::addColumn<bool>("hasCa");
    QTest::addColumn<QString>("podNamespace");
    QTest::addColumn<QByteArray>("namespaceFile");
    QTest::addColumn<QString>("server");
    QTest::addColumn<QString>("namespaceName");

    QTest::newRow("whole") << "10.0.0.1"
                           << "443"
                           << " t\n"_ba << true << ""
                           << "ops\n"_ba
                           << "https://10.0.0.1:443"
                           << "ops";
    QTest::newRow("C-50 POD_NAMESPACE first") << "10.0.0.1"
                                              << "443"
                                              << "t"_ba << true << "env"
                                              << "ops"_ba
                                              << "https://10.0.0.1:443"
                                              << "env";
    QTest::newRow("C-50 no namespace") << "10.0.0.1"
                                       << "443"
                                       << "t"_ba << true << ""
                                       << " "_ba
                                       << "https://10.0.0.1:443"
                                       << "default";
    QTest::newRow("C-50 no CA is a warning") << "10.0.0.1"
                                             << "443"
                                             << "t"_ba << false << ""
                                             << ""_ba
                                             << "https://10.0.0.1:443"
                                             << "default";
}

void tst_InCluster::load()
{
    QFETCH(const QString, host);
    QFETCH(const QString, port);
    QFETCH(const QByteArray, token);
    QFETCH(const bool, hasCa);
    QFETCH(const QString, podNamespace);
    QFETCH(const QByteArray, namespaceFile);
    QTemporaryDir folder;
    write(folder.filePath(QStringLiteral("token")), token);
    write(folder.filePath(QStringLiteral("namespace")), namespaceFile);
    if (hasCa) {
        QVERIFY(QFile::copy(QStringLiteral(DAVIT_TEST_DATA "/cases/common-ca.pem"),
            folder.filePath(QStringLiteral("ca.crt"))));
    }
    const auto loaded = loadInCluster(podIn(folder, host, port, podNamespace));
    QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
    QTEST(loaded.value().server.toString(), "server");
    QCOMPARE(loaded.value().token, "t"_ba);
    QCOMPARE(loaded.value().tokenFile, folder.filePath(QStringLiteral("token")));
    QCOMPARE(loaded.value().caFile.isEmpty(), !hasCa);
    QCOMPARE(loaded.value().warnings.size(), hasCa ? 0 : 1);
    QTEST(loaded.value().namespaceName, "namespaceName");
}

void tst_InCluster::faults_data()
{
    QTest::addColumn<QString>("host");
    QTest::addColumn<QString>("port");
    QTest::addColumn<QByteArray>("token"); // null: there is no such file
    QTest::addColumn<QString>("sentence"); // %1: the token's file
    const QString outside
        = u"in-cluster configuration: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not "
          "set, this process runs in no pod; name a kubeconfig with --kubeconfig"_s;
    const QString odd = u"in-cluster configuration: KUBERNETES_SERVICE_HOST and "
                        "KUBERNETES_SERVICE_PORT name no address; Kubernetes sets both, take them "
                        "out of the pod's own env"_s;
    QTest::newRow("C-49 no host") << u""_s << u"443"_s << "t"_ba << outside;
    QTest::newRow("C-49 no port") << u"h"_s << u""_s << "t"_ba << outside;
    QTest::newRow("port is no number") << u"h"_s << u"https"_s << "t"_ba << odd;
    QTest::newRow("port is too large") << u"h"_s << u"65536"_s << "t"_ba << odd;
    QTest::newRow("host is no name") << u"a b"_s << u"443"_s << "t"_ba << odd;
    QTest::newRow("C-50 the token is empty") << u"h"_s << u"443"_s << " \n"_ba
                                             << u"in-cluster configuration: the token %1 is empty; "
                                                u"look who writes that volume, or start "
                                                "the pod anew"_s;
    QTest::newRow("C-50 no token")
        << u"h"_s << u"443"_s << QByteArray()
        << u"in-cluster configuration: the token %1 cannot be read: No such file or directory; "
           "let the pod have its service account's (automountServiceAccountToken), or name a "
           "kubeconfig with --kubeconfig"_s;
    QTest::newRow("a token with a header in it")
        << u"h"_s << u"443"_s << "t\r\nX-Remote-User: root"_ba
        << u"in-cluster configuration: the token %1 holds control characters, a token is one line; "
           "look who writes that volume"_s;
}

void tst_InCluster::faults()
{
    QFETCH(const QString, host);
    QFETCH(const QString, port);
    QFETCH(const QByteArray, token);
    QFETCH(const QString, sentence);
    QTemporaryDir folder;
    const QString tokenFile = folder.filePath(u"token"_s);
    if (!token.isNull())
        write(tokenFile, token);
    const auto loaded = loadInCluster(podIn(folder, host, port));
    QVERIFY(!loaded.isOk());
    QCOMPARE(loaded.error().code(), ErrorCode::InvalidConfiguration);
    QCOMPARE(
        loaded.error().message(), sentence.contains(u"%1"_s) ? sentence.arg(tokenFile) : sentence);
}

// B04: the variables of a pod whose service network is IPv6; the file says what is wanted.
void tst_InCluster::variablesOfAPod()
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B04-env.txt"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QHash<QByteArray, QString> variables;
    QString want;
    for (const QByteArray &line : file.readAll().split('\n')) {
        const qsizetype equals = line.indexOf('=');
        if (line.startsWith("# want: "))
            want = QString::fromUtf8(line.split(' ').value(2));
        else if (equals > 0)
            variables.insert(line.left(equals), QString::fromUtf8(line.mid(equals + 1)));
    }
    QTemporaryDir folder;
    write(folder.filePath(u"token"_s), "t");
    LoadEnvironment environment;
    environment.serviceAccountFolder = folder.path();
    environment.variable = [variables](const char *name) { return variables.value(name); };
    const auto loaded = loadInCluster(environment);
    QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
    QCOMPARE(loaded.value().server.toString(), want);
    QCOMPARE(loaded.value().server.host(), variables.value("KUBERNETES_SERVICE_HOST"));
}

// The host that is connected to has no brackets, the name in messages has.
void tst_InCluster::ipv6()
{
    ClusterConfig config;
    config.server.setScheme(QStringLiteral("https"));
    config.server.setHost(QStringLiteral("fd00::1"));
    QCOMPARE(config.server.host(), QStringLiteral("fd00::1"));
    QCOMPARE(makeQnamTransport(config)->serverName(), QStringLiteral("https://[fd00::1]:443"));
    config.server.setPath(QStringLiteral("/k8s/clusters/c-1")); // one of several behind a gateway
    QCOMPARE(makeQnamTransport(config)->serverName(),
        QStringLiteral("https://[fd00::1]:443/k8s/clusters/c-1"));
}

void tst_InCluster::proxies_data()
{
    QTest::addColumn<QString>("server");
    QTest::addColumn<QString>("noProxy");
    QTest::addColumn<bool>("isProxied");
    QTest::newRow("C-36 proxied") << "https://api.x.io"
                                  << "" << true;
    QTest::newRow("http has a variable of its own") << "http://api.x.io"
                                                    << "" << false;
    QTest::newRow("star") << "https://api.x.io"
                          << "*" << false;
    QTest::newRow("domain itself") << "https://x.io"
                                   << "a.com, x.io" << false;
    QTest::newRow("below the domain") << "https://api.x.io"
                                      << "x.io" << false;
    QTest::newRow("a name that only ends alike") << "https://apix.io"
                                                 << "x.io" << true;
    QTest::newRow("dot: below only") << "https://x.io"
                                     << ".x.io" << true;
    QTest::newRow("dot: below") << "https://api.x.io"
                                << ".x.io" << false;
    QTest::newRow("star dot") << "https://api.x.io"
                              << "*.x.io" << false;
    QTest::newRow("address") << "https://10.1.2.3"
                             << "10.1.2.3" << false;
    QTest::newRow("CIDR") << "https://10.1.2.3"
                          << "10.0.0.0/8" << false;
    QTest::newRow("another CIDR") << "https://11.1.2.3"
                                  << "10.0.0.0/8" << true;
    QTest::newRow("IPv6 CIDR") << "https://[fd00::1]"
                               << "fd00::/8" << false;
    QTest::newRow("same port") << "https://x.io:6443"
                               << "x.io:6443" << false;
    QTest::newRow("default port") << "https://x.io"
                                  << "x.io:443" << false;
    QTest::newRow("another port") << "https://x.io"
                                  << "x.io:6443" << true;
    QTest::newRow("loopback") << "https://127.0.0.1:1"
                              << "" << false;
    QTest::newRow("localhost") << "https://localhost:1"
                               << "" << false;
}

void tst_InCluster::proxies()
{
    QFETCH(const QString, server);
    QFETCH(const QString, noProxy);
    LoadEnvironment environment;
    environment.variable = [&](const char *name) {
        return qstrcmp(name, "https_proxy") == 0 ? QStringLiteral("p:3128")
            : qstrcmp(name, "NO_PROXY") == 0     ? noProxy
                                                 : QString();
    };
    const QUrl proxy = proxyFromEnvironment(QUrl(server), environment);
    QTEST(!proxy.isEmpty(), "isProxied");
    if (!proxy.isEmpty())
        QCOMPARE(proxy, QUrl(QStringLiteral("http://p:3128")));
}

void tst_InCluster::ports_data() // B11: the connection to that port is watched
{
    QTest::addColumn<QUrl>("url");
    QTest::addColumn<quint16>("port");
    QTest::newRow("named") << QUrl(u"socks5://p:9"_s) << quint16(9);
    QTest::newRow("https") << QUrl(u"https://p"_s) << quint16(443);
    QTest::newRow("http") << QUrl(u"http://p"_s) << quint16(80);
    QTest::newRow("socks5") << QUrl(u"socks5://p"_s) << quint16(1080);
    QTest::newRow("socks5h") << QUrl(u"socks5h://p"_s) << quint16(1080);
}

void tst_InCluster::ports()
{
    QFETCH(const QUrl, url);
    QTEST(portOf(url), "port");
}

QTEST_GUILESS_MAIN(tst_InCluster)
#include "tst_incluster.moc"
