// LIST and WATCH in protobuf: who is asked for it, and what becomes of each answer. C-25, C-28.
#include "../codec/protobufparts.h"
#include "../loglines.h"
#include "scriptedtransport.h"

#include <QtTest>

using namespace fakes;
using namespace protobuf;

namespace {

const QByteArray kProtobufOrJson = "application/vnd.kubernetes.protobuf,application/json";

RestCollection configMaps()
{
    RestCollection collection;
    collection.resource = {{{}, u"v1"_s, u"ConfigMap"_s}, u"configmaps"_s, true};
    return collection;
}

// A source on an executor of its own.
struct Rig
{
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    fake::Lines lines;
    Sink sink;
    RestListerWatcher source;

    explicit Rig(const RestCollection &collection = configMaps())
        : source(transport, collection, Logger(lines, u"cache"_s))
    {
        transport.contentType = "application/vnd.kubernetes.protobuf";
    }
};

} // namespace

class tst_RestProtobuf : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void asks_data();
    void asks();
    void lists();
    void watches();
    void answersInJson();
    void refusals_data();
    void refusals();
    void newerList();
    void newerWatch();
    void answerUnderWay_data();
    void answerUnderWay();
    void asksVersionAfterwards();
};

void tst_RestProtobuf::asks_data()
{
    QTest::addColumn<RestCollection>("collection");
    QTest::addColumn<QByteArray>("accept");
    RestCollection collection = configMaps();
    QTest::newRow("a kind of Kubernetes") << collection << kProtobufOrJson;
    collection.prefersProtobuf = false;
    QTest::newRow("JSON is preferred") << collection << QByteArray("application/json");
    collection = configMaps();
    collection.resource.gvk = kWidget;
    QTest::newRow("a custom resource") << collection << QByteArray("application/json");
    collection = configMaps();
    collection.depth = priv::Depth::MetadataOnly;
    QTest::newRow("metadata only")
        << collection
        << QByteArray("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
                      "application/json");
}

void tst_RestProtobuf::asks()
{
    QFETCH(const RestCollection, collection);
    Rig rig(collection);
    const auto list = rig.source.list({}, rig.executor, rig.sink);
    const auto watch = rig.source.watch({}, rig.executor, rig.sink);
    QTEST(rig.transport.accepts.value(0), "accept");
    QTEST(rig.transport.accepts.value(1).replace("Metadata;", "MetadataList;"), "accept");
}

void tst_RestProtobuf::lists()
{
    Rig rig;
    const auto operation = rig.source.list({}, rig.executor, rig.sink);
    rig.transport.answer(200, {configMapList({configMap("a", "1"), configMap("b", "2")})});
    QCOMPARE(rig.sink.items, L({"n/a@1", "n/b@2"}));
    QCOMPARE(rig.sink.finished, 1);
    QCOMPARE(rig.sink.error.message(), QString());
    QCOMPARE(rig.sink.page.resourceVersion, u"10"_s);
    QCOMPARE(rig.sink.page.continueToken, u"c1"_s);
    QCOMPARE(rig.sink.page.remainingItemCount, 5);
}

void tst_RestProtobuf::watches()
{
    Rig rig;
    rig.transport.contentType = "application/vnd.kubernetes.protobuf;stream=watch";
    const auto operation = rig.source.watch({}, rig.executor, rig.sink);
    rig.transport.answer(200,
        {configMapEvent("ADDED", configMap("a", "1"))
            + configMapEvent("BOOKMARK", bytes(1, bytes(6, "9")))});
    QVERIFY(rig.sink.isOpened);
    QCOMPARE(rig.sink.events, L({"n/a@1", "B 9"}));
    QCOMPARE(rig.sink.finished, 1);
    QCOMPARE(rig.sink.error.message(), QString());
}

// Some servers behind API aggregation know no protobuf.
void tst_RestProtobuf::answersInJson()
{
    Rig rig;
    rig.transport.contentType = "application/json";
    const auto list = rig.source.list({}, rig.executor, rig.sink);
    rig.transport.answer(200,
        {R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"3"},)"
         R"("items":[{"metadata":{"name":"a","namespace":"n","resourceVersion":"1"}}]})"});
    const auto watch = rig.source.watch({}, rig.executor, rig.sink);
    rig.transport.answer(
        200, {"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\"}}}\n"});
    QCOMPARE(rig.sink.items, L({"n/a@1"}));
    QCOMPARE(rig.sink.events, L({"B 7"}));
}

