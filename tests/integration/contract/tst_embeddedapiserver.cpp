// What only the embedded server has: faults on demand, the log of requests, control of watches,
// loading of files, stop and start.
#include "apiclient.h"

#include <testing/apiserver/admission.h>
#include <testing/embeddedapiserver.h>

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <thread>

using namespace davit::testing;

namespace {

QByteArray crdSpec(const QByteArray &version)
{
    return R"({"group":"e.io","scope":"Namespaced","names":{"plural":"foos","kind":"Foo"},)"
           R"("versions":[)"
        + version + "]}";
}

} // namespace

class tst_EmbeddedApiServer : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();

    void faultAnswers();
    void faultDelays();
    void executedButUnanswered();
    void requestLog();
    void endWatches();
    void bookmarksOnDemand();
    void historyWindow();
    void dropConnections();
    void stopAndStart();
    void portTaken();
    void loadObjects();
    void loadFaults_data();
    void loadFaults();
    void loadNoRegularFile_data();
    void loadNoRegularFile();
    void generatedNames_data();
    void generatedNames();
    void wrongShapes_data();
    void wrongShapes();
    void historyIsBoundedByBytes();
    void requestsAreBounded();
    void putReplaces();
    void requestWithoutASocket_data();
    void requestWithoutASocket();
    void manyWatchesAndCalls();
    void concurrentWriters();

private:
    ApiAnswer call(const QByteArray &method, const QByteArray &target, const QByteArray &body = {},
        const QByteArray &type = "application/json")
    {
        return apiCall(m_address, method, target, body, type);
    }
    ApiAnswer make(const QByteArray &name)
    {
        return call("POST", m_maps, R"({"metadata":{"name":")" + name + R"("}})");
    }

    const QByteArray m_maps = "/api/v1/namespaces/default/configmaps";
    std::unique_ptr<EmbeddedApiServer> m_server;
    ApiAddress m_address;
};

void tst_EmbeddedApiServer::init()
{
    EmbeddedApiServerOptions options;
    options.historyLimitItems = 50;
    m_server = std::make_unique<EmbeddedApiServer>(options);
    QVERIFY(m_server->start().isOk());
    QVERIFY(m_server->port() != 0);
    m_address = ApiAddress::fromKubeconfig(m_server->kubeconfig());
    QCOMPARE(m_address.server, m_server->url().toUtf8());
}

void tst_EmbeddedApiServer::cleanup()
{
    m_server.reset(); // ends open connections: if it waited for them, ctest's limit would strike
}

void tst_EmbeddedApiServer::faultAnswers()
{
    ApiServerFault fault;
    fault.method = "POST";
    fault.pathContains = "/configmaps";
    fault.httpStatus = 429;
    fault.retryAfterSeconds = 3;
    fault.times = 2;
    m_server->addFault(fault);
    QCOMPARE(call("GET", m_maps).code, 200); // another method
    const ApiAnswer refused = make("a");
    QCOMPARE(refused.code, 429);
    QCOMPARE(refused.reason(), QStringLiteral("TooManyRequests"));
    QCOMPARE(refused.json()[QLatin1String("details")]
                 .toObject()[QLatin1String("retryAfterSeconds")]
                 .toInt(),
        3);
    QCOMPARE(make("a").code, 429);
    QCOMPARE(make("a").code, 201); // used up
    fault.times = -1;
    m_server->addFault(fault);
    QCOMPARE(make("b").code, 429);
    m_server->clearFaults();
    QCOMPARE(make("b").code, 201);
}

void tst_EmbeddedApiServer::faultDelays()
{
    ApiServerFault fault;
    fault.delay = std::chrono::milliseconds(300);
    m_server->addFault(fault);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(call("GET", m_maps).code, 200);
    QVERIFY(timer.elapsed() >= 300);
}

void tst_EmbeddedApiServer::executedButUnanswered()
{
    ApiServerFault fault;
    fault.method = "POST";
    fault.isUnanswered = true;
    m_server->addFault(fault);
    QCOMPARE(make("a").code, 0);
    QCOMPARE(call("GET", m_maps + "/a").code, 200); // it was executed
    QCOMPARE(m_server->countRequests("POST", "/configmaps"), 1);
    QCOMPARE(m_server->requests().first().httpStatus, 0);
}

