#include "../loglines.h"
#include "client/meteredtransport.h"
#include "client/plugincallmetrics.h"
#include "clientrig.h"
#include "transport/retryingtransport.h"

#include <QTest>

using namespace davit;
using namespace davit::client;
using namespace clientrig;
using namespace std::chrono_literals;

class tst_PluginClient : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void getsAnObject();
    void identity();
    void lists();
    void badListItem();
    void errors_data();
    void errors();
    void sentAgain_data();
    void sentAgain();
    void missingRbac();
    void namedRbacCoversAListOfThatName();
    void metadataOnly();
    void raw_data();
    void raw();
    void table();
    void deadline_data();
    void deadline();
    void canceled();
    void lateAnswerIsIgnored();
    void malformedAnswer();
    void answerTooLarge_data();
    void answerTooLarge();
    void futureOfADeadClient();
    void canceledCall();
    void writesNeedThePermit();
    void metrics();
    void callsAreCounted();
    void c18_warningsOnceAText();
    void continuationsAreGuarded();
    void continuationOutlivesItsPlugin();
};

void tst_PluginClient::getsAnObject()
{
    Fixture f;
    const QFuture<ObjectReply> reply = f.client.get(kConfigMap, kX);
    f.discover();
    QCOMPARE(f.server.exchanges.size(), size_t(2));
    QCOMPARE(f.server.exchanges[0]->request.target, QByteArray("/api"));
    QVERIFY(f.server.exchanges[0]->request.accept.contains("as=APIGroupDiscoveryList"));
    QCOMPARE(f.server.exchanges[1]->request.target,
        QByteArray("/api/v1/namespaces/team-a/configmaps/x?timeout=30s"));
    QVERIFY(!reply.isFinished());
    f.server.answer(1, 200, kJson);
    f.executor.runAll();
    QVERIFY(reply.isFinished());
    QVERIFY(reply.result().isOk());
    QCOMPARE(reply.result().object().toJson(), kJson);
    QCOMPARE(f.calls.lines, QStringList{QStringLiteral("p get 200")});
    QVERIFY(f.server.isEnded(1)); // its exchange was let go
}

void tst_PluginClient::identity()
{
    Fixture f;
    f.client.get(kConfigMap, kX);
    f.discover();
    const QByteArray agent = f.server.exchanges[1]->request.userAgent;
    QVERIFY2(agent.startsWith("davit/" DAVIT_SDK_VERSION_STRING " (linux/"), agent);
    QVERIFY2(agent.endsWith(") p/1.2.0"), agent);
}

void tst_PluginClient::lists()
{
    Fixture f;
    const QFuture<ListReply> reply = f.client.list(
        kConfigMap, RequestOptions().inNamespace(QStringLiteral("team-a")).limit(2));
    f.discover();
    QCOMPARE(f.server.exchanges[1]->request.target,
        QByteArray("/api/v1/namespaces/team-a/configmaps?limit=2&timeout=30s"));
    f.server.answer(1, 200,
        R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"12",)"
        R"("continue":"next","remainingItemCount":3},"items":[)"
        R"({"metadata":{"name":"a","namespace":"team-a"}},)"
        R"({"metadata":{"name":"b","namespace":"team-a"}}]})");
    f.executor.runAll();
    QVERIFY(reply.isFinished());
    const ListReply list = reply.result();
    QVERIFY2(list.isOk(), qPrintable(list.error().message()));
    QCOMPARE(list.objects().size(), 2);
    QCOMPARE(list.objects()[1].name(), QStringLiteral("b"));
    QVERIFY(list.objects()[1].gvk() == kConfigMap);
    QCOMPARE(list.resourceVersion(), QStringLiteral("12"));
    QCOMPARE(list.continueToken(), QStringLiteral("next"));
    QCOMPARE(list.remainingItemCount(), 3);
}

