// LIST and WATCH over a scripted transport: what is asked, what comes of each answer; B12, B25.
#include "../loglines.h"
#include "scriptedtransport.h"

#include <QtCore/qfile.h>
#include <QtTest>

using namespace fakes;
using namespace davit::cache;

namespace {

RestCollection widgetsIn(const QString &space = {})
{
    RestCollection collection;
    collection.resource = {kWidget, u"widgets"_s, true};
    collection.namespaceName = space;
    return collection;
}

const QByteArray kList = R"({"kind":"WidgetList","apiVersion":"demo.example/v1",)"
                         R"("metadata":{"resourceVersion":"10","continue":"c1",)"
                         R"("remainingItemCount":5},"items":[)"
                         R"({"metadata":{"name":"a","namespace":"n","resourceVersion":"1"}},)"
                         R"({"metadata":{"name":"b","namespace":"n","resourceVersion":"2"}}]})";
const QByteArray kForbidden
    = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden",)"
      R"("message":"widgets is forbidden","code":403})";

} // namespace

class tst_RestListerWatcher : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void targets_data();
    void targets();
    void lists_data();
    void lists();
    void contentType_data();
    void contentType();
    void c18_warnings();
    void followsItsKind();
    void asksVersion();
    void delayed_data();
    void delayed();
    void b20_limits();
    void metadataOnly_data();
    void metadataOnly();
    void watches_data();
    void watches();
    void b11_silence();
    void b12_errorEvents_data();
    void b12_errorEvents();
};

void tst_RestListerWatcher::targets_data()
{
    QTest::addColumn<QString>("namespaceName");
    QTest::addColumn<QString>("labels");
    QTest::addColumn<bool>("isWatch");
    QTest::addColumn<QByteArray>("target");
    const QByteArray base = "/apis/demo.example/v1/";
    QTest::newRow("list") << ""
                          << "" << false << base + "widgets?resourceVersion=10&limit=5";
    QTest::newRow("list in a namespace")
        << "n"
        << "" << false << base + "namespaces/n/widgets?resourceVersion=10&limit=5";
    QTest::newRow("watch") << ""
                           << "" << true << base + "widgets?resourceVersion=10&watch=true";
    QTest::newRow("labels") << ""
                            << "a=b" << true
                            << base + "widgets?labelSelector=a%3Db&resourceVersion=10&watch=true";
}

void tst_RestListerWatcher::targets()
{
    QFETCH(const QString, namespaceName);
    QFETCH(const bool, isWatch);
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    RestCollection collection = widgetsIn(namespaceName);
    collection.labelSelector = *static_cast<QString *>(QTest::qData("labels", QMetaType::QString));
    RestListerWatcher source(transport, collection);
    Sink sink;
    transport::ListOptions options;
    options.resourceVersion = u"10"_s;
    options.isWatch = isWatch;
    if (!isWatch)
        options.limit = 5;
    const auto operation
        = isWatch ? source.watch(options, executor, sink) : source.list(options, executor, sink);
    // The order of parameters is the transport's own business.
    const auto sorted = [](const QByteArray &target) {
        const qsizetype at = target.indexOf('?');
        QByteArrayList parameters = target.mid(at + 1).split('&');
        std::sort(parameters.begin(), parameters.end());
        return target.left(at + 1) + parameters.join('&');
    };
    QFETCH(const QByteArray, target);
    QCOMPARE(sorted(transport.targets.value(0)), sorted(target));
    QCOMPARE(
        transport.channels.front(), isWatch ? transport::Channel::Watch : transport::Channel::List);
}