void tst_EmbeddedApiServer::requestLog()
{
    call("GET", m_maps + "?limit=5&labelSelector=a%3Db");
    make("a");
    const QList<ApiServerRequest> requests = m_server->requests();
    QCOMPARE(requests.size(), 2);
    QCOMPARE(requests[0].method, QByteArray("GET"));
    QCOMPARE(requests[0].path, m_maps);
    QCOMPARE(requests[0].query, QByteArray("labelSelector=a=b&limit=5"));
    QCOMPARE(requests[0].userAgent, QByteArray("contract/1"));
    QCOMPARE(requests[1].httpStatus, 201);
    QCOMPARE(requests[1].body, QByteArray(R"({"metadata":{"name":"a"}})"));
    m_server->clearRequests();
    QVERIFY(m_server->requests().isEmpty());
    QCOMPARE(m_server->request("GET", m_maps + "/a").httpStatus, 200);
    QVERIFY(m_server->requests().isEmpty()); // not over the socket
}

void tst_EmbeddedApiServer::endWatches()
{
    ApiWatch clean(m_address, m_maps + "?watch=true&resourceVersion=1");
    QVERIFY(QTest::qWaitFor([&] { return m_server->openWatches() == 1; }));
    m_server->endWatches();
    QVERIFY(clean.waitForEnd());
    QVERIFY(clean.events().isEmpty());
    QVERIFY(QTest::qWaitFor([&] { return m_server->openWatches() == 0; })); // after its last byte
    ApiWatch expired(m_address, m_maps + "?watch=true&resourceVersion=1");
    QVERIFY(QTest::qWaitFor([&] { return m_server->openWatches() == 1; }));
    m_server->endWatches(EmbeddedApiServer::WatchEnd::Expired);
    QVERIFY(expired.waitForEnd());
    QCOMPARE(expired.events().size(), 1);
    QCOMPARE(expired.events().first()[QLatin1String("type")].toString(), QStringLiteral("ERROR"));
}

void tst_EmbeddedApiServer::bookmarksOnDemand()
{
    ApiWatch asked(m_address, m_maps + "?watch=true&allowWatchBookmarks=true&resourceVersion=1");
    ApiWatch silent(m_address, m_maps + "?watch=true&resourceVersion=1");
    QVERIFY(QTest::qWaitFor([&] { return m_server->openWatches() == 2; }));
    QVERIFY(m_server->put(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}})").isOk());
    m_server->sendBookmarks();
    QVERIFY(asked.waitForCount(1));
    const QJsonObject mark = asked.events().first();
    QCOMPARE(mark[QLatin1String("type")].toString(), QStringLiteral("BOOKMARK"));
    QCOMPARE(mark[QLatin1String("object")]
                 .toObject()[QLatin1String("metadata")]
                 .toObject()[QLatin1String("resourceVersion")]
                 .toString()
                 .toULongLong(),
        m_server->lastVersion());
    QVERIFY(silent.events().isEmpty());
}

// 50 changes are remembered: what is older is Expired, for watches that fall behind too.
void tst_EmbeddedApiServer::historyWindow()
{
    const quint64 start = m_server->lastVersion();
    for (int i = 0; i < 51; ++i)
        QCOMPARE(make("m" + QByteArray::number(i)).code, 201);
    ApiWatch old(m_address, m_maps + "?watch=true&resourceVersion=" + QByteArray::number(start));
    QVERIFY(old.waitForEnd());
    QCOMPARE(
        old.events().first()[QLatin1String("object")].toObject()[QLatin1String("code")].toInt(),
        410);
    ApiWatch young(
        m_address, m_maps + "?watch=true&resourceVersion=" + QByteArray::number(start + 1));
    QVERIFY(young.waitForCount(50));
    const QByteArray exact = m_maps + "?resourceVersionMatch=Exact&resourceVersion=";
    QCOMPARE(call("GET", exact + QByteArray::number(start)).code, 410);
    QCOMPARE(call("GET", exact + QByteArray::number(start + 1)).code, 200);
}