void tst_PluginClient::badListItem() // a list that is cut is an error, never a part of it (C-17a)
{
    Fixture f;
    const QFuture<ListReply> reply = f.client.list(kConfigMap);
    f.discover();
    f.server.answer(
        1, 200, R"({"kind":"ConfigMapList","apiVersion":"v1","items":[{"metadata":{"name":"a"}})");
    f.executor.runAll();
    QVERIFY(!reply.result().isOk());
    QVERIFY(reply.result().objects().isEmpty());
    QVERIFY(reply.result().error().message().startsWith(QStringLiteral("list ConfigMap: ")));
}

void tst_PluginClient::errors_data() // C-14
{
    QTest::addColumn<QString>("verb");
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<ErrorCode>("code");
    QTest::addColumn<int>("retryAfterS"); // -1: none named
    const auto row = [](const char *name, const char *verb, int status, const char *body,
                         ErrorCode code, int retryAfter = -1) {
        QTest::newRow(name) << QString::fromLatin1(verb) << status << QByteArray(body) << code
                            << retryAfter;
    };
    row("404 Status", "get", 404,
        R"({"kind":"Status","status":"Failure","reason":"NotFound","message":"gone","code":404})",
        ErrorCode::NotFound);
    row("404 text", "get", 404, "nothing here", ErrorCode::NotFound);
    row("409 of a create", "create", 409, "", ErrorCode::AlreadyExists);
    row("409 of an update", "update", 409, "", ErrorCode::Conflict);
    row("409 of an apply", "apply", 409,
        R"({"kind":"Status","status":"Failure","reason":"Conflict","message":"managers","code":409})",
        ErrorCode::Conflict);
    row("403", "delete", 403, "no", ErrorCode::Forbidden);
    row("422", "create", 422,
        R"({"kind":"Status","status":"Failure","reason":"Invalid","message":"bad","code":422})",
        ErrorCode::Invalid);
    row("429 with Retry-After", "get", 429, "slow down", ErrorCode::TooManyRequests, 7);
    row("500", "update", 500, "oops", ErrorCode::InternalError);
    row("503", "get", 503, "", ErrorCode::ServiceUnavailable);
}

void tst_PluginClient::errors()
{
    QFETCH(const QString, verb);
    QFETCH(const int, status);
    QFETCH(const QByteArray, body);
    QFETCH(const int, retryAfterS);
    Fixture f;
    Object object;
    QVERIFY(Object::fromJson(kJson, &object).isOk());
    QFuture<ObjectReply> reply;
    if (verb == QStringLiteral("get"))
        reply = f.client.get(kConfigMap, kX);
    else if (verb == QStringLiteral("create"))
        reply = f.client.create(object);
    else if (verb == QStringLiteral("update"))
        reply = f.client.update(object);
    else if (verb == QStringLiteral("apply"))
        reply = f.client.apply(object);
    else
        reply = f.client.remove(kConfigMap, kX);
    f.discover();
    f.server.answer(1, status, body,
        retryAfterS < 0 ? std::chrono::milliseconds(-1) : std::chrono::seconds(retryAfterS));
    f.executor.runAll();
    QVERIFY(reply.isFinished());
    const Error error = reply.result().error();
    QTEST(error.code(), "code");
    QCOMPARE(error.httpStatus(), status);
    QVERIFY2(error.message().contains(QStringLiteral(" ConfigMap team-a/x: ")),
        qPrintable(error.message()));
    if (retryAfterS >= 0)
        QVERIFY(error.retryAfter() == std::chrono::seconds(retryAfterS));
}

void tst_PluginClient::sentAgain_data()
{
    QTest::addColumn<int>("status"); // of a create
    QTest::addColumn<int>("retryAfterS"); // -1: none named
    QTest::addColumn<int>("sends");
    QTest::addColumn<ErrorCode>("code");
    QTest::newRow("T90 C-8 500 without Retry-After") << 500 << -1 << 1 << ErrorCode::InternalError;
    QTest::newRow("C-8 500 with Retry-After") << 500 << 1 << 1 << ErrorCode::InternalError;
    QTest::newRow("C-8 503 with Retry-After") << 503 << 1 << 2 << ErrorCode::Unset;
}