void tst_RestProtobuf::refusals_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("message");
    QTest::newRow("a Status in protobuf") << envelope("v1", "Status",
        bytes(2, "Failure") + bytes(3, "configmaps is forbidden") + bytes(4, "Forbidden")
            + number(6, 403)) << u"list v1 ConfigMap: configmaps is forbidden"_s;
    QTest::newRow("a Status in JSON")
        << QByteArray(R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                      R"("reason":"Forbidden","message":"configmaps is forbidden","code":403})")
        << u"list v1 ConfigMap: configmaps is forbidden"_s;
}

void tst_RestProtobuf::refusals()
{
    QFETCH(const QByteArray, body);
    Rig rig;
    const auto operation = rig.source.list({}, rig.executor, rig.sink);
    rig.transport.answer(403, {body});
    QCOMPARE(rig.sink.error.code(), ErrorCode::Forbidden);
    QTEST(rig.sink.error.message(), "message");
}

// No member of an object is lost: what the schema does not know is asked for as JSON.
void tst_RestProtobuf::newerList()
{
    Rig rig;
    const QByteArray reply
        = configMapList({configMap("a", "1"), configMap("b", "2") + bytes(20, "new")});
    const auto list = rig.source.list({}, rig.executor, rig.sink);
    rig.transport.answer(200, {reply.left(100), reply.mid(100), "more"});
    QCOMPARE(rig.sink.finished, 1);
    QCOMPARE(rig.sink.error.message(),
        u"list v1 ConfigMap: list of v1 ConfigMap: the reply has what davit does not know of it in "
        "protobuf"_s);
    const auto again = rig.source.list({}, rig.executor, rig.sink);
    QCOMPARE(rig.transport.accepts.last(), QByteArray("application/json"));
}

void tst_RestProtobuf::newerWatch()
{
    Rig rig;
    const auto watch = rig.source.watch({}, rig.executor, rig.sink);
    rig.transport.answer(200,
        {configMapEvent("ADDED", configMap("a", "1"))
                + configMapEvent("ADDED", configMap("b", "2") + bytes(20, "new")),
            configMapEvent("ADDED", configMap("c", "3"))});
    QCOMPARE(rig.sink.events, L({"n/a@1"})); // and it goes on from version 1
    QCOMPARE(rig.sink.finished, 1);
    QCOMPARE(rig.sink.error.message(), QString());
    const auto again = rig.source.watch({}, rig.executor, rig.sink);
    QCOMPARE(rig.transport.accepts.last(), QByteArray("application/json"));
    QCOMPARE(rig.lines.seen,
        L({"3|cache|an answer has what davit does not know of its protobuf: JSON from now on|"
           "operation=watch v1 ConfigMap"}));
}

void tst_RestProtobuf::answerUnderWay_data()
{
    QTest::addColumn<bool>("isHeadFirst");
    QTest::newRow("its head came before JSON was wanted") << true;
    QTest::newRow("its head comes afterwards") << false;
}

// An answer that was asked for as protobuf is read as that, though JSON is wanted meanwhile.
void tst_RestProtobuf::answerUnderWay()
{
    QFETCH(const bool, isHeadFirst);
    Rig rig;
    const auto list = rig.source.list({}, rig.executor, rig.sink);
    transport::ResponseSink *const listSink = rig.transport.sink;
    transport::ResponseHead head;
    head.httpStatus = 200;
    head.contentType = rig.transport.contentType;
    if (isHeadFirst)
        listSink->onHead(head);
    Sink watchSink;
    const auto watch = rig.source.watch({}, rig.executor, watchSink);
    rig.transport.answer(200, {configMapEvent("ADDED", configMap("b", "2") + bytes(20, "new"))});
    if (!isHeadFirst)
        listSink->onHead(head);
    listSink->onBytes(configMapList({configMap("a", "1")}));
    listSink->onFinished({});
    QCOMPARE(rig.sink.items, L({"n/a@1"}));
    QCOMPARE(rig.sink.error.message(), QString());
}

// The question after the newest version is asked in the same form as the rest.
void tst_RestProtobuf::asksVersionAfterwards()
{
    Rig rig;
    const auto before = rig.source.askVersion(rig.executor, rig.sink);
    QCOMPARE(rig.transport.accepts.last(), kProtobufOrJson);
    rig.transport.answer(200, {configMapList({configMap("b", "2") + bytes(20, "new")})});
    const auto after = rig.source.askVersion(rig.executor, rig.sink);
    QCOMPARE(rig.transport.accepts.last(), QByteArray("application/json"));
    rig.transport.contentType = "application/json";
    rig.transport.answer(200,
        {R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"12"},)"
         R"("items":[]})"});
    QCOMPARE(rig.sink.error.message(), QString());
    QCOMPARE(rig.sink.page.resourceVersion, u"12"_s);
}

QTEST_GUILESS_MAIN(tst_RestProtobuf)
#include "tst_restprotobuf.moc"
