#include "host/clusterchoice.h"

#include <QTemporaryDir>
#include <QTest>

using namespace davit;
using namespace Qt::StringLiterals;

class tst_ClusterChoice : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void chooses_data();
    void chooses();

private:
    static QString file(const QTemporaryDir &folder, const QString &name, const QByteArray &text);
};

QString tst_ClusterChoice::file(
    const QTemporaryDir &folder, const QString &name, const QByteArray &text)
{
    QFile file(folder.filePath(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
        qFatal("cannot write a test file");
    return file.fileName();
}

void tst_ClusterChoice::chooses_data()
{
    QTest::addColumn<bool>("isKubeconfigNamed"); // in a pod all the same
    QTest::addColumn<QString>("context");
    QTest::addColumn<QString>("server"); // or the fault
    QTest::newRow("its current context") << true << QString() << u"http://a:1"_s;
    QTest::newRow("another") << true << u"second"_s << u"http://b:1"_s;
    QTest::newRow("one that is not there")
        << true << u"x"_s
        << u"kubeconfig %1: context \"x\" does not exist; correct it: there are "
           "first, second"_s;
    QTest::newRow("the pod's") << false << QString() << u"https://10.0.0.1:443"_s;
    QTest::newRow("the pod's, which has no contexts")
        << false << u"x"_s
        << u"--context \"x\" is of a kubeconfig and none is used, since this is a pod and neither "
           "--kubeconfig nor KUBECONFIG is set; name one with --kubeconfig, or leave --context "
           "out"_s;
}

void tst_ClusterChoice::chooses()
{
    QFETCH(const bool, isKubeconfigNamed);
    QFETCH(const QString, context);
    QFETCH(const QString, server);
    const QTemporaryDir folder;
    const QString kubeconfig = file(folder, u"kubeconfig"_s,
        "apiVersion: v1\nkind: Config\ncurrent-context: first\nusers: [{name: u, user: {}}]\n"
        "contexts: [{name: first, context: {cluster: a, user: u}},\n"
        "  {name: second, context: {cluster: b, user: u}}]\n"
        "clusters: [{name: a, cluster: {server: \"http://a:1\"}},\n"
        "  {name: b, cluster: {server: \"http://b:1\"}}]\n");
    file(folder, u"token"_s, "t");
    file(folder, u"namespace"_s, "ops");
    transport::LoadEnvironment environment;
    environment.serviceAccountFolder = folder.path();
    environment.homeFolder = folder.filePath(u"home"_s);
    environment.variable = [](const char *name) {
        return qstrcmp(name, "KUBERNETES_SERVICE_HOST") == 0 ? u"10.0.0.1"_s
            : qstrcmp(name, "KUBERNETES_SERVICE_PORT") == 0  ? u"443"_s
                                                             : QString();
    };
    const auto config
        = host::chosenCluster(isKubeconfigNamed ? kubeconfig : QString(), context, environment);
    const QString seen
        = config.isOk() ? config.value().server.toString() : config.error().message();
    QCOMPARE(seen, server.contains(u"%1") ? server.arg(kubeconfig) : server);
}

QTEST_GUILESS_MAIN(tst_ClusterChoice)
#include "tst_clusterchoice.moc"
