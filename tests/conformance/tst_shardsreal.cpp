// Shards (1.9): what an API server answers to shardSelector with its gate on, the embedded one
// beside it; and informers on both of them and on a server whose gate is off, which ignores it.
#include "../unit/loglines.h"
#include "apiconnection.h"
#include "controlplane.h"
#include "informerrig.h"

#include <davit/selector.h>
#include <testing/embeddedapiserver.h>

#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <QtCore/qurl.h>
#include <QtNetwork/qnetworkaccessmanager.h>
#include <QtTest>

using namespace davit;
using namespace Qt::Literals::StringLiterals;

namespace {

const QString kLow
    = QStringLiteral("shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')");
const QString kHigh = QStringLiteral(
    "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')");
const QByteArray kMaps = "/api/v1/namespaces/default/configmaps";
constexpr int kObjects = 40;

QByteArray configMap(int number)
{
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c)"
        + QByteArray::number(number) + R"(","namespace":"default","labels":{"shards":"yes"}}})";
}

} // namespace

class tst_ShardsReal : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase_data();
    void initTestCase();
    void cleanupTestCase();
    void lists_data();
    void lists();
    void pages();
    void watches();
    void refusals_data();
    void refusals();
    void informers();

private:
    // One of the three, with the objects in it.
    struct Server
    {
        std::unique_ptr<ControlPlane> real; // or:
        std::unique_ptr<testing::EmbeddedApiServer> embedded;
        std::unique_ptr<ApiConnection> connection;
        transport::ClusterConfig config;
        bool knowsShards = true;

        void put(const QByteArrayList &objects);
        void remove(const QString &name);
    };
    Server &server();
    QJsonObject get(const QByteArray &query, int *status = nullptr);
    // By name; the server's answer, or what the SDK says of the uids.
    QStringList listed(const QString &selector, const QByteArray &query = {});
    QStringList expected(const QString &selector);
    static QStringList namesOf(const QJsonObject &list);

    std::map<QString, Server> m_servers;
    QNetworkAccessManager m_manager;
};

void tst_ShardsReal::Server::put(const QByteArrayList &objects)
{
    if (embedded) {
        for (const QByteArray &object : objects)
            QVERIFY(embedded->put(object).isOk());
        return;
    }
    QByteArray output;
    const QByteArray all
        = R"({"apiVersion":"v1","kind":"List","items":[)" + objects.join(',') + "]}";
    QVERIFY2(real->kubectl({u"create"_s, u"-f"_s, u"-"_s}, &output, all) == 0, output.constData());
}

void tst_ShardsReal::Server::remove(const QString &name)
{
    if (embedded) {
        QCOMPARE(embedded->request("DELETE", kMaps + '/' + name.toUtf8()).httpStatus, 200);
        return;
    }
    QByteArray output;
    QVERIFY2(real->kubectl({u"delete"_s, u"configmap"_s, name}, &output) == 0, output.constData());
}

void tst_ShardsReal::initTestCase_data()
{
    QTest::addColumn<QString>("name");
    for (const char *name : {"embedded", "gate on", "gate off"})
        QTest::newRow(name) << QString::fromLatin1(name);
}

void tst_ShardsReal::initTestCase()
{
    QByteArrayList objects;
    for (int i = 0; i < kObjects; ++i)
        objects += configMap(i);
    for (const QString &name : {u"embedded"_s, u"gate on"_s, u"gate off"_s}) {
        Server &made = m_servers[name];
        made.knowsShards = name != u"gate off"_s;
        if (name == u"embedded"_s) {
            made.embedded = std::make_unique<testing::EmbeddedApiServer>();
            QVERIFY(made.embedded->start().isOk());
            made.connection = std::make_unique<ApiConnection>(made.embedded->port());
            made.config.source = u"tests/conformance"_s;
            made.config.server = QUrl(made.embedded->url());
        } else {
            made.real = std::make_unique<ControlPlane>();
            const QString gate = u"--feature-gates=ShardedListAndWatch="_s
                + (made.knowsShards ? u"true"_s : u"false"_s);
            QVERIFY2(made.real->start(ControlPlane::ControllerManager::No, {gate}),
                qPrintable(made.real->errorText()));
            const quint16 port = made.real->apiServerPort();
            made.connection = std::make_unique<ApiConnection>(made.real->folder(), port);
            made.config = InformerRig::configOf(made.real->folder(), port);
        }
        made.put(objects);
    }
}

void tst_ShardsReal::cleanupTestCase()
{
    m_servers.clear();
}

tst_ShardsReal::Server &tst_ShardsReal::server()
{
    return m_servers[*static_cast<QString *>(QTest::qGlobalData("name", QMetaType::QString))];
}

QJsonObject tst_ShardsReal::get(const QByteArray &query, int *status)
{
    int code = 0;
    const QByteArray body = server().connection->get(m_manager, kMaps + '?' + query, &code);
    if (status)
        *status = code;
    return QJsonDocument::fromJson(body).object();
}