void tst_EmbeddedApiServer::dropConnections()
{
    ApiWatch watch(m_address, m_maps + "?watch=true&resourceVersion=1");
    QVERIFY(QTest::qWaitFor([&] { return m_server->openWatches() == 1; }));
    m_server->dropConnections();
    QVERIFY(watch.waitForEnd());
    QVERIFY(QTest::qWaitFor([&] { return m_server->openWatches() == 0; }));
    QCOMPARE(call("GET", m_maps).code, 200);
}

void tst_EmbeddedApiServer::stopAndStart()
{
    make("a");
    const quint16 port = m_server->port();
    ApiWatch watch(m_address, m_maps + "?watch=true&resourceVersion=1");
    QVERIFY(QTest::qWaitFor([&] { return m_server->openWatches() == 1; }));
    m_server->stop();
    QVERIFY(watch.waitForEnd());
    QCOMPARE(call("GET", m_maps).code, 0);
    QVERIFY(m_server->start().isOk());
    QCOMPARE(m_server->port(), port);
    QCOMPARE(call("GET", m_maps + "/a").code, 200);
}

void tst_EmbeddedApiServer::portTaken()
{
    EmbeddedApiServerOptions options;
    options.port = m_server->port();
    EmbeddedApiServer second(options);
    const davit::Status status = second.start();
    QVERIFY(!status.isOk());
    QVERIFY(status.error().message().contains(QString::number(m_server->port())));
}

void tst_EmbeddedApiServer::loadObjects()
{
    QTemporaryDir folder;
    const auto write = [&folder](const char *name, const QByteArray &text) {
        QFile file(folder.filePath(QLatin1String(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    };
    // The object comes before its kind and its namespace, in the order of names.
    write("1-widget.yaml",
        "apiVersion: demo.example/v1\nkind: Widget\nmetadata: {name: w, namespace: team-a}\nspec: "
        "{size: 1}\nstatus: {ready: true}\n");
    write("2-crd.yaml",
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
        "widgets.demo.example}\nspec: {group: demo.example, scope: Namespaced, names: {plural: "
        "widgets, kind: Widget}, versions: [{name: v1, served: true, storage: true, subresources: "
        "{status: {}}}]}\n");
    write("3-many.yml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n---\napiVersion: v1\nkind: "
        "ConfigMap\nmetadata: {name: c}\n");
    write("4-list.json",
        R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"a":"b"}}]})");
    write("5-maps.yaml",
        "apiVersion: v1\nkind: ConfigMapList\nitems: [{metadata: {name: d, namespace: team-a}}]\n");
    write("notes.txt", "not an object");
    const davit::Status status = m_server->loadObjects(folder.path());
    QVERIFY2(status.isOk(), qPrintable(status.error().message()));
    const ApiAnswer widget = call("GET", "/apis/demo.example/v1/namespaces/team-a/widgets/w");
    QCOMPARE(widget.code, 200);
    QVERIFY(widget.json()[QLatin1String("status")].toObject()[QLatin1String("ready")].toBool());
    QCOMPARE(call("GET", m_maps + "/c").code, 200);
    QCOMPARE(call("GET", "/api/v1/namespaces/default/secrets/s").code, 200);
    QCOMPARE(call("GET", "/api/v1/namespaces/team-a/configmaps/d").code, 200);
}

