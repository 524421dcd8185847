// Discovery as a plugin's calls meet it: kinds that are not there, lists that are none, what
// changes.
#include "clientrig.h"

#include <QTest>

using namespace davit;
using namespace davit::client;
using namespace clientrig;
using namespace std::chrono_literals;

class tst_ClientDiscovery : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void kindNotServed();
    void discoveryFails();
    void oddDiscovery_data();
    void oddDiscovery();
    void discoveryIsShared();
    void resourceThatWent_data();
    void resourceThatWent();
    void crdWrites();
};

void tst_ClientDiscovery::kindNotServed()
{
    Fixture f;
    QFuture<ObjectReply> reply = f.client.get(kWidget, kX);
    f.executor.runAll();
    QCOMPARE(f.server.exchanges[0]->request.target, QByteArray("/apis"));
    f.server.answer(0, 200, kNoGroups);
    f.executor.runAll();
    QCOMPARE(reply.result().error().code(), ErrorCode::KindNotServed);
    QCOMPARE(reply.result().error().message(),
        QStringLiteral("get Widget team-a/x: demo.example/v1 Widget: the cluster does not serve "
                       "this kind; install its CRD, or check its group and version"));

    reply = f.client.get(kWidget, kX); // not asked again at once
    f.executor.runAll();
    QVERIFY(reply.isFinished());
    QCOMPARE(f.server.exchanges.size(), size_t(1));

    f.clock.advance(10s, &f.executor); // then the CRD is there
    reply = f.client.get(kWidget, kX);
    f.executor.runAll();
    QCOMPARE(f.server.exchanges.size(), size_t(2));
    QCOMPARE(f.server.exchanges[1]->request.target, QByteArray("/apis/demo.example/v1"));
    f.server.answer(1, 200,
        R"({"kind":"APIResourceList","resources":[{"name":"widgets","namespaced":true,"kind":"Widget"}]})");
    f.executor.runAll();
    QCOMPARE(f.server.exchanges.size(), size_t(3));
    QVERIFY(f.server.exchanges[2]->request.target.startsWith(
        "/apis/demo.example/v1/namespaces/team-a/widgets/x"));
}

void tst_ClientDiscovery::discoveryFails()
{
    Fixture f;
    QFuture<ObjectReply> reply = f.client.get(kConfigMap, kX);
    f.executor.runAll();
    f.server.fail(0, Error(ErrorCode::ConnectionRefused, QStringLiteral("nothing listens")));
    f.executor.runAll();
    QCOMPARE(reply.result().error().code(), ErrorCode::ConnectionRefused);
    reply = f.client.get(kConfigMap, kX); // a failure is not kept
    f.executor.runAll();
    f.server.answer(1, 200, kCoreResources);
    f.executor.runAll();
    QCOMPARE(f.server.exchanges.size(), size_t(3));

    f.clock.advance(10min, &f.executor); // too old: asked anew; while that fails, good enough
    reply = f.client.get(kConfigMap, kX);
    f.executor.runAll();
    QCOMPARE(f.server.exchanges[3]->request.target, QByteArray("/api/v1")); // no more than needed
    f.server.fail(3, Error(ErrorCode::ConnectionRefused, QStringLiteral("nothing listens")));
    f.executor.runAll();
    QCOMPARE(f.server.exchanges.size(), size_t(5));
    QVERIFY(f.server.exchanges[4]->request.target.startsWith("/api/v1/namespaces/team-a/"));
}

void tst_ClientDiscovery::oddDiscovery_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("fault"); // empty: it is a list without the kind
    const auto row = [](const char *name, const QByteArray &body, const char *fault) {
        QTest::newRow(name) << body << QString::fromLatin1(fault);
    };
    const auto listOf = [](const QByteArray &resources) {
        return R"({"kind":"APIResourceList","resources":)" + resources + '}';
    };
    row("a web page", "<html>", "is no JSON");
    row("cut off", R"({"kind":"APIRes)", "is no JSON");
    row("an array", "[]", "has no kind");
    row("kind of another type", R"({"kind":5})", "has no kind");
    row("another kind", R"({"kind":"APIGroupList","groups":[]})", "is a APIGroupList");
    row("resources: 5", listOf("5"), "has resources that are no list");
    row("resources: {}", listOf("{}"), "has resources that are no list");
    row("resources: null", listOf("null"), "");
    row("resources left out", R"({"kind":"APIResourceList"})", "");
    row("an entry of another type", listOf("[5]"),
        "has a wrong name, kind or namespaced in resources[0]");
    row("a name of another type", listOf(R"([{"name":5,"kind":"Widget","namespaced":true}])"),
        "has a wrong name, kind or namespaced in resources[0]");
    row("without namespaced", listOf(R"([{"name":"a","kind":"A"}])"), "");
    row("namespaced of another type",
        listOf(
            R"([{"name":"a","kind":"A","namespaced":true},{"name":"b","kind":"B","namespaced":1}])"),
        "has a wrong name, kind or namespaced in resources[1]");
}