void tst_RestListerWatcher::lists_data()
{
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArrayList>("pieces");
    QTest::addColumn<ErrorCode>("end");
    QTest::addColumn<int>("retryAfterMs");
    QTest::addColumn<QStringList>("items");
    QTest::addColumn<ErrorCode>("code");
    QTest::addColumn<int>("waitMs"); // what the error says; -1: nothing
    QTest::newRow("whole") << 200 << QByteArrayList{kList} << ErrorCode::Unset << -1
                           << L({"n/a@1", "n/b@2"}) << ErrorCode::Unset << -1;
    QTest::newRow("in pieces") << 200
                               << QByteArrayList{kList.left(150), kList.mid(150, 60),
                                      kList.mid(210)}
                               << ErrorCode::Unset << -1 << L({"n/a@1", "n/b@2"})
                               << ErrorCode::Unset << -1;
    QTest::newRow("cut by the connection")
        << 200 << QByteArrayList{kList.left(kList.size() - 2)} << ErrorCode::ConnectionLost << -1
        << L({"n/a@1", "n/b@2"}) << ErrorCode::ConnectionLost << -1;
    QTest::newRow("cut, and the connection says all is well")
        << 200 << QByteArrayList{kList.left(kList.size() - 2)} << ErrorCode::Unset << -1
        << L({"n/a@1", "n/b@2"}) << ErrorCode::MalformedReply << -1;
    QTest::newRow("forbidden") << 403 << QByteArrayList{kForbidden} << ErrorCode::Unset << -1
                               << QStringList() << ErrorCode::Forbidden << -1;
    QTest::newRow("B25: told to wait by the header, in HTML")
        << 503 << QByteArrayList{"<html>later</html>"} << ErrorCode::Unset << 7000 << QStringList()
        << ErrorCode::ServiceUnavailable << 7000;
    QTest::newRow("never answered") << 0 << QByteArrayList{} << ErrorCode::ConnectionRefused << -1
                                    << QStringList() << ErrorCode::ConnectionRefused << -1;
}

void tst_RestListerWatcher::lists()
{
    QFETCH(const int, status);
    QFETCH(const QByteArrayList, pieces);
    QFETCH(const ErrorCode, end);
    QFETCH(const int, retryAfterMs);
    QFETCH(const int, waitMs);
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    RestListerWatcher source(transport, widgetsIn());
    Sink sink;
    const auto operation = source.list({}, executor, sink);
    const Error atEnd = end == ErrorCode::Unset ? Error() : error(end);
    if (status == 0)
        transport.sink->onFinished(atEnd);
    else
        transport.answer(status, pieces, atEnd, std::chrono::milliseconds(retryAfterMs));
    QTEST(sink.items, "items");
    QCOMPARE(sink.finished, 1);
    QTEST(sink.error.code(), "code");
    QCOMPARE(sink.error.retryAfter() > 0ms, waitMs > 0);
    if (waitMs > 0)
        QCOMPARE(sink.error.retryAfter(), std::chrono::milliseconds(waitMs));
    if (sink.error.isError()) {
        QVERIFY2(sink.error.message().startsWith(u"list demo.example/v1 Widget"),
            qPrintable(sink.error.message()));
    } else {
        QCOMPARE(sink.page.resourceVersion, u"10"_s);
        QCOMPARE(sink.page.continueToken, u"c1"_s);
        QCOMPARE(sink.page.remainingItemCount, 5);
        QCOMPARE(sink.bytes, kList.size());
    }
}

void tst_RestListerWatcher::contentType_data()
{
    QTest::addColumn<QByteArray>("contentType");
    QTest::addColumn<QString>("problem"); // behind "list demo.example/v1 Widget"; empty: taken
    QTest::newRow("JSON") << QByteArray("application/json") << "";
    QTest::newRow("JSON with a parameter") << QByteArray("application/json;stream=watch") << "";
    QTest::newRow("none") << QByteArray() << "";
    QTest::newRow("plain text") << QByteArray("text/plain; charset=utf-8") << "";
    const QString rest = u", not JSON; is it an API server, or a proxy?"_s;
    QTest::newRow("a page") << QByteArray("text/html") << u": the server sent text/html"_s + rest;
    QTest::newRow("protobuf") << QByteArray("application/vnd.kubernetes.protobuf")
                              << u": the server sent application/vnd.kubernetes.protobuf"_s + rest;
}