void tst_EmbeddedApiServer::loadFaults_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("want");
    QTest::newRow("broken YAML") << QByteArray("a: [\n") << QStringLiteral("line ");
    QTest::newRow("unknown kind") << QByteArray(
        "apiVersion: x/v1\nkind: Nothing\nmetadata: {name: n}\n")
                                  << QStringLiteral("x/v1 Nothing is not served");
    QTest::newRow("no kind") << QByteArray("apiVersion: v1\nmetadata: {name: n}\n")
                             << QStringLiteral("has no apiVersion or kind");
    QTest::newRow("no object at all")
        << QByteArray("a: b\n") << QStringLiteral("has no apiVersion or kind");
    QTest::newRow("refused") << QByteArray(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Upper}\n")
                             << QStringLiteral("ConfigMap \"Upper\" is invalid");
    QTest::newRow("one object twice, once in the default namespace by name")
        << QByteArray("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n"
                      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
        << QStringLiteral(": document 2, ConfigMap a is document 1 too; remove one of the two");
    QTest::newRow("the second document is the wrong one")
        << QByteArray("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"
                      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: B}\n")
        << QStringLiteral(": document 2, ConfigMap B: ");
    QTest::newRow("a key twice")
        << QByteArray("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nkind: Secret\n")
        << QStringLiteral("line 4: the key \"kind\" stands twice in one map; remove one");
    QTest::newRow("List whose items are no list")
        << QByteArray("apiVersion: v1\nkind: List\nitems: 5\n")
        << QStringLiteral("items of a List must be a list of objects");
    QTest::newRow("List of what is no object")
        << QByteArray("apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, "
                      "metadata: {name: a}}, 5]\n")
        << QStringLiteral(": document 1, items[1] is no object; write it as {");
    QTest::newRow("ConfigMapList of what is no object")
        << QByteArray("apiVersion: v1\nkind: ConfigMapList\nitems: [a]\n")
        << QStringLiteral(": document 1, items[0] is no object; write it as {");
    QTest::newRow("an item without a kind")
        << QByteArray("apiVersion: v1\nkind: List\nitems: [{metadata: {name: a}}]\n")
        << QStringLiteral(": document 1, items[0], a: it has no apiVersion or kind");
    QTest::newRow("an item that is refused")
        << QByteArray("apiVersion: v1\nkind: ConfigMapList\nitems: [{metadata: {name: B}}]\n")
        << QStringLiteral(": document 1, items[0], ConfigMap B: ");
    QTest::newRow("CRD whose storage is a text")
        << "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
           "foos.e.io}\nspec: "
            + crdSpec(R"({"name":"v1","served":true,"storage":"y"})")
        << QStringLiteral("CustomResourceDefinition.spec.versions.storage of type bool");
    QTest::newRow("namespace is missing")
        << QByteArray("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: nowhere}\n")
        << QStringLiteral("namespaces \"nowhere\" not found");
}

void tst_EmbeddedApiServer::loadFaults()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, want);
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("bad.yaml"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
    file.close();
    const davit::Status status = m_server->loadObjects(folder.path());
    QVERIFY(!status.isOk());
    const QString message = status.error().message();
    QVERIFY2(message.contains(path) && message.contains(want), qPrintable(message));
    QVERIFY(!m_server->loadObjects(path + QStringLiteral("/none")).isOk());
}

// What is named like a file of objects and is none must not be passed over.
void tst_EmbeddedApiServer::loadNoRegularFile_data()
{
    QTest::addColumn<QByteArray>("target"); // of a link; empty: a directory
    QTest::newRow("directory") << QByteArray();
    QTest::newRow("link to nothing") << QByteArray("/nowhere/at/all");
    QTest::newRow("link to a device") << QByteArray("/dev/zero");
}

void tst_EmbeddedApiServer::loadNoRegularFile()
{
    QFETCH(const QByteArray, target);
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("a.yaml"));
    QVERIFY(target.isEmpty() ? QDir().mkdir(path) : QFile::link(QString::fromUtf8(target), path));
    const davit::Status status = m_server->loadObjects(folder.path());
    QVERIFY(!status.isOk());
    const QString message = status.error().message();
    QVERIFY2(
        message.contains(path + QStringLiteral(": it is no regular file")), qPrintable(message));
}

void tst_EmbeddedApiServer::generatedNames_data()
{
    QTest::addColumn<int>("taken"); // of the names, from the first on
    QTest::addColumn<int>("drawn");
    QTest::newRow("the first is free") << 0 << 1;
    QTest::newRow("the eighth is free") << 7 << 8;
    QTest::newRow("none is") << 100 << 8;
}