void tst_PluginClient::sentAgain()
{
    QFETCH(const int, status);
    QFETCH(const int, retryAfterS);
    testing::ManualClock clock;
    testing::ManualExecutor executor;
    auto scripted = std::make_unique<ScriptedTransport>();
    ScriptedTransport &server = *scripted;
    transport::RetryingTransport retrying(std::move(scripted), clock);
    RestClient rest(retrying, executor, clock);
    RestMapper mapper(rest, clock);
    const Rbac all({{{QStringLiteral("*")}, {QStringLiteral("*")}, {}, {QStringLiteral("*")}}});
    const Client client(
        *new PluginClient({QStringLiteral("p"), QStringLiteral("1.2.0"), all}, rest, mapper));
    Object object;
    QVERIFY(Object::fromJson(kJson, &object).isOk());
    const QFuture<ObjectReply> reply = client.create(object);
    executor.runAll();
    server.answer(0, 200, kCoreResources);
    executor.runAll();
    server.answer(1, status, "", std::chrono::seconds(retryAfterS));
    clock.advance(10s, &executor); // within the call's 30 s
    QTEST(int(server.exchanges.size()) - 1, "sends"); // without discovery
    if (server.exchanges.size() > 2)
        server.answer(2, 201, kJson);
    executor.runAll();
    QVERIFY(reply.isFinished());
    QTEST(reply.result().isOk() ? ErrorCode::Unset : reply.result().error().code(), "code");
    rest.close();
    executor.runAll();
}

void tst_PluginClient::missingRbac()
{
    Fixture f({{{QString()}, {QStringLiteral("configmaps")}, {}, {QStringLiteral("get")}}});
    const QFuture<ObjectReply> refused = f.client.remove(kConfigMap, kX);
    const QFuture<ListReply> list = f.client.list(kConfigMap);
    const QFuture<ObjectReply> allowed = f.client.get(kConfigMap, kX);
    f.discover();
    QCOMPARE(refused.result().error().code(), ErrorCode::MissingRbac);
    QVERIFY(refused.result().error().message().contains(QStringLiteral("\"verbs\": [\"delete\"]")));
    QCOMPARE(list.result().error().code(), ErrorCode::MissingRbac);
    QCOMPARE(f.server.exchanges.size(), size_t(2)); // discovery, and the get
    QVERIFY(!allowed.isFinished());
    QVERIFY(f.calls.lines.isEmpty());
}

void tst_PluginClient::namedRbacCoversAListOfThatName()
{
    Fixture f({{{QString()}, {QStringLiteral("configmaps")}, {QStringLiteral("a")},
        {QStringLiteral("list")}, {}}});
    f.client.list(kConfigMap, RequestOptions().fieldSelector(QStringLiteral("metadata.name=a")));
    const QFuture<ListReply> other = f.client.list(
        kConfigMap, RequestOptions().fieldSelector(QStringLiteral("metadata.name=b")));
    f.discover();
    QCOMPARE(f.server.exchanges.size(), size_t(2)); // discovery, and the first list
    QVERIFY(f.server.exchanges[1]->request.target.contains("fieldSelector=metadata.name%3Da"));
    QVERIFY(other.isFinished());
    QCOMPARE(other.result().error().code(), ErrorCode::MissingRbac);
}

void tst_PluginClient::metadataOnly()
{
    Fixture f;
    const RequestOptions options = RequestOptions().payload(Payload::Metadata);
    const QFuture<ObjectReply> one = f.client.get(kConfigMap, kX, options);
    const QFuture<ListReply> all = f.client.list(kConfigMap, options);
    f.discover();
    const QByteArray partial
        = R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"x","namespace":"team-a","labels":{"a":"1"}}})";
    f.server.answer(1, 200, partial);
    f.server.answer(2, 200,
        R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[)"
            + partial + "]}");
    f.executor.runAll();
    const ObjectReply got = one.result();
    QVERIFY2(got.isOk(), qPrintable(got.error().message()));
    const ListReply list = all.result();
    QVERIFY2(list.isOk(), qPrintable(list.error().message()));
    for (const Object &object : {got.object(), list.objects().value(0)}) {
        QVERIFY(object.gvk() == kConfigMap); // its own, not PartialObjectMetadata
        QVERIFY(object.isMetadataOnly());
        QCOMPARE(object.label(QLatin1StringView("a")), QStringLiteral("1"));
    }
}

