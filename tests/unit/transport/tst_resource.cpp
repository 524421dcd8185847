#include "transport/resource.h"

#include <QTest>

using namespace davit;
using namespace davit::transport;

using namespace Qt::Literals::StringLiterals;

namespace {
const Resource kPods{
    {QString(), QStringLiteral("v1"), QStringLiteral("Pod")}, QStringLiteral("pods"), true};
const Resource kNodes{
    {QString(), QStringLiteral("v1"), QStringLiteral("Node")}, QStringLiteral("nodes"), false};
const Resource kDeployments{
    {QStringLiteral("apps"), QStringLiteral("v1"), QStringLiteral("Deployment")},
    QStringLiteral("deployments"), true};
} // namespace

Q_DECLARE_METATYPE(Resource)
Q_DECLARE_METATYPE(ListOptions)

class tst_Resource : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void collections_data();
    void collections();
    void objects_data();
    void objects();
};

void tst_Resource::collections_data()
{
    QTest::addColumn<Resource>("resource");
    QTest::addColumn<QString>("namespaceName");
    QTest::addColumn<ListOptions>("options");
    QTest::addColumn<QByteArray>("target");

    QTest::newRow("core, all namespaces") << kPods << "" << ListOptions() << "/api/v1/pods"_ba;
    QTest::newRow("core, one namespace")
        << kPods << "team-a" << ListOptions() << "/api/v1/namespaces/team-a/pods"_ba;
    QTest::newRow("group") << kDeployments << "a" << ListOptions()
                           << "/apis/apps/v1/namespaces/a/deployments"_ba;
    QTest::newRow("cluster scope ignores the namespace")
        << kNodes << "a" << ListOptions() << "/api/v1/nodes"_ba;

    ListOptions selectors;
    selectors.labelSelector = QStringLiteral("a in (b,c),d=e+f");
    selectors.fieldSelector = QStringLiteral("metadata.name=x y&z");
    QTest::newRow("C-23 selectors: plus, blank and ampersand are encoded")
        << kPods << "" << selectors
        << "/api/v1/pods?labelSelector=a%20in%20%28b%2Cc%29%2Cd%3De%2Bf"
           "&fieldSelector=metadata.name%3Dx%20y%26z"_ba;

    ListOptions shard;
    shard.shardSelector = QStringLiteral("shardRange(object.metadata.uid, '0x0', '0x8')");
    QTest::newRow("1.9 shard") << kPods << "" << shard
                               << "/api/v1/pods?shardSelector=shardRange%28object.metadata.uid"
                                  "%2C%20%270x0%27%2C%20%270x8%27%29"_ba;

    ListOptions page;
    page.resourceVersion = QStringLiteral("0");
    page.resourceVersionMatch = QStringLiteral("NotOlderThan");
    page.continueToken = QStringLiteral("a/b=");
    page.limit = 500;
    QTest::newRow("C-23 page") << kPods << "" << page
                               << "/api/v1/pods?resourceVersion=0&resourceVersionMatch=NotOlderThan"
                                  "&continue=a%2Fb%3D&limit=500"_ba;

    ListOptions watch;
    watch.isWatch = true;
    watch.resourceVersion = QStringLiteral("7");
    watch.allowWatchBookmarks = true;
    watch.sendInitialEvents = false;
    watch.timeoutSeconds = 300;
    QTest::newRow("C-23 watch") << kPods << "" << watch
                                << "/api/v1/pods?watch=true&resourceVersion=7"
                                   "&allowWatchBookmarks=true&sendInitialEvents=false"
                                   "&timeoutSeconds=300"_ba;
}

void tst_Resource::collections()
{
    QFETCH(const Resource, resource);
    QFETCH(const QString, namespaceName);
    QFETCH(const ListOptions, options);
    QTEST(collectionTarget(resource, namespaceName, options), "target");
}

void tst_Resource::objects_data()
{
    QTest::addColumn<Resource>("resource");
    QTest::addColumn<ObjectKey>("key");
    QTest::addColumn<QString>("subresource");
    QTest::addColumn<QByteArray>("query");
    QTest::addColumn<QByteArray>("target"); // empty: InvalidArgument
    const auto key = [](const char *ns, const char *name) {
        return ObjectKey{QString::fromLatin1(ns), QString::fromLatin1(name)};
    };

    QTest::newRow("namespaced") << kPods << key("a", "web-0") << ""
                                << ""_ba
                                << "/api/v1/namespaces/a/pods/web-0"_ba;
    QTest::newRow("subresource and query")
        << kDeployments << key("a", "web") << "status"
        << "fieldManager=x"_ba
        << "/apis/apps/v1/namespaces/a/deployments/web/status?fieldManager=x"_ba;
    QTest::newRow("cluster scope") << kNodes << key("", "n1") << ""
                                   << ""_ba
                                   << "/api/v1/nodes/n1"_ba;
    QTest::newRow("a name with a colon") << kNodes << key("", "system:x") << ""
                                         << ""_ba
                                         << "/api/v1/nodes/system%3Ax"_ba;
    QTest::newRow("C-21 empty name") << kPods << key("a", "") << ""
                                     << ""_ba
                                     << ""_ba;
    QTest::newRow("C-20 no namespace") << kPods << key("", "x") << ""
                                       << ""_ba
                                       << ""_ba;
    QTest::newRow("C-19 dot") << kPods << key("a", ".") << ""
                              << ""_ba
                              << ""_ba;
    QTest::newRow("C-19 two dots") << kPods << key("..", "x") << ""
                                   << ""_ba
                                   << ""_ba;
    QTest::newRow("C-19 slash") << kPods << key("a", "x/y") << ""
                                << ""_ba
                                << ""_ba;
    QTest::newRow("C-19 percent") << kPods << key("a", "x%2fy") << ""
                                  << ""_ba
                                  << ""_ba;
    QTest::newRow("C-19 subresource") << kPods << key("a", "x") << "../y"
                                      << ""_ba
                                      << ""_ba;
}

void tst_Resource::objects()
{
    QFETCH(const Resource, resource);
    QFETCH(const ObjectKey, key);
    QFETCH(const QString, subresource);
    QFETCH(const QByteArray, query);
    QFETCH(const QByteArray, target);
    QByteArray made;
    const Status status = objectTarget(resource, key, subresource, query, &made);
    QCOMPARE(made, target);
    QCOMPARE(status.isOk(), !target.isEmpty());
    if (!status.isOk())
        QCOMPARE(status.error().code(), ErrorCode::InvalidArgument);
}

QTEST_GUILESS_MAIN(tst_Resource)
#include "tst_resource.moc"
