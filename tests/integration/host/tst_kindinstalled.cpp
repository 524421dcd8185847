// CustomResourceDefinitions that another client installs, changes or removes while the host runs:
// it hears of them by its watch. On kube-apiserver: tst_kindreal.
#include "kindsrig.h"
#include "testing/embeddedapiserver.h"

#include <davit/client.h>

#include <QTest>

using namespace davit;
using namespace Qt::Literals::StringLiterals;
using namespace std::chrono_literals;

namespace {

const Gvk kWidget{u"demo.example"_s, u"v1"_s, u"Widget"_s};
constexpr int kPatience = 30000; // ms; answers are other threads', on a machine that is busy
constexpr char kDefinitions[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

QByteArray definition(const QByteArray &version, const QByteArray &plural = "widgets")
{
    return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":")"
        + plural
        + R"(.demo.example"},"spec":{"group":"demo.example","scope":"Namespaced","names":{"plural":")"
        + plural + R"(","singular":"widget","kind":"Widget"},"versions":[{"name":")" + version
        + R"(","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
}

QByteArray widget(const QByteArray &name)
{
    return R"({"apiVersion":"demo.example/v1","kind":"Widget","metadata":{"name":")" + name
        + R"(","namespace":"default"}})";
}

struct Rig : KindsRig
{
    testing::EmbeddedApiServer server;

    bool start()
    {
        if (!server.start().isOk())
            return false;
        transport::ClusterConfig cluster;
        cluster.server = QUrl(server.url());
        KindsRig::start(cluster);
        return true;
    }
    bool put(const QByteArray &object) { return server.put(object).isOk(); }
    bool remove(const char *name)
    {
        const QByteArray path = QByteArray(kDefinitions) + '/' + name;
        return server.request("DELETE", path).httpStatus == 200;
    }
    Lister lister() { return KindsRig::lister(kWidget); }
    ~Rig() { services.reset(); } // while there is a server
};

} // namespace

class tst_KindInstalled : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void installed_data();
    void installed();
    void changed();
    void removed();
    void reachedByTheClientAlone();
    void whileTheWatchWasDown();
    void notAllowed();
    void builtInKindsNeedNone();
};

void tst_KindInstalled::installed_data()
{
    QTest::addColumn<QByteArray>("before"); // a definition that is there, or none
    QTest::newRow("a new definition") << QByteArray();
    QTest::newRow("another served version") << definition("v1alpha1");
}