void tst_RestListerWatcher::contentType()
{
    QFETCH(const QByteArray, contentType);
    QFETCH(const QString, problem);
    ScriptedTransport transport;
    transport.contentType = contentType;
    testing::ManualExecutor executor;
    RestListerWatcher source(transport, widgetsIn());
    Sink lists;
    const auto list = source.list({}, executor, lists);
    transport.answer(200, {kList});
    QCOMPARE(lists.items.size(), problem.isEmpty() ? 2 : 0);
    QCOMPARE(lists.error.message(),
        problem.isEmpty() ? QString() : u"list demo.example/v1 Widget"_s + problem);
    Sink watches;
    const auto watch = source.watch({}, executor, watches);
    transport.answer(
        200, {"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\"}}}\n"});
    QCOMPARE(watches.isOpened, problem.isEmpty());
    QCOMPARE(watches.events.size(), problem.isEmpty() ? 1 : 0);
    QCOMPARE(watches.error.message(),
        problem.isEmpty() ? QString() : u"watch demo.example/v1 Widget"_s + problem);
}

void tst_RestListerWatcher::c18_warnings() // of all informers and clients: once a text
{
    fake::Lines lines;
    RestCollection collection = widgetsIn();
    collection.warnings = std::make_shared<transport::ServerWarnings>(Logger(lines, u"client"_s));
    ScriptedTransport transport;
    RestListerWatcher source(transport, collection);
    testing::ManualExecutor executor;
    Sink sink;
    const auto list = source.list({}, executor, sink);
    transport.answer(200, {kList}, {}, -1ms, {"widgets are deprecated"});
    const auto watch = source.watch({}, executor, sink);
    transport.answer(200, {}, {}, -1ms, {"widgets are deprecated", "and so are gadgets"});
    const auto told = [](const char *text) -> QString {
        return u"2|client|the API server warns|warning="_s + QLatin1StringView(text);
    };
    QCOMPARE(lines.seen, (QStringList{told("widgets are deprecated"), told("and so are gadgets")}));
    lines.seen.clear();
    for (int i = 0; i < 300; ++i)
        collection.warnings->tell({QByteArray::number(i)});
    QCOMPARE(lines.seen.size(), 255); // 254 more, and that there are others
    QCOMPARE(lines.seen.last(), u"2|client|the API server warns of more than is told|texts=256"_s);
}

// A CRD that was deleted and made again with other names.
void tst_RestListerWatcher::followsItsKind()
{
    Result<transport::Resource> current = transport::kindNotServed(kWidget);
    int gone = 0;
    QStringList seen;
    RestCollection collection = widgetsIn(u"n"_s);
    collection.current = [&current] { return current; };
    collection.onNotServed = [&gone] { ++gone; };
    collection.onEvent = [&seen](const Object &object) { seen += object.name(); };
    ScriptedTransport transport;
    RestListerWatcher source(transport, collection);
    testing::ManualExecutor executor;
    Sink sink;
    const auto list = source.list({}, executor, sink);
    transport.answer(404, {"404 page not found"});
    QCOMPARE(gone, 1);
    QCOMPARE(transport.targets.last(), QByteArray("/apis/demo.example/v1/namespaces/n/widgets"));
    current = transport::Resource{kWidget, u"gizmos"_s, false};
    const auto watch = source.watch({}, executor, sink);
    QCOMPARE(transport.targets.last(), QByteArray("/apis/demo.example/v1/gizmos"));
    transport.answer(200,
        {R"({"type":"ADDED","object":{"apiVersion":"demo.example/v1","kind":"Widget",)"
         R"("metadata":{"name":"a","resourceVersion":"1"}}})"
         "\n"});
    QCOMPARE(seen, QStringList{u"a"_s});
    QCOMPARE(gone, 1);
}

// One item of everything, and a consistent read, whatever is watched.
void tst_RestListerWatcher::asksVersion()
{
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    RestCollection collection = widgetsIn(u"n"_s);
    collection.labelSelector = u"a=b"_s;
    collection.fieldSelector = u"metadata.name=x"_s;
    RestListerWatcher source(transport, collection);
    Sink sink;
    const auto operation = source.askVersion(executor, sink);
    QCOMPARE(
        transport.targets, QByteArrayList{"/apis/demo.example/v1/namespaces/n/widgets?limit=1"});
    QCOMPARE(transport.channels.front(), transport::Channel::List);
    transport.answer(200, {kList});
    QCOMPARE(sink.page.resourceVersion, u"10"_s);
    QCOMPARE(sink.finished, 1);
}