void tst_EmbeddedApiServer::generatedNames()
{
    QFETCH(const int, taken);
    std::vector<std::string> drawn;
    const std::string name = apiserver::generatedName("pre-", [&](const std::string &drawnName) {
        drawn.push_back(drawnName);
        return int(drawn.size()) <= taken;
    });
    QTEST(int(drawn.size()), "drawn");
    QCOMPARE(name, drawn.back());
}

void tst_EmbeddedApiServer::wrongShapes_data()
{
    QTest::addColumn<QByteArray>("method");
    QTest::addColumn<QByteArray>("item"); // below the collection
    QTest::addColumn<QByteArray>("collection");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<int>("code");
    const QByteArray crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const auto crd = [&crds](const char *name, const QByteArray &spec, int code) {
        QTest::newRow(name) << QByteArray("POST") << QByteArray("foos.e.io") << crds
                            << R"({"metadata":{"name":"foos.e.io"},"spec":)" + spec + "}" << code;
    };
    crd("CRD: spec is a number", "5", 400);
    crd("CRD: no spec", "null", 422);
    crd("CRD: storage is a text", crdSpec(R"({"name":"v1","storage":"y"})"), 400);
    crd("CRD: served is a text", crdSpec(R"({"name":"v1","served":"y"})"), 400);
    crd("CRD: a version is a number", crdSpec("5"), 400);
    crd("CRD: a version without a name", crdSpec(R"({"served":true,"storage":true})"), 422);
    crd("CRD: subresources are a list", crdSpec(R"({"name":"v1","subresources":[]})"), 400);
    crd("CRD: a column is a number", crdSpec(R"({"name":"v1","additionalPrinterColumns":[5]})"),
        400);
    crd("CRD: a priority is a text",
        crdSpec(R"({"name":"v1","additionalPrinterColumns":[{"priority":"1"}]})"), 400);
    crd("CRD: names are a text", R"({"group":"e.io","names":"foos","versions":[]})", 400);
    QTest::newRow("apply: metadata is a number")
        << QByteArray("PATCH") << QByteArray("a") << m_maps
        << QByteArray("apiVersion: v1\nkind: ConfigMap\nmetadata: 5\n") << 500;
    QTest::newRow("Service: spec is a number")
        << QByteArray("POST") << QByteArray("s")
        << QByteArray("/api/v1/namespaces/default/services")
        << QByteArray(R"({"metadata":{"name":"s"},"spec":5})") << 400;
}

// A Status with a sentence, and nothing is stored.
void tst_EmbeddedApiServer::wrongShapes()
{
    QFETCH(const QByteArray, method);
    QFETCH(const QByteArray, item);
    QFETCH(const QByteArray, collection);
    QFETCH(const QByteArray, body);
    const bool isApply = method == "PATCH";
    const ApiAnswer answer
        = call(method, isApply ? collection + '/' + item + "?fieldManager=m" : collection, body,
            isApply ? "application/apply-patch+yaml" : "application/json");
    QTEST(answer.code, "code");
    QCOMPARE(answer.json()[QLatin1String("kind")].toString(), QStringLiteral("Status"));
    QVERIFY(!answer.json()[QLatin1String("message")].toString().isEmpty());
    QCOMPARE(call("GET", collection + '/' + item).code, 404);
}