void tst_KindInstalled::installed()
{
    QFETCH(const QByteArray, before);
    Rig rig;
    QVERIFY(rig.start());
    QVERIFY(before.isEmpty() || rig.put(before));
    rig.resolve(kWidget);
    QTRY_COMPARE_WITH_TIMEOUT(rig.waited, 1, kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(rig.isWatching(), kPatience);
    QVERIFY(rig.services->syncs().isEmpty()); // nobody's readiness waits for it
    QVERIFY(rig.put(definition("v1")));
    QVERIFY(rig.put(widget("a")));
    QTRY_COMPARE_WITH_TIMEOUT(rig.found, 1, kPatience);
    const Lister lister = rig.lister();
    QTRY_COMPARE_WITH_TIMEOUT(lister.count(), 1, kPatience);
}

// Its plural, under a running informer: what the next round asks for.
void tst_KindInstalled::changed()
{
    Rig rig;
    QVERIFY(rig.start());
    QVERIFY(rig.put(definition("v1")));
    rig.resolve(kWidget);
    QTRY_COMPARE_WITH_TIMEOUT(rig.found, 1, kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(rig.isWatching(), kPatience);
    QVERIFY(rig.remove("widgets.demo.example"));
    QVERIFY(rig.put(definition("v1", "gizmos")));
    QTRY_COMPARE_WITH_TIMEOUT(
        rig.lines.count("a kind is served in another way than before"), 1, kPatience);
    QVERIFY(rig.put(widget("a")));
    const Lister lister = rig.lister();
    QTRY_COMPARE_WITH_TIMEOUT(lister.count(), 1, kPatience);
}

// The client says so by itself, without a 404 that taught it.
void tst_KindInstalled::removed()
{
    Rig rig;
    QVERIFY(rig.start());
    QVERIFY(rig.put(definition("v1")));
    rig.resolve(kWidget);
    QTRY_COMPARE_WITH_TIMEOUT(rig.found, 1, kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(rig.isWatching(), kPatience);
    const Client client(*rig.services->makeClient(rig.plugin));
    QVERIFY(client.list(kWidget).result().isOk());
    QVERIFY(rig.remove("widgets.demo.example"));
    const int asked = rig.server.countRequests("GET", "/apis/demo.example/v1");
    QTRY_VERIFY_WITH_TIMEOUT(
        rig.server.countRequests("GET", "/apis/demo.example/v1") > asked, kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(
        client.list(kWidget).result().error().code(), ErrorCode::KindNotServed, kPatience);
    QVERIFY(rig.put(definition("v1")));
    QTRY_VERIFY_WITH_TIMEOUT(client.list(kWidget).result().isOk(), kPatience);
    rig.services->closeCalls(rig.plugin.id, 0s, [] {});
}

// A plugin declares no kind of the group, its rights name it. That the scope is another one no
// answer of the server tells: the client itself refuses, and what it knows is good for ten minutes.
void tst_KindInstalled::reachedByTheClientAlone()
{
    Rig rig;
    QVERIFY(rig.start());
    QVERIFY(rig.put(definition("v1")));
    rig.metadata.rbac = {{{kWidget.group}, {u"widgets"_s}, {}, {u"*"_s}}};
    const Client client(*rig.services->makeClient(rig.plugin));
    QTRY_VERIFY_WITH_TIMEOUT(rig.isWatching(), kPatience);
    const ObjectKey atClusterScope{QString(), u"a"_s};
    const auto asked = [&] { return client.get(kWidget, atClusterScope).result().error().code(); };
    QCOMPARE(asked(), ErrorCode::InvalidArgument);
    QVERIFY(rig.remove("widgets.demo.example"));
    QVERIFY(rig.put(definition("v1").replace("Namespaced", "Cluster")));
    QTRY_COMPARE_WITH_TIMEOUT(asked(), ErrorCode::NotFound, kPatience);
    rig.services->closeCalls(rig.plugin.id, 0s, [] {});
}

// A relist tells what came meanwhile.
void tst_KindInstalled::whileTheWatchWasDown()
{
    Rig rig;
    QVERIFY(rig.start());
    rig.resolve(kWidget);
    QTRY_VERIFY_WITH_TIMEOUT(rig.isWatching(), kPatience);
    testing::ApiServerFault gone;
    gone.pathContains = "customresourcedefinitions";
    gone.queryContains = "watch=true";
    gone.times = 3;
    gone.httpStatus = 410;
    rig.server.addFault(gone);
    rig.server.endWatches();
    QVERIFY(rig.put(definition("v1")));
    QTRY_COMPARE_WITH_TIMEOUT(rig.found, 1, 2 * kPatience); // rounds are up to 30 s apart
}

void tst_KindInstalled::notAllowed()
{
    Rig rig;
    QVERIFY(rig.start());
    testing::ApiServerFault forbidden;
    forbidden.pathContains = "customresourcedefinitions";
    forbidden.times = -1;
    forbidden.httpStatus = 403;
    rig.server.addFault(forbidden);
    rig.resolve(kWidget);
    const char *const line = "kinds that are installed or changed later are noticed 10 s late";
    QTRY_COMPARE_WITH_TIMEOUT(rig.lines.count(line), 1, kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(rig.waited, 1, kPatience);
    rig.resolve({u"demo.example"_s, u"v1"_s, u"Gizmo"_s});
    QTRY_COMPARE_WITH_TIMEOUT(rig.waited, 2, kPatience);
    QCOMPARE(rig.server.countRequests("GET", "customresourcedefinitions"), 1);
    QCOMPARE(rig.lines.count(""), 1); // no other line about it
    QVERIFY(!rig.isWatching());
}

void tst_KindInstalled::builtInKindsNeedNone()
{
    Rig rig;
    QVERIFY(rig.start());
    rig.resolve({QString(), u"v1"_s, u"ConfigMap"_s});
    rig.resolve({u"apps"_s, u"v1"_s, u"Deployment"_s});
    QTRY_COMPARE_WITH_TIMEOUT(rig.found, 2, kPatience);
    const Client client(*rig.services->makeClient(rig.plugin)); // its rule is on every group
    QVERIFY(client.list({QString(), u"v1"_s, u"ConfigMap"_s}).result().isOk());
    QCOMPARE(rig.server.countRequests("GET", "customresourcedefinitions"), 0);
    rig.services->closeCalls(rig.plugin.id, 0s, [] {});
}

QTEST_GUILESS_MAIN(tst_KindInstalled)
#include "tst_kindinstalled.moc"
