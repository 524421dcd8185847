// davit as a pod has it: no kubeconfig and no flag that names a server, the files of a service
// account where the kubelet mounts them, a token of TokenRequest, and the variables of the service
// "kubernetes". It works, and "davit check" says by what it goes.
#include "../integration/host/hostprocess.h"
#include "controlplane.h"

#include <QDir>
#include <QFile>
#include <QTest>

using namespace Qt::StringLiterals;

class tst_Pod : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void replicates();
    void check();

private:
    QByteArray kubectl(const QString &command, const QByteArray &input = {});
    void writeServiceAccount();

    ControlPlane m_plane;
    QTemporaryDir m_serviceAccount;
};

// Its output; empty when it failed.
QByteArray tst_Pod::kubectl(const QString &command, const QByteArray &input)
{
    QByteArray output;
    const int code = m_plane.kubectl(command.split(u' '), &output, input);
    return code == 0 ? output : QByteArray();
}

void tst_Pod::writeServiceAccount()
{
    const QByteArray token = kubectl(u"-n ops create token davit"_s).trimmed();
    QVERIFY(token.count('.') == 2);
    const auto write = [this](const char *name, const QByteArray &content) {
        QFile file(m_serviceAccount.filePath(QLatin1StringView(name)));
        return file.open(QIODevice::WriteOnly) && file.write(content) == content.size();
    };
    QVERIFY(write("token", token));
    QVERIFY(write("namespace", "ops"));
    QVERIFY(QFile::copy(
        QDir(m_plane.folder()).filePath(u"ca.crt"_s), m_serviceAccount.filePath(u"ca.crt"_s)));
}

void tst_Pod::initTestCase()
{
    if (!HostProcess::canLiveInPod())
        QSKIP("this machine gives a user no mount namespace");
    QVERIFY2(m_plane.start(ControlPlane::ControllerManager::No), qPrintable(m_plane.errorText()));
    for (const char *const command :
        {"create namespace ops", "create namespace team-red", "-n ops create serviceaccount davit",
            "create clusterrolebinding davit --clusterrole=cluster-admin "
            "--serviceaccount=ops:davit"})
        QVERIFY2(!kubectl(QLatin1StringView(command)).isEmpty(), command);
    writeServiceAccount();
}

void tst_Pod::replicates()
{
    HostProcess davit;
    davit.liveInPod(m_serviceAccount.path(), m_plane.apiServerPort());
    QVERIFY(davit.run({u"--plugin-dir"_s, QStringLiteral(DAVIT_BUILD_DIR "/plugins")}));
    QVERIFY2(davit.waitForLine("ready", nullptr, {}, 60), davit.errorText().constData());
    QVERIFY(!kubectl(u"apply -f -"_s,
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: defaults\n  namespace: ops\n"
        "  annotations: {replicator.davit.dev/to-namespaces: \"team-*\"}\ndata: {a: \"1\"}\n")
                 .isEmpty());
    QTRY_COMPARE_WITH_TIMEOUT(
        kubectl(u"-n team-red get configmap defaults -o jsonpath={.data.a}"_s), QByteArray("1"),
        60000);
    QCOMPARE(davit.stop(), 0);
}

void tst_Pod::check()
{
    HostProcess davit;
    davit.liveInPod(m_serviceAccount.path(), m_plane.apiServerPort());
    QVERIFY(
        davit.start({u"check"_s, u"--plugin-dir"_s, QStringLiteral(DAVIT_BUILD_DIR "/plugins")}));
    QCOMPARE(davit.waitForExit(60), 0);
    const QByteArray text = davit.outputText();
    QVERIFY2(text.contains("in-cluster configuration"), text.constData());
    QVERIFY2(
        text.contains("the server takes us for system:serviceaccount:ops:davit"), text.constData());
}

QTEST_GUILESS_MAIN(tst_Pod)
#include "tst_pod.moc"