QStringList tst_ShardsReal::namesOf(const QJsonObject &list)
{
    QStringList names;
    for (const QJsonValue &item : list["items"_L1].toArray()) {
        const QJsonValue metadata = item["metadata"_L1];
        if (metadata["labels"_L1]["shards"_L1] == u"yes"_s) // kube-root-ca.crt is no object of ours
            names += metadata["name"_L1].toString();
    }
    names.sort();
    return names;
}

QStringList tst_ShardsReal::listed(const QString &selector, const QByteArray &query)
{
    return namesOf(get("shardSelector=" + QUrl::toPercentEncoding(selector) + query));
}

QStringList tst_ShardsReal::expected(const QString &selector)
{
    ShardSelector shard;
    if (!ShardSelector::parse(selector, &shard).isOk())
        qFatal("%s", qPrintable(selector));
    QStringList names;
    for (const QJsonValue &item : get("labelSelector=shards")["items"_L1].toArray()) {
        Object object;
        if (Object::fromJson(QJsonDocument(item.toObject()).toJson(), &object).isOk()
            && (shard.matches(object) || !server().knowsShards))
            names += object.name();
    }
    names.sort();
    return names;
}

void tst_ShardsReal::lists_data()
{
    QTest::addColumn<QString>("selector");
    QTest::addColumn<QString>("echo");
    const QString both = kLow + u" || "_s + kHigh;
    QTest::newRow("1.9 low half") << kLow << kLow;
    QTest::newRow("1.9 high half") << kHigh << kHigh;
    QTest::newRow("1.9 both") << both << both;
    QTest::newRow("1.9 without spaces") << QString(both).remove(u' ') << both;
    QTest::newRow("1.9 double quotes") << QString(kLow).replace(u'\'', u'"') << kLow;
    const QString byNamespace = QString(kHigh).replace(u"metadata.uid"_s, u"metadata.namespace"_s);
    QTest::newRow("1.9 by namespace") << byNamespace << byNamespace;
    QTest::newRow("1.9 a quarter and another")
        << u"shardRange(object.metadata.uid,'0x0000000000000000','0x4000000000000000')"_s
           u"||shardRange(object.metadata.uid,'0xc000000000000000','0x10000000000000000')"_s
        << u"shardRange(object.metadata.uid, '0x0000000000000000', '0x4000000000000000')"_s
           u" || shardRange(object.metadata.uid, '0xc000000000000000', '0x10000000000000000')"_s;
}

// The server's hash is ours: what it lists is what the SDK says of the uids.
void tst_ShardsReal::lists()
{
    QFETCH(const QString, selector);
    QFETCH(const QString, echo);
    QCOMPARE(listed(selector), expected(selector));
    QCOMPARE(listed(selector, "&resourceVersion=0"), expected(selector));
    const QByteArray query = "shardSelector=" + QUrl::toPercentEncoding(selector);
    const QJsonValue info = get(query)["metadata"_L1]["shardInfo"_L1];
    if (server().knowsShards)
        QCOMPARE(info["selector"_L1].toString(), echo);
    else
        QVERIFY(info.isUndefined());
    if (selector != kLow)
        return;
    const QStringList low = listed(kLow);
    const QStringList high = listed(kHigh);
    QCOMPARE((low + high).size(), server().knowsShards ? kObjects : 2 * kObjects);
}

void tst_ShardsReal::pages()
{
    const QByteArray query
        = "labelSelector=shards&limit=3&shardSelector=" + QUrl::toPercentEncoding(kLow);
    QStringList names;
    QByteArray token;
    do {
        const QJsonObject page
            = get(query + (token.isEmpty() ? QByteArray() : "&continue=" + token));
        names += namesOf(page);
        const QJsonValue metadata = page["metadata"_L1];
        QVERIFY(metadata["remainingItemCount"_L1].isUndefined());
        token = QUrl::toPercentEncoding(metadata["continue"_L1].toString());
    } while (!token.isEmpty());
    names.sort();
    QCOMPARE(names, expected(kLow));
}

void tst_ShardsReal::watches()
{
    const QByteArray query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                             "&allowWatchBookmarks=true&timeoutSeconds=2&shardSelector="
        + QUrl::toPercentEncoding(kHigh);
    int status = 0;
    const QByteArray body = server().connection->get(m_manager, kMaps + '?' + query, &status);
    QCOMPARE(status, 200);
    QStringList names;
    for (const QByteArray &line : body.split('\n')) {
        const QJsonObject event = QJsonDocument::fromJson(line).object();
        if (event["type"_L1] == u"ADDED"_s)
            names += namesOf(QJsonObject{{u"items"_s, QJsonArray{event["object"_L1]}}});
    }
    names.sort();
    QCOMPARE(names, expected(kHigh));
}

