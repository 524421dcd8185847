// What is wrong with a configuration ends davit with 2 and one sentence that names it. No other
// server is asked instead, however near its address lies: all that is named beside the fault is one
// listener, and nobody connects to it.
#include "hostprocess.h"

#include <QDir>
#include <QFile>
#include <QTcpServer>
#include <QTest>

using namespace Qt::StringLiterals;

namespace {

// PORT stands for the listener's.
constexpr char kGood[] = R"(apiVersion: v1
kind: Config
current-context: other
contexts: [{name: other, context: {cluster: other, user: other}}]
clusters: [{name: other, cluster: {server: "http://127.0.0.1:PORT"}}]
users: [{name: other, user: {token: abc}}]
)";

// The same with a context, a cluster and a user more, which are chosen.
QByteArray beside(const char *context, const char *cluster, const char *user)
{
    return QByteArray("apiVersion: v1\nkind: Config\ncurrent-context: chosen\ncontexts:\n"
                      "- {name: other, context: {cluster: other, user: other}}\n- ")
        + context + "\nclusters:\n- {name: other, cluster: {server: \"http://127.0.0.1:PORT\"}}\n- "
        + cluster + "\nusers:\n- {name: other, user: {token: abc}}\n- " + user + '\n';
}

constexpr char kContext[] = "{name: chosen, context: {cluster: chosen, user: chosen}}";
constexpr char kCluster[] = "{name: chosen, cluster: {server: \"http://127.0.0.1:PORT\"}}";
constexpr char kUser[] = "{name: chosen, user: {token: abc}}";

} // namespace

class tst_OtherServers : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void areNotAsked_data();
    void areNotAsked();
};

void tst_OtherServers::areNotAsked_data()
{
    QTest::addColumn<QByteArray>("kubeconfig"); // null: --kubeconfig is not given
    QTest::addColumn<bool>("isInPod");
    QTest::addColumn<QString>("named"); // by the sentence
    const auto row = [](const char *name, const QByteArray &kubeconfig, const QString &named) {
        QTest::newRow(name) << kubeconfig << false << named;
    };
    row("no YAML", "a: [", u"line 1"_s);
    row("an empty file", "", u"no clusters, contexts or users"_s);
    row("no current context", beside("{name: x}", kCluster, kUser), u"\"chosen\""_s);
    row("a context without a cluster",
        beside("{name: chosen, context: {user: chosen}}", kCluster, kUser), u"\"chosen\""_s);
    row("a context of an unknown cluster",
        beside("{name: chosen, context: {cluster: lost, user: chosen}}", kCluster, kUser),
        u"\"lost\""_s);
    row("a context of an unknown user",
        beside("{name: chosen, context: {cluster: chosen, user: lost}}", kCluster, kUser),
        u"\"lost\""_s);
    row("a cluster with a wrong address",
        beside(kContext, "{name: chosen, cluster: {server: \"ftp://127.0.0.1:PORT\"}}", kUser),
        u"\"chosen\""_s);
    row("a cluster whose CA is none",
        beside(kContext,
            "{name: chosen, cluster: {server: \"https://127.0.0.1:PORT\", "
            "certificate-authority-data: AAAA}}",
            kUser),
        u"\"chosen\""_s);
    row("a user whose token file is missing",
        beside(kContext, kCluster, "{name: chosen, user: {tokenFile: /none/token}}"),
        u"/none/token"_s);
    row("a user whose key is missing",
        beside(kContext, kCluster,
            "{name: chosen, user: {client-certificate-data: AAAA, client-key: /none/key}}"),
        u"\"chosen\""_s);
    QTest::newRow("a pod without a token") << QByteArray() << true << u"in-cluster configuration"_s;
}

void tst_OtherServers::areNotAsked()
{
    QFETCH(QByteArray, kubeconfig);
    QFETCH(const bool, isInPod);
    QFETCH(const QString, named);
    QTcpServer listener;
    QVERIFY(listener.listen(QHostAddress::LocalHost));
    const QByteArray port = QByteArray::number(listener.serverPort());
    for (const QStringList &command :
        {QStringList{u"run"_s}, QStringList{u"check"_s}, QStringList{u"get"_s, u"--raw=/api"_s}}) {
        HostProcess davit;
        const QDir home(davit.stateDir());
        const auto write = [&](const QString &name, QByteArray text) {
            QFile file(home.filePath(name));
            return file.open(QIODevice::WriteOnly) && file.write(text.replace("PORT", port)) >= 0;
        };
        QVERIFY(home.mkpath(u".kube"_s) && home.mkpath(u"plugins"_s) && home.mkpath(u"state"_s));
        QVERIFY(write(u".kube/config"_s, kGood) && write(u"environment"_s, kGood));
        QStringList arguments = command;
        if (command.first() != "get"_L1)
            arguments += {u"--plugin-dir"_s, home.filePath(u"plugins"_s)};
        if (command.first() == "run"_L1)
            arguments += {u"--state-dir"_s, home.filePath(u"state"_s),
                u"--metrics-bind-address=0"_s, u"--health-probe-bind-address=0"_s};
        if (isInPod) {
            davit.setEnvironment(u"KUBERNETES_SERVICE_HOST"_s, u"127.0.0.1"_s);
            davit.setEnvironment(u"KUBERNETES_SERVICE_PORT"_s, QString::fromLatin1(port));
        } else {
            QVERIFY(write(u"chosen"_s, kubeconfig));
            davit.setEnvironment(u"KUBECONFIG"_s, home.filePath(u"environment"_s));
            arguments += {u"--kubeconfig"_s, home.filePath(u"chosen"_s)};
        }
        QVERIFY(davit.start(arguments));
        const int code = davit.waitForExit();
        const QByteArray text = davit.errorText() + davit.outputText();
        QVERIFY2(code == 2, command.first().toUtf8() + ": " + QByteArray::number(code) + text);
        QVERIFY2(text.contains(named.toUtf8()), text.constData());
        QVERIFY2(isInPod || text.contains(home.filePath(u"chosen"_s).toUtf8()), text.constData());
        QVERIFY2(!listener.waitForNewConnection(0), command.first().toUtf8() + " asked another");
    }
}

QTEST_GUILESS_MAIN(tst_OtherServers)
#include "tst_otherservers.moc"