void tst_PluginClient::raw_data()
{
    QTest::addColumn<QByteArray>("target");
    QTest::addColumn<int>("status"); // of the server; 0: not asked
    QTest::addColumn<ErrorCode>("code");
    QTest::newRow("a path that the Rbac has") << QByteArray("/version") << 200 << ErrorCode::Unset;
    QTest::newRow("a refusal") << QByteArray("/version") << 403 << ErrorCode::Forbidden;
    QTest::newRow("a path that it has not")
        << QByteArray("/metrics") << 0 << ErrorCode::MissingRbac;
    QTest::newRow("a resource that it has")
        << QByteArray("/api/v1/namespaces/a/pods?limit=1") << 200 << ErrorCode::Unset;
    QTest::newRow("a resource that it has not")
        << QByteArray("/api/v1/namespaces/a/secrets") << 0 << ErrorCode::MissingRbac;
    QTest::newRow("a way round the Rbac")
        << QByteArray("/version/../metrics") << 0 << ErrorCode::InvalidArgument;
}

void tst_PluginClient::raw()
{
    QFETCH(const QByteArray, target);
    QFETCH(const int, status);
    Fixture f({{{}, {}, {}, {QStringLiteral("get")}, {QStringLiteral("/version")}},
        {{QString()}, {QStringLiteral("pods")}, {}, {QStringLiteral("list")}, {}}});
    const QFuture<BodyReply> reply = f.client.getRaw(target);
    f.executor.runAll();
    QCOMPARE(f.server.exchanges.size(), size_t(status == 0 ? 0 : 1));
    if (status != 0) {
        QCOMPARE(f.server.exchanges[0]->request.target, target);
        f.server.answer(0, status, "any bytes");
        f.executor.runAll();
    }
    QTEST(reply.result().error().code(), "code");
    if (reply.result().isOk())
        QCOMPARE(reply.result().body(), QByteArray("any bytes"));
}

void tst_PluginClient::table()
{
    Fixture f;
    const QFuture<ObjectReply> reply
        = f.client.table(kConfigMap, RequestOptions().inNamespace(QStringLiteral("team-a")));
    f.discover();
    f.server.answer(1, 200,
        R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"continue":"c"},"columnDefinitions":[)"
        R"({"name":"Name","type":"string"},{"name":"Data","type":"integer"}],"rows":[)"
        R"({"cells":["x",2],"object":{"metadata":{"name":"x"}}}]})");
    f.executor.runAll();
    const Table table(reply.result().object());
    QCOMPARE(table.columnCount(), 2);
    QCOMPARE(table.column(1)[QLatin1StringView("name")].toString(), QStringLiteral("Data"));
    QCOMPARE(table.rowCount(), 1);
    QCOMPARE(table.cell(0, 0).toString(), QStringLiteral("x"));
    QCOMPARE(table.cell(0, 1).toInt(), qint64(2));
    QVERIFY(table.cell(1, 0).isMissing());
    QCOMPARE(
        table.rowObject(0)[QLatin1StringView("metadata")][QLatin1StringView("name")].toString(),
        QStringLiteral("x"));
    QCOMPARE(table.continueToken(), QStringLiteral("c"));
    QCOMPARE(f.calls.lines, QStringList{QStringLiteral("p list 200")});
}

void tst_PluginClient::deadline_data()
{
    QTest::addColumn<bool>("isWrite");
    QTest::addColumn<ErrorCode>("code");
    QTest::newRow("a read timed out") << false << ErrorCode::Timeout;
    QTest::newRow("nobody knows what became of a write") << true << ErrorCode::OutcomeUnknown;
}