void tst_ShardsReal::refusals_data()
{
    QTest::addColumn<QString>("selector");
    QTest::addColumn<QString>("message"); // behind "invalid shard selector: ", so far
    const auto row = [](const char *name, const char *selector, const char *message) {
        QTest::newRow(name) << QString::fromLatin1(selector) << QString::fromLatin1(message);
    };
    row("another word", "bogus", "");
    row("only a space", " ", "empty shard selector is not allowed; omit the parameter");
    row("short hash", "shardRange(object.metadata.uid,'0x0','0x8000000000000000')",
        "hexStart must be a 0x-prefixed 16-digit hex value, got \"0x0\"");
    row("capitals", "shardRange(object.metadata.uid,'0x000000000000000A','0x8000000000000000')",
        "");
    row("another field",
        "shardRange(object.metadata.name,'0x0000000000000000','0x8000000000000000')",
        "unsupported field path \"object.metadata.name\"; supported: object.metadata.uid, "
        "object.metadata.namespace");
    row("two fields",
        "shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000')||"
        "shardRange(object.metadata.namespace,'0x8000000000000000','0x10000000000000000')",
        "all shard ranges must use the same field, got \"object.metadata.uid\" and "
        "\"object.metadata.namespace\"");
    row("empty", "shardRange(object.metadata.uid,'0x8000000000000000','0x8000000000000000')",
        "shard range start 0x8000000000000000 must be less than end 0x8000000000000000");
    row("joined by and",
        "shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000') && true", "");
    row("nothing behind the bars",
        "shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000') ||", "");
    row("beyond 2^64", "shardRange(object.metadata.uid,'0x0000000000000000','0x10000000000000001')",
        "");
}

// What a server refuses, the SDK refuses before.
void tst_ShardsReal::refusals()
{
    QFETCH(const QString, selector);
    QFETCH(const QString, message);
    ShardSelector parsed;
    QCOMPARE(ShardSelector::parse(selector, &parsed).error().code(), ErrorCode::InvalidArgument);
    const QByteArray query = "shardSelector=" + QUrl::toPercentEncoding(selector);
    for (const QByteArray &verb : {QByteArray(), QByteArray("&watch=true&timeoutSeconds=1")}) {
        int status = 0;
        const QJsonObject answer = get(query + verb, &status);
        if (!server().knowsShards) {
            QCOMPARE(status, 200);
            continue;
        }
        QCOMPARE(status, 500); // a 400 would be better; so is the real one
        QVERIFY2(
            answer["message"_L1].toString().startsWith(u"invalid shard selector: "_s + message),
            qPrintable(answer["message"_L1].toString()));
    }
}

// Two halves in two caches, as of two processes: none in both, none in neither, while they change.
void tst_ShardsReal::informers()
{
    fake::Lines lines;
    RigOptions options;
    options.factory.log = Logger(lines, u"cache"_s);
    InformerRig low(server().config, options);
    InformerRig high(server().config, options);
    const transport::Resource maps{{{}, u"v1"_s, u"ConfigMap"_s}, u"configmaps"_s, true};
    const InformerRequest ours
        = InformerRequest(maps.gvk).inNamespaces({u"default"_s}).withLabels(u"shards"_s);
    QVERIFY(low.watch(maps, InformerRequest(ours).withShard(kLow)).isOk());
    QVERIFY(high.watch(maps, InformerRequest(ours).withShard(kHigh)).isOk());
    QTRY_VERIFY_WITH_TIMEOUT(low.recorder().hasSynced() && high.recorder().hasSynced(), 30000);
    const auto whole = [&] { // of both; empty when they overlap
        convergence::World world = low.recorder().stored();
        const convergence::World other = high.recorder().stored();
        const qsizetype sum = world.size() + other.size();
        world.insert(other);
        return world.size() == sum ? world : convergence::World();
    };
    const auto fresh = [&] {
        bool ok = false;
        int status = 0;
        return convergence::worldOfList(
            server().connection->get(m_manager, kMaps + "?labelSelector=shards", &status), &ok);
    };
    QCOMPARE(convergence::differences(fresh(), whole()), QStringList());
    QByteArrayList more;
    for (int i = 0; i < kObjects; ++i)
        more += configMap(1000 + i);
    server().put(more);
    server().remove(u"c1"_s);
    server().remove(u"c1039"_s);
    QTRY_COMPARE_WITH_TIMEOUT(convergence::differences(fresh(), whole()), QStringList(), 30000);
    QVERIFY(!low.recorder().stored().isEmpty() && !high.recorder().stored().isEmpty());
    for (const InformerRig *rig : {&low, &high}) {
        QStringList faults;
        QCOMPARE(convergence::differences(rig->recorder().stored(),
                     convergence::replay(rig->recorder().heard(), &faults)),
            QStringList());
        QCOMPARE(faults, QStringList());
    }
    const QStringList said = lines.seen.filter(u"ShardedListAndWatch"_s);
    QCOMPARE(said.size(), server().knowsShards ? 0 : 2); // one an informer
}

QTEST_GUILESS_MAIN(tst_ShardsReal)
#include "tst_shardsreal.moc"