// B20: the limits of the collection count.
void tst_RestListerWatcher::b20_limits()
{
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    RestCollection collection = widgetsIn();
    collection.limits = {60, 60};
    RestListerWatcher source(transport, collection);
    const QByteArray large
        = R"({"metadata":{"name":"a","resourceVersion":"1"},"x":")" + QByteArray(60, 'x') + "\"}";
    Sink lists;
    const auto list = source.list({}, executor, lists);
    transport.answer(
        200, {"{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" + large + "]}"});
    QVERIFY(!lists.error.isError() && lists.items.isEmpty());
    Sink watches;
    const auto watch = source.watch({}, executor, watches);
    transport.answer(200, {R"({"type":"DELETED","object":)" + large + "}\n"});
    QCOMPARE(watches.events, L({"a@1"}));
}

void tst_RestListerWatcher::delayed_data()
{
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("why");
    QTest::newRow("B25: 503") << 503 << u"list demo.example/v1 Widget: the server answered 503"_s;
    QTest::newRow("C-9: no answer")
        << 0 << u"list demo.example/v1 Widget: the connection broke before the answer"_s;
}

void tst_RestListerWatcher::delayed()
{
    QFETCH(const int, status);
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    RestListerWatcher source(transport, widgetsIn());
    Sink sink;
    const auto listing = source.list({}, executor, sink);
    transport.sink->onRetry(status, 30s);
    QTEST(sink.error.message(), "why");
    QCOMPARE(sink.error.retryAfter(), status ? 30'000ms : Error().retryAfter());
    QCOMPARE(sink.finished, 0);
}

void tst_RestListerWatcher::metadataOnly_data()
{
    QTest::addColumn<QByteArray>("list");
    QTest::newRow("as asked for") << QByteArray(
        R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},)"
        R"("items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)"
        R"("metadata":{"name":"a"}}]})");
    QTest::newRow("whole objects")
        << QByteArray(R"({"kind":"WidgetList","apiVersion":"demo.example/v1","metadata":{},)"
                      R"("items":[{"metadata":{"name":"a"},"spec":{"size":1}}]})");
}