void tst_PluginClient::deadline()
{
    QFETCH(const bool, isWrite);
    Fixture f;
    const RequestOptions options = RequestOptions().timeout(2s);
    const QFuture<ObjectReply> reply = isWrite ? f.client.remove(kConfigMap, kX, options)
                                               : f.client.get(kConfigMap, kX, options);
    f.discover();
    f.clock.advance(1999ms, &f.executor);
    QVERIFY(!reply.isFinished());
    f.clock.advance(1ms, &f.executor);
    QVERIFY(reply.isFinished());
    QTEST(reply.result().error().code(), "code");
    QVERIFY(reply.result().error().message().contains(QStringLiteral("no answer within 2 s")));
    QVERIFY(f.server.isEnded(1));
}

void tst_PluginClient::canceled()
{
    Fixture f;
    const QFuture<ObjectReply> running = f.client.get(kConfigMap, kX);
    f.discover();
    f.backend->close();
    f.executor.runAll();
    QCOMPARE(running.result().error().code(), ErrorCode::Canceled);
    QVERIFY(f.server.isEnded(1));
    const QFuture<ObjectReply> later = f.client.get(kConfigMap, kX);
    f.executor.runAll();
    QCOMPARE(later.result().error().code(), ErrorCode::Canceled);
    QCOMPARE(f.server.exchanges.size(), size_t(2));
}

void tst_PluginClient::writesNeedThePermit()
{
    Fixture f;
    const auto permit
        = std::make_shared<support::Permit>(f.clock, QStringLiteral("not the leader"));
    auto *const backend = new PluginClient(
        {QStringLiteral("p"), QStringLiteral("1.2.0"),
            Rbac({{{QStringLiteral("*")}, {QStringLiteral("*")}, {}, {QStringLiteral("*")}}}),
            nullptr, {}, permit},
        f.rest, f.mapper);
    const Client client(*backend);
    const Patch patch = Patch::merge("{}");
    const QFuture<ObjectReply> refused = client.patch(kConfigMap, kX, patch);
    const QFuture<ObjectReply> read = client.get(kConfigMap, kX);
    f.discover();
    QCOMPARE(refused.result().error().code(), ErrorCode::Canceled);
    QCOMPARE(refused.result().error().message(),
        QStringLiteral("patch ConfigMap %1: it was not sent: not the leader").arg(toString(kX)));
    QCOMPARE(f.server.exchanges.size(), size_t(2)); // discovery and the read
    QVERIFY(!f.server.exchanges[1]->request.permit);
    f.server.answer(1, 200, kJson);
    QVERIFY(permit->extend(10s));
    const QFuture<ObjectReply> sent = client.remove(kConfigMap, kX);
    f.executor.runAll();
    QVERIFY(!read.result().error().isError());
    QCOMPARE(f.server.exchanges.size(), size_t(3));
    QVERIFY(f.server.exchanges[2]->request.permit == permit); // and the transport asks again
    f.clock.advance(10s);
    const QFuture<ObjectReply> late = client.remove(kConfigMap, kX);
    f.executor.runAll();
    QCOMPARE(late.result().error().code(), ErrorCode::Canceled);
}

void tst_PluginClient::lateAnswerIsIgnored()
{
    Fixture f;
    const QFuture<ObjectReply> reply = f.client.get(kConfigMap, kX, RequestOptions().timeout(1s));
    f.discover();
    f.clock.advance(1s); // the deadline and the answer wait for the executor together
    f.server.answer(1, 200, kJson);
    f.executor.runAll();
    QCOMPARE(reply.result().error().code(), ErrorCode::Timeout);
    QCOMPARE(reply.resultCount(), 1);
}