void tst_EmbeddedApiServer::historyIsBoundedByBytes()
{
    EmbeddedApiServerOptions options;
    options.historyLimitBytes = 200'000;
    EmbeddedApiServer server(options);
    const auto put = [&](int i) {
        return server
            .put(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":")"
                + QByteArray(10'000, char('a' + i)) + R"("}})")
            .isOk();
    };
    const QByteArray first = QByteArray::number(server.lastVersion());
    for (int i = 0; i < 20; ++i) {
        QVERIFY(put(i));
        QVERIFY2(server.historyBytes() <= options.historyLimitBytes,
            qPrintable(QString::number(server.historyBytes())));
    }
    QVERIFY(server.historyBytes() > 150'000); // it is used, too
    const QByteArray exact = m_maps + "?resourceVersionMatch=Exact&resourceVersion=";
    QCOMPARE(server.request("GET", exact + first).httpStatus, 410);
    QCOMPARE(server.request("GET", exact + QByteArray::number(server.lastVersion() - 4)).httpStatus,
        200);
    server.expireHistory();
    QCOMPARE(server.historyBytes(), 0);
}

void tst_EmbeddedApiServer::requestsAreBounded()
{
    EmbeddedApiServerOptions options;
    for (const int limit : {0, 2}) {
        options.requestLimitItems = limit;
        EmbeddedApiServer server(options);
        QVERIFY(server.start().isOk());
        const ApiAddress address = ApiAddress::fromKubeconfig(server.kubeconfig());
        for (const char *path : {"/api", "/apis", "/version"})
            QCOMPARE(apiCall(address, "GET", path).code, 200);
        QCOMPARE(server.requests().size(), limit);
        if (limit > 0)
            QCOMPARE(server.requests().first().path, QByteArray("/apis"));
    }
}

void tst_EmbeddedApiServer::requestWithoutASocket_data()
{
    QTest::addColumn<QByteArray>("target");
    QTest::addColumn<int>("httpStatus");
    QTest::newRow("without a query") << m_maps << 200;
    QTest::newRow("with a query") << m_maps + "?limit=1" << 200;
    QTest::newRow("with an empty query") << m_maps + '?' << 200;
    QTest::newRow("one object") << m_maps + "/kube-root-ca.crt" << 404;
    QTest::newRow("the root") << QByteArray("/api") << 200;
    QTest::newRow("a watch") << m_maps + "?watch=true" << 405;
}

void tst_EmbeddedApiServer::requestWithoutASocket()
{
    QFETCH(const QByteArray, target);
    QTEST(m_server->request("GET", target).httpStatus, "httpStatus");
}

void tst_EmbeddedApiServer::putReplaces()
{
    const auto put = [this](const QByteArray &data) {
        return m_server->put(
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":)" + data
            + "}");
    };
    QVERIFY(put(R"({"x":"1","y":"2"})").isOk());
    QVERIFY(put(R"({"x":"3"})").isOk());
    QCOMPARE(call("GET", m_maps + "/a").json()[QLatin1String("data")].toObject(),
        (QJsonObject{{QStringLiteral("x"), QStringLiteral("3")}}));
    QVERIFY(!m_server->put("{").isOk());
}

// cpp-httplib as it comes starves a GET behind 9 open watches.
void tst_EmbeddedApiServer::manyWatchesAndCalls()
{
    std::vector<std::unique_ptr<ApiWatch>> watches;
    for (int i = 0; i < 60; ++i)
        watches.push_back(
            std::make_unique<ApiWatch>(m_address, m_maps + "?watch=true&resourceVersion=1"));
    QVERIFY(QTest::qWaitFor([&] { return m_server->openWatches() == 60; }, 20000));
    QCOMPARE(make("a").code, 201);
    for (const auto &watch : watches)
        QVERIFY(watch->waitForCount(1));
    watches.clear();
    QVERIFY(QTest::qWaitFor([&] { return m_server->openWatches() == 0; }, 20000));
}

// No version is given twice, no write is lost.
void tst_EmbeddedApiServer::concurrentWriters()
{
    QCOMPARE(make("shared").code, 201);
    const quint64 start = m_server->lastVersion();
    std::vector<std::thread> writers;
    for (int w = 0; w < 4; ++w)
        writers.emplace_back([this, w] {
            for (int i = 0; i < 25; ++i)
                call("PATCH", m_maps + "/shared",
                    R"({"data":{"w)" + QByteArray::number(w) + R"(":")" + QByteArray::number(i)
                        + R"("}})",
                    "application/merge-patch+json");
        });
    for (std::thread &writer : writers)
        writer.join();
    QCOMPARE(m_server->lastVersion(), start + 100);
    const QJsonObject data
        = call("GET", m_maps + "/shared").json()[QLatin1String("data")].toObject();
    for (const char *writer : {"w0", "w1", "w2", "w3"})
        QCOMPARE(data[QLatin1String(writer)].toString(), QStringLiteral("24"));
}

QTEST_GUILESS_MAIN(tst_EmbeddedApiServer)
#include "tst_embeddedapiserver.moc"