void tst_RestListerWatcher::metadataOnly()
{
    QFETCH(const QByteArray, list);
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    RestCollection collection = widgetsIn();
    collection.depth = priv::Depth::MetadataOnly;
    RestListerWatcher source(transport, collection);
    class Keep final : public ListSink, public WatchSink
    {
    public:
        std::vector<Object> objects;
        void onListItems(std::vector<Object> items, qint64) override
        {
            std::move(items.begin(), items.end(), std::back_inserter(objects));
        }
        void onListFinished(const Error &, const ListPage &) override { }
        void onWatchOpened() override { }
        void onWatchEvents(std::vector<codec::WatchEvent> events, qint64) override
        {
            for (codec::WatchEvent &event : events)
                objects.push_back(std::move(event.object));
        }
        void onWatchFinished(const Error &) override { }
    } sink;
    const auto listing = source.list({}, executor, sink);
    QCOMPARE(transport.accepts.last(),
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json");
    transport.answer(200, {list});
    const auto watching = source.watch({}, executor, sink);
    QCOMPARE(transport.accepts.last(),
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
    transport.answer(200,
        {R"({"type":"ADDED","object":{"kind":"PartialObjectMetadata",)"
         R"("apiVersion":"meta.k8s.io/v1","metadata":{"name":"b"}}})"
         "\n"});
    QCOMPARE(sink.objects.size(), 2u);
    for (const Object &object : sink.objects) {
        QVERIFY(object.isMetadataOnly() && object["spec"_L1].isMissing());
        QCOMPARE(toString(object.gvk()), u"demo.example/v1 Widget"_s);
    }
}

void tst_RestListerWatcher::watches_data()
{
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArrayList>("pieces");
    QTest::addColumn<ErrorCode>("end");
    QTest::addColumn<bool>("isOpened");
    QTest::addColumn<QStringList>("events");
    QTest::addColumn<ErrorCode>("code");
    const QByteArray line
        = R"({"type":"ADDED","object":{"apiVersion":"demo.example/v1","kind":"Widget",)"
          R"("metadata":{"name":"a","resourceVersion":"11"}}})"
          "\n";
    QTest::newRow("events, then the end")
        << 200 << QByteArrayList{line.left(20), line.mid(20) + line.left(5)} << ErrorCode::Unset
        << true << L({"a@11"}) << ErrorCode::Unset;
    QTest::newRow("reset") << 200 << QByteArrayList{line} << ErrorCode::ConnectionLost << true
                           << L({"a@11"}) << ErrorCode::ConnectionLost;
    QTest::newRow("refused by the server: the body is a Status")
        << 403 << QByteArrayList{kForbidden.left(30), kForbidden.mid(30)} << ErrorCode::Unset
        << false << QStringList() << ErrorCode::Forbidden;
    QTest::newRow("B25: an indented Status is one document")
        << 429
        << QByteArrayList{"{\n \"kind\": \"Status\",\n \"apiVersion\": \"v1\",\n",
               " \"reason\": \"TooManyRequests\",\n \"code\": 429\n}\n"}
        << ErrorCode::Unset << false << QStringList() << ErrorCode::TooManyRequests;
    QTest::newRow("C-17a: 204 opens no watch")
        << 204 << QByteArrayList{} << ErrorCode::Unset << false << QStringList()
        << ErrorCode::MalformedReply;
    QTest::newRow("gone") << 410 << QByteArrayList{} << ErrorCode::Unset << false << QStringList()
                          << ErrorCode::Expired;
}

void tst_RestListerWatcher::watches()
{
    QFETCH(const int, status);
    QFETCH(const QByteArrayList, pieces);
    QFETCH(const ErrorCode, end);
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    RestListerWatcher source(transport, widgetsIn());
    Sink sink;
    const auto operation = source.watch({}, executor, sink);
    transport.answer(status, pieces, end == ErrorCode::Unset ? Error() : error(end));
    QTEST(sink.isOpened, "isOpened");
    QTEST(sink.events, "events");
    QTEST(sink.error.code(), "code");
    QCOMPARE(sink.finished, 1);
}

// A connected but silent server is noticed within 90 s; bookmarks come about each minute.
void tst_RestListerWatcher::b11_silence()
{
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    RestListerWatcher source(transport, widgetsIn());
    Sink sink;
    const auto list = source.list({}, executor, sink);
    const auto watch = source.watch({}, executor, sink);
    QCOMPARE(transport.silenceLimits, std::vector<std::chrono::milliseconds>(2, 90s));
    QCOMPARE(transport.headDeadlines, (std::vector<std::chrono::milliseconds>{60s, 30s}));
}

void tst_RestListerWatcher::b12_errorEvents_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QStringList>("events");
    QTest::newRow("B12: expired") << "B12-error-events.ndjson"
                                  << L({"apps/a@101", "ERROR Expired"});
    QTest::newRow("B12: a Status without a kind")
        << "B12-error-no-kind.ndjson" << L({"apps/a@101", "ERROR InternalError"});
    QTest::newRow("B12: null") << "B12-error-null.ndjson"
                               << L({"apps/a@101", "ERROR InternalError"});
}

// The stream ends there, nothing of it is taken for a Widget.
void tst_RestListerWatcher::b12_errorEvents()
{
    QFETCH(const QString, file);
    QFile input(QStringLiteral(DAVIT_TEST_DATA "/cases/") + file);
    QVERIFY(input.open(QIODevice::ReadOnly));
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    RestListerWatcher source(transport, widgetsIn());
    Sink sink;
    const auto operation = source.watch({}, executor, sink);
    transport.answer(200, {input.readAll()});
    QTEST(sink.events, "events");
}

QTEST_GUILESS_MAIN(tst_RestListerWatcher)
#include "tst_restlisterwatcher.moc"