void tst_PluginClient::malformedAnswer()
{
    Fixture f;
    const QFuture<ObjectReply> reply = f.client.get(kConfigMap, kX);
    f.discover();
    f.server.answer(1, 200, R"({"kind":)");
    f.executor.runAll();
    QCOMPARE(reply.result().error().code(), ErrorCode::MalformedReply);
    QVERIFY(reply.result().error().message().startsWith(
        QStringLiteral("get ConfigMap team-a/x: the answer is no object: ")));
}

void tst_PluginClient::canceledCall()
{
    Fixture f;
    Call call;
    call.operation = QStringLiteral("get ConfigMap team-a/x");
    call.request.target = "/x";
    RawReply reply;
    const RestClient::CallId id = f.rest.send(call, [&reply](const RawReply &r) { reply = r; });
    f.executor.runAll();
    f.rest.cancel(id);
    f.rest.cancel(id); // the second one finds nothing
    f.executor.runAll();
    QCOMPARE(reply.error.code(), ErrorCode::Canceled);
    QCOMPARE(reply.error.message(),
        QStringLiteral("get ConfigMap team-a/x: the caller ended the request"));
}

void tst_PluginClient::answerTooLarge_data()
{
    QTest::addColumn<qsizetype>("bytes");
    QTest::addColumn<QString>("error");
    QTest::newRow("at the limit") << RestClient::kMaxBodyBytes << "";
    QTest::newRow("one byte more")
        << RestClient::kMaxBodyBytes + 1 << "read x: the answer is longer than 64 MiB";
}

void tst_PluginClient::answerTooLarge()
{
    QFETCH(const qsizetype, bytes);
    Fixture f;
    RawReply reply;
    f.rest.send({QStringLiteral("read x"), {}, 30s, {}}, [&](const RawReply &r) { reply = r; });
    f.executor.runAll();
    f.server.answer(0, 200, QByteArray(bytes, ' '));
    f.executor.runAll();
    QTEST(reply.error.message(), "error");
    QCOMPARE(reply.body.size(), reply.error.isError() ? 0 : bytes);
}

void tst_PluginClient::futureOfADeadClient()
{
    QFuture<ObjectReply> reply;
    {
        Fixture f;
        reply = f.client.get(kConfigMap, kX);
    }
    QVERIFY(reply.isFinished());
    QCOMPARE(reply.result().error().code(), ErrorCode::Canceled);
}

void tst_PluginClient::metrics() // C-75: every request counts once
{
    testing::ManualClock clock;
    testing::ManualExecutor executor;
    ScriptedTransport server;
    observability::MetricsRegistry registry;
    MeteredTransport metered(server, registry, clock);
    RestClient rest(metered, executor, clock);
    for (int i = 0; i < 3; ++i) {
        Call call;
        call.request.method = i == 2 ? "POST" : "GET";
        call.request.body = i == 2 ? "{1}" : "";
        rest.send(call, [](const RawReply &) {});
    }
    executor.runAll();
    clock.advance(300ms);
    server.exchanges[1]->sink->onRetry(429, 1s);
    server.exchanges[1]->sink->onRetry(429, 1s);
    server.exchanges[2]->sink->onRetry(0, 1s);
    server.answer(0, 200, "{}");
    server.answer(1, 404, "");
    server.fail(2, Error(ErrorCode::ConnectionRefused, QStringLiteral("nothing listens")));
    executor.runAll();
    const QByteArray text = registry.text();
    for (const char *line :
        {R"(rest_client_requests_total{code="200",host="api.example:6443",method="GET"} 1)",
            R"(rest_client_requests_total{code="404",host="api.example:6443",method="GET"} 1)",
            R"(rest_client_requests_total{code="<error>",host="api.example:6443",method="POST"} 1)",
            R"(rest_client_request_retries_total{code="429",host="api.example:6443",verb="GET"} 2)",
            R"(rest_client_request_retries_total{code="<error>",host="api.example:6443",verb="POST"} 1)",
            R"(rest_client_request_size_bytes_sum{host="api.example:6443",verb="POST"} 3)",
            R"(rest_client_request_size_bytes_count{host="api.example:6443",verb="GET"} 2)",
            R"(rest_client_response_size_bytes_sum{host="api.example:6443",verb="GET"} 2)",
            R"(rest_client_response_size_bytes_count{host="api.example:6443",verb="GET"} 2)",
            R"(rest_client_response_size_bytes_bucket{host="api.example:6443",verb="GET",le="64"} 2)",
            R"(rest_client_request_duration_seconds_count{host="api.example:6443",verb="GET"} 2)",
            R"(rest_client_request_duration_seconds_bucket{host="api.example:6443",verb="GET",le="0.25"} 0)",
            R"(rest_client_request_duration_seconds_bucket{host="api.example:6443",verb="GET",le="0.5"} 2)"})
        QVERIFY2(text.contains(line), text + "\nlacks " + line);
}

