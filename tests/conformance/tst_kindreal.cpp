// As tst_kindinstalled, on kube-apiserver: kubectl installs a CustomResourceDefinition and changes
// it, and the host hears of each by its watch, since it never looks again by itself here.
#include "../integration/host/kindsrig.h"
#include "controlplane.h"

#include <host/clusterchoice.h>

#include <davit/client.h>

#include <QTest>

using namespace davit;
using namespace Qt::Literals::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr int kPatience = 60000; // ms; answers are other processes', on a machine that is busy

// Each version is served; the first is stored.
QByteArray definition(const QByteArray &plural, const QByteArray &scope, const QByteArrayList &all)
{
    QByteArray versions;
    for (const QByteArray &version : all)
        versions += "\n  - {name: " + version
            + ", served: true, storage: " + (version == all.first() ? "true" : "false")
            + ", schema: {openAPIV3Schema: {type: object}}}";
    return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
        + plural + ".demo.example}\nspec:\n  group: demo.example\n  scope: " + scope
        + "\n  names: {plural: " + plural
        + ", singular: widget, kind: Widget}\n  versions:" + versions + '\n';
}

Gvk widget(const QString &version)
{
    return {u"demo.example"_s, version, u"Widget"_s};
}

} // namespace

class tst_KindReal : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void installedThenChanged();

private:
    bool apply(const QByteArray &yaml)
    {
        QByteArray output;
        return m_plane.kubectl({u"apply"_s, u"-f"_s, u"-"_s}, &output, yaml) == 0;
    }

    ControlPlane m_plane;
};

void tst_KindReal::initTestCase()
{
    QVERIFY2(m_plane.start(ControlPlane::ControllerManager::No), qPrintable(m_plane.errorText()));
}

void tst_KindReal::installedThenChanged()
{
    const Result<transport::ClusterConfig> cluster
        = host::chosenCluster(m_plane.kubeconfigPath(), QString());
    QVERIFY(cluster.isOk());
    KindsRig rig;
    rig.start(cluster.value());
    const Client client(*rig.services->makeClient(rig.plugin));
    rig.resolve(widget(u"v1"_s));
    QTRY_COMPARE_WITH_TIMEOUT(rig.waited, 1, kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(rig.isWatching(), kPatience);

    QVERIFY(apply(definition("widgets", "Namespaced", {"v1"})));
    QTRY_COMPARE_WITH_TIMEOUT(rig.found, 1, kPatience);
    const auto atClusterScope = [&] {
        return client.get(widget(u"v1"_s), {QString(), u"a"_s}).result().error().code();
    };
    QCOMPARE(atClusterScope(), ErrorCode::InvalidArgument); // refused by the client

    rig.resolve(widget(u"v2"_s));
    QTRY_COMPARE_WITH_TIMEOUT(rig.waited, 2, kPatience);
    QVERIFY(apply(definition("widgets", "Namespaced", {"v1", "v2"})));
    QTRY_COMPARE_WITH_TIMEOUT(rig.found, 2, kPatience);

    // Plural and scope of a definition cannot be changed: it is made anew.
    QByteArray output;
    QCOMPARE(m_plane.kubectl({u"delete"_s, u"crd"_s, u"widgets.demo.example"_s}, &output), 0);
    QVERIFY(apply(definition("gizmos", "Cluster", {"v1", "v2"})));
    QTRY_COMPARE_WITH_TIMEOUT(
        rig.lines.count("a kind is served in another way than before"), 2, kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(atClusterScope(), ErrorCode::NotFound, kPatience);
    rig.services->closeCalls(rig.plugin.id, 0s, [] {});
}

QTEST_GUILESS_MAIN(tst_KindReal)
#include "tst_kindreal.moc"