void tst_ClientDiscovery::oddDiscovery()
{
    QFETCH(const QByteArray, body);
    QFETCH(const QString, fault);
    Fixture f;
    const QFuture<ObjectReply> reply = f.client.get(kWidget, kX);
    f.executor.runAll();
    f.server.answer(0, 406, "{}"); // no aggregated discovery
    f.executor.runAll();
    f.server.answer(1, 200, body);
    f.executor.runAll();
    const Error error = reply.result().error();
    QCOMPARE(error.code(), fault.isEmpty() ? ErrorCode::KindNotServed : ErrorCode::MalformedReply);
    if (!fault.isEmpty())
        QCOMPARE(error.message(),
            QStringLiteral("get Widget team-a/x: discover demo.example/v1: what "
                           "https://api.example:6443 answers to GET /apis/demo.example/v1 is no "
                           "APIResourceList: it %1; check what serves that path there, a proxy or "
                           "the group's APIService")
                .arg(fault));
}

void tst_ClientDiscovery::discoveryIsShared()
{
    Fixture f;
    f.client.get(kConfigMap, kX);
    f.client.get({QString(), QStringLiteral("v1"), QStringLiteral("Namespace")},
        {QString(), QStringLiteral("ops")});
    f.discover();
    QCOMPARE(f.server.exchanges.size(), size_t(3));
    QCOMPARE(
        f.server.exchanges[2]->request.target, QByteArray("/api/v1/namespaces/ops?timeout=30s"));
}

void tst_ClientDiscovery::resourceThatWent_data()
{
    QTest::addColumn<QByteArray>("body"); // of a 404
    QTest::addColumn<bool>("asksAnew");
    QTest::newRow("an object that is gone") << QByteArray(
        R"({"kind":"Status","status":"Failure","reason":"NotFound","code":404,"details":{"name":"x","kind":"configmaps"}})")
                                            << false;
    QTest::newRow("a resource that is gone") << QByteArray(
        R"({"kind":"Status","status":"Failure","reason":"NotFound","code":404,"message":"the server could not find the requested resource","details":{}})")
                                             << true;
    QTest::newRow("a path that is gone") << QByteArray("404 page not found") << true;
}

void tst_ClientDiscovery::resourceThatWent() // the next call does not use an address that went
{
    QFETCH(const QByteArray, body);
    QFETCH(const bool, asksAnew);
    Fixture f;
    f.client.get(kConfigMap, kX);
    f.discover();
    f.server.answer(1, 404, body);
    f.executor.runAll();
    f.client.get(kConfigMap, kX);
    f.executor.runAll();
    QCOMPARE(f.server.exchanges[2]->request.target == "/api/v1", asksAnew);
    if (!asksAnew)
        return;
    f.server.answer(2, 200, kCoreList);
    f.executor.runAll();
    QCOMPARE(f.server.exchanges.size(), size_t(4));
}

void tst_ClientDiscovery::crdWrites() // a kind that our own CRD brings is there at once
{
    Fixture f;
    const QFuture<ObjectReply> unknown = f.client.get(kWidget, kX);
    f.executor.runAll();
    f.server.answer(0, 200,
        R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"apiextensions.k8s.io"},"versions":[{"version":"v1","resources":[)"
        R"({"resource":"customresourcedefinitions","scope":"Cluster","responseKind":{"kind":"CustomResourceDefinition"}}]}]}]})");
    f.executor.runAll();
    QCOMPARE(unknown.result().error().code(), ErrorCode::KindNotServed);
    Object crd;
    QVERIFY(Object::fromJson(
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.demo.example"},"spec":{"group":"demo.example"}})",
        &crd)
                .isOk());
    f.client.create(crd);
    f.executor.runAll();
    f.server.answer(1, 201, crd.toJson());
    f.executor.runAll();
    f.client.get(kWidget, kX);
    f.executor.runAll();
    QCOMPARE(f.server.exchanges.size(), size_t(3));
    QCOMPARE(f.server.exchanges[2]->request.target, QByteArray("/apis/demo.example/v1"));
}

QTEST_GUILESS_MAIN(tst_ClientDiscovery)
#include "tst_clientdiscovery.moc"
