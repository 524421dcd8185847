// A CRD is deleted and made again, with other names or another scope, while the host runs:
// informers and clients of the kind go on.
#include "loglines.h"

#include <davit/client.h>
#include <davit/informerrequest.h>
#include <davit/lister.h>
#include <host/runtimeservices.h>
#include <testing/embeddedapiserver.h>

#include <QTest>
#include <algorithm>

using namespace davit;
using namespace Qt::Literals::StringLiterals;

namespace {

const Gvk kWidget{u"demo.example"_s, u"v1"_s, u"Widget"_s};

QByteArray definition(const QByteArray &plural, const QByteArray &scope)
{
    return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":")"
        + plural + R"(.demo.example"},"spec":{"group":"demo.example","scope":")" + scope
        + R"(","names":{"plural":")" + plural
        + R"(","singular":"widget","kind":"Widget"},"versions":[{"name":"v1",)"
          R"("served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
}

QByteArray widget(const QByteArray &name, bool isNamespaced)
{
    return R"({"apiVersion":"demo.example/v1","kind":"Widget","metadata":{"name":")" + name
        + (isNamespaced ? R"(","namespace":"default"}})" : "\"}}");
}

// Its informer was answered with 404.
bool isLost(const host::RuntimeServices &services)
{
    const std::vector<cache::ResourceState> resources = services.resources();
    return std::any_of(resources.begin(), resources.end(), [](const auto &resource) {
        return resource.scope.gvk == kWidget && resource.reflector.lastError.httpStatus() == 404;
    });
}

} // namespace

class tst_KindChange : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void change_data();
    void change();
};

void tst_KindChange::change_data()
{
    QTest::addColumn<QByteArray>("plural"); // of the second definition
    QTest::addColumn<bool>("isNamespaced");
    QTest::addColumn<bool>("isTold");
    QTest::newRow("as it was") << "widgets"_ba << true << false;
    QTest::newRow("another plural") << "gizmos"_ba << true << true;
    QTest::newRow("another scope") << "widgets"_ba << false << true;
}

void tst_KindChange::change()
{
    QFETCH(const QByteArray, plural);
    QFETCH(const bool, isNamespaced);
    QFETCH(const bool, isTold);
    testing::EmbeddedApiServer server;
    QVERIFY(server.start().isOk());
    QVERIFY(server.put(definition("widgets", "Namespaced")).isOk());
    QVERIFY(server.put(widget("a", true)).isOk());
    transport::ClusterConfig cluster;
    cluster.server = QUrl(server.url());
    LogLines lines;
    observability::MetricsRegistry metrics;
    host::RuntimeServices services(cluster, support::systemTimeSource(), lines, metrics);
    std::atomic<bool> isServed = false;
    services.resolve(
        kWidget, [&isServed] { isServed = true; }, [](const QString &) {});
    QTRY_VERIFY(isServed);
    services.start();
    pluginhost::PluginMetadata metadata;
    metadata.rbac = {{{u"*"_s}, {u"*"_s}, {}, {u"*"_s}}};
    pluginhost::PluginIdentity plugin;
    plugin.id = u"p"_s;
    plugin.metadata = &metadata;
    const Client client(*services.makeClient(plugin));
    priv::ListerBackend *backend = nullptr;
    QVERIFY(services.makeLister(plugin, InformerRequest(kWidget), &backend).isOk());
    const Lister lister(*backend);
    QTRY_COMPARE(lister.count(), 1);

    QCOMPARE(server
                 .request("DELETE",
                     "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.demo.example")
                 .httpStatus,
        200);
    QTRY_VERIFY(!client.list(kWidget).result().isOk());
    // The informer has heard of it, too: what is made anew at once under the same path looks as
    // ever.
    QTRY_VERIFY_WITH_TIMEOUT(isLost(services), 60000);
    QVERIFY(server.put(definition(plural, isNamespaced ? "Namespaced" : "Cluster")).isOk());
    QVERIFY(server.put(widget("b", isNamespaced)).isOk());
    const ObjectKey key{isNamespaced ? u"default"_s : QString(), u"b"_s};
    QTRY_VERIFY_WITH_TIMEOUT(!lister.find(key).isNull(), 60000); // waits up to 30 s between rounds
    QCOMPARE(lister.count(), 1);
    QTRY_VERIFY_WITH_TIMEOUT(client.get(kWidget, key).result().isOk(), 60000);
    // A list of all namespaces may go on under its path before the kind was looked for again, 10 s
    // later.
    const char *const line = "a kind is served in another way than before";
    if (isTold)
        QTRY_VERIFY_WITH_TIMEOUT(lines.count(line) > 0, 30000);
    else
        QCOMPARE(lines.count(line), 0);
    services.stopInformers();
}

QTEST_GUILESS_MAIN(tst_KindChange)
#include "tst_kindchange.moc"