void tst_PluginClient::callsAreCounted()
{
    observability::MetricsRegistry registry;
    PluginCallMetrics metrics(registry);
    metrics.called(QStringLiteral("p"), QStringLiteral("get"), 200);
    metrics.called(QStringLiteral("p"), QStringLiteral("get"), 200);
    metrics.called(QStringLiteral("p"), QStringLiteral("delete"), 0);
    metrics.eventsDropped(QStringLiteral("p"), 3);
    const QByteArray text = registry.text();
    QVERIFY(text.contains(R"(davit_plugin_events_dropped_total{plugin="p"} 3)"));
    QVERIFY(text.contains(R"(davit_plugin_api_calls_total{code="200",plugin="p",verb="get"} 2)"));
    QVERIFY(text.contains(
        R"(davit_plugin_api_calls_total{code="<error>",plugin="p",verb="delete"} 1)"));
}

void tst_PluginClient::c18_warningsOnceAText()
{
    testing::ManualClock clock;
    testing::ManualExecutor executor;
    ScriptedTransport server;
    fake::Lines lines;
    RestClient rest(server, executor, clock,
        std::make_shared<transport::ServerWarnings>(Logger(lines, QStringLiteral("client"))));
    const QList<QByteArray> warnings{"v1beta1 is deprecated", "unknown field \"spec.x\""};
    for (size_t i = 0; i < 2; ++i) {
        rest.send({QStringLiteral("get"), {}, 30s, {}}, [](const RawReply &) {});
        executor.runAll();
        server.answer(i, 200, kJson, -1ms, warnings.mid(0, qsizetype(i) + 1));
        executor.runAll();
    }
    QCOMPARE(lines.seen,
        (QStringList{QStringLiteral("2|client|the API server warns|warning=v1beta1 is deprecated"),
            QStringLiteral("2|client|the API server warns|warning=unknown field \"spec.x\"")}));
    rest.close();
    executor.runAll();
}

// What hangs on a future runs as the plugin's code: who blocks there is named.
void tst_PluginClient::continuationsAreGuarded()
{
    Fixture f;
    QFuture<void> thrown = f.client.get(kConfigMap, kX).then([&f](const ObjectReply &) {
        f.entries->lines += QStringLiteral("runs");
        throw std::runtime_error("thrown");
    });
    f.discover();
    f.server.answer(1, 200, kJson);
    f.executor.runAll();
    QCOMPARE(f.entries->lines,
        (QStringList{QStringLiteral("answer get ConfigMap team-a/x"), QStringLiteral("runs"),
            QStringLiteral("left")}));
    // Qt keeps it for who asks the second future.
    QVERIFY_THROWS_EXCEPTION(std::runtime_error, thrown.waitForFinished());
}

void tst_PluginClient::continuationOutlivesItsPlugin()
{
    Fixture f;
    bool hasRun = false;
    const auto next
        = f.client.get(kConfigMap, kX).then([&hasRun](const ObjectReply &) { hasRun = true; });
    f.discover();
    f.entries.reset();
    f.server.answer(1, 200, kJson);
    f.executor.runAll();
    QVERIFY(hasRun);
    QVERIFY(next.isFinished());
}

QTEST_GUILESS_MAIN(tst_PluginClient)
#include "tst_pluginclient.moc"
