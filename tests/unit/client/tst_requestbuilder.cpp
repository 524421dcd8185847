#include "client/requestbuilder.h"

#include <QTest>
#include <deque>

using namespace davit;
using namespace davit::client;
using namespace std::chrono_literals;

namespace {

const transport::Resource kConfigMaps{
    {QString(), QStringLiteral("v1"), QStringLiteral("ConfigMap")}, QStringLiteral("configmaps"),
    true};
const transport::Resource kNamespaces{
    {QString(), QStringLiteral("v1"), QStringLiteral("Namespace")}, QStringLiteral("namespaces"),
    false};
const transport::Resource kWidgets{
    {QStringLiteral("demo.example"), QStringLiteral("v1"), QStringLiteral("Widget")},
    QStringLiteral("widgets"), true};
const ObjectKey kX{QStringLiteral("team-a"), QStringLiteral("x")};
const char kJson[]
    = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"team-a"}})";

Object object(const char *json)
{
    Object object;
    const Status status = Object::fromJson(json, &object);
    return status.isOk() ? object : Object();
}

} // namespace

class tst_RequestBuilder : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void requests_data();
    void requests();
    void lists_data();
    void lists();
    void refused_data();
    void refused();
    void forms_data();
    void forms();
    void rawTargets_data();
    void rawTargets();
};

Q_DECLARE_METATYPE(VerbCall)
Q_DECLARE_METATYPE(transport::Resource)

// NOLINTNEXTLINE(readability-function-size): a table
void tst_RequestBuilder::requests_data()
{
    QTest::addColumn<transport::Resource>("resource");
    QTest::addColumn<VerbCall>("call");
    QTest::addColumn<QByteArray>("method");
    QTest::addColumn<QByteArray>("target");
    QTest::addColumn<QByteArray>("contentType");
    QTest::addColumn<QByteArray>("body");
    const auto row
        = [](const char *name, const transport::Resource &resource, const VerbCall &call,
              const char *method, const char *target, const char *contentType, const char *body) {
              QTest::newRow(name) << resource << call << QByteArray(method) << QByteArray(target)
                                  << QByteArray(contentType) << QByteArray(body);
          };
    const RequestOptions none;
    row("get", kConfigMaps, {Verb::Get, kX, {}, nullptr, none}, "GET",
        "/api/v1/namespaces/team-a/configmaps/x?timeout=30s", "", "");
    row("C-22 get with version and time-out", kConfigMaps,
        {Verb::Get, kX, {}, nullptr,
            RequestOptions().resourceVersion(QStringLiteral("0")).timeout(1500ms)},
        "GET", "/api/v1/namespaces/team-a/configmaps/x?resourceVersion=0&timeout=1500ms", "", "");
    row("get at cluster scope", kNamespaces,
        {Verb::Get, {QString(), QStringLiteral("ops")}, {}, nullptr, none}, "GET",
        "/api/v1/namespaces/ops?timeout=30s", "", "");
    row("create", kConfigMaps, {Verb::Create, kX, object(kJson), nullptr, none}, "POST",
        "/api/v1/namespaces/team-a/configmaps?fieldManager=davit%2Fp&timeout=30s",
        "application/json", kJson);
    row("create in a group, dry run, own manager", kWidgets,
        {Verb::Create, kX, object(kJson), nullptr,
            RequestOptions().dryRun().fieldManager(QStringLiteral("me"))},
        "POST",
        "/apis/demo.example/v1/namespaces/team-a/widgets?fieldManager=me&dryRun=All&timeout=30s",
        "application/json", kJson);
    row("update", kConfigMaps, {Verb::Update, kX, object(kJson), nullptr, none}, "PUT",
        "/api/v1/namespaces/team-a/configmaps/x?fieldManager=davit%2Fp&timeout=30s",
        "application/json", kJson);
    row("update of the status", kWidgets,
        {Verb::Update, kX, object(kJson), nullptr,
            RequestOptions().subresource(QStringLiteral("status"))},
        "PUT",
        "/apis/demo.example/v1/namespaces/team-a/widgets/x/status?fieldManager=davit%2Fp&timeout="
        "30s",
        "application/json", kJson);
    static std::deque<Patch> patches; // the rows borrow them
    const auto patched = [&](const char *name, const Patch &patch, const RequestOptions &options,
                             const char *query, const char *contentType) {
        row(name, kConfigMaps, {Verb::Patch, kX, {}, &patches.emplace_back(patch), options},
            "PATCH", (QByteArray("/api/v1/namespaces/team-a/configmaps/x?") + query).constData(),
            contentType, patch.body().constData());
    };
    patched("C-29 merge patch", Patch::merge(R"({"data":{"a":null}})"), none,
        "fieldManager=davit%2Fp&timeout=30s", "application/merge-patch+json");
    patched("C-29 JSON patch", Patch::json(R"([{"op":"remove","path":"/data"}])"), none,
        "fieldManager=davit%2Fp&timeout=30s", "application/json-patch+json");
    patched("C-29 strategic merge patch", Patch::strategicMerge(R"({"data":{}})"), none,
        "fieldManager=davit%2Fp&timeout=30s", "application/strategic-merge-patch+json");
    patched("E-31 apply", Patch::apply(kJson), none, "fieldManager=davit%2Fp&timeout=30s",
        "application/apply-patch+yaml");
    patched("E-31 apply with force", Patch::apply(kJson), RequestOptions().force(),
        "fieldManager=davit%2Fp&force=true&timeout=30s", "application/apply-patch+yaml");
    patched("force is for apply alone", Patch::merge("{}"), RequestOptions().force(),
        "fieldManager=davit%2Fp&timeout=30s", "application/merge-patch+json");
    row("E-34 field validation of a create", kConfigMaps,
        {Verb::Create, kX, object(kJson), nullptr,
            RequestOptions().fieldValidation(FieldValidation::Strict)},
        "POST",
        "/api/v1/namespaces/team-a/configmaps?fieldManager=davit%2Fp&fieldValidation=Strict&"
        "timeout=30s",
        "application/json", kJson);
    patched("E-34 field validation of a patch", Patch::merge("{}"),
        RequestOptions().fieldValidation(FieldValidation::Ignore),
        "fieldManager=davit%2Fp&fieldValidation=Ignore&timeout=30s",
        "application/merge-patch+json");
    row("a subresource is created on its object", kConfigMaps,
        {Verb::Create, kX, object(R"({"kind":"Eviction"})"), nullptr,
            RequestOptions().subresource(QStringLiteral("eviction"))},
        "POST",
        "/api/v1/namespaces/team-a/configmaps/x/eviction?fieldManager=davit%2Fp&timeout=30s",
        "application/json", R"({"kind":"Eviction"})");
    row("a table", kConfigMaps,
        {Verb::List, {}, {}, nullptr,
            RequestOptions().inNamespace(QStringLiteral("team-a")).limit(3)},
        "GET", "/api/v1/namespaces/team-a/configmaps?limit=3&timeout=30s", "", "");
    row("E-34 delete collection", kConfigMaps,
        {Verb::DeleteCollection, {}, {}, nullptr,
            RequestOptions()
                .inNamespace(QStringLiteral("team-a"))
                .labelSelector(QStringLiteral("app=web"))
                .gracePeriod(0s)
                .dryRun()},
        "DELETE", "/api/v1/namespaces/team-a/configmaps?labelSelector=app%3Dweb&timeout=30s",
        "application/json",
        R"({"apiVersion":"v1","dryRun":["All"],"gracePeriodSeconds":0,"kind":"DeleteOptions"})");
    row("E-34 delete", kConfigMaps, {Verb::Delete, kX, {}, nullptr, none}, "DELETE",
        "/api/v1/namespaces/team-a/configmaps/x?timeout=30s", "application/json",
        R"({"apiVersion":"v1","kind":"DeleteOptions"})");
    row("E-34 delete with every option", kConfigMaps,
        {Verb::Delete, kX, {}, nullptr,
            RequestOptions()
                .propagation(Propagation::Foreground)
                .preconditionUid(QStringLiteral("u"))
                .preconditionResourceVersion(QStringLiteral("7"))
                .gracePeriod(30s)
                .dryRun()},
        "DELETE", "/api/v1/namespaces/team-a/configmaps/x?timeout=30s", "application/json",
        R"({"apiVersion":"v1","dryRun":["All"],"gracePeriodSeconds":30,"kind":"DeleteOptions",)"
        R"("preconditions":)"
        R"({"resourceVersion":"7","uid":"u"},"propagationPolicy":"Foreground"})");
}

void tst_RequestBuilder::requests()
{
    QFETCH(const transport::Resource, resource);
    QFETCH(const VerbCall, call);
    transport::Request request;
    const Status status = buildRequest(resource, call, QStringLiteral("davit/p"), &request);
    QVERIFY2(status.isOk(), qPrintable(status.error().message()));
    QTEST(request.method, "method");
    QTEST(request.target, "target");
    QTEST(request.contentType, "contentType");
    QTEST(request.body, "body");
}

void tst_RequestBuilder::lists_data() // C-23
{
    QTest::addColumn<RequestOptions>("options");
    QTest::addColumn<QByteArray>("target");
    QTest::newRow("all namespaces")
        << RequestOptions() << QByteArray("/api/v1/configmaps?timeout=30s");
    QTest::newRow("one namespace, selectors, page")
        << RequestOptions()
               .inNamespace(QStringLiteral("team-a"))
               .labelSelector(QStringLiteral("app=web,tier in (a,b)"))
               .fieldSelector(QStringLiteral("metadata.name=x"))
               .limit(50)
               .resourceVersion(QStringLiteral("9"))
        << QByteArray(
               "/api/v1/namespaces/team-a/configmaps?labelSelector=app%3Dweb%2Ctier%20in%20%28a%2Cb"
               "%29&fieldSelector=metadata.name%3Dx&resourceVersion=9&limit=50&timeout=30s");
    QTest::newRow("R-22 a later page has no version")
        << RequestOptions()
               .limit(50)
               .continueToken(QStringLiteral("a+b="))
               .resourceVersion(QStringLiteral("9"))
               .resourceVersionMatch(ResourceVersionMatch::Exact)
        << QByteArray("/api/v1/configmaps?continue=a%2Bb%3D&limit=50&timeout=30s");
    QTest::newRow("exactly this version")
        << RequestOptions()
               .limit(50)
               .resourceVersion(QStringLiteral("9"))
               .resourceVersionMatch(ResourceVersionMatch::Exact)
        << QByteArray("/api/v1/configmaps?resourceVersion=9&resourceVersionMatch=Exact&limit=50&"
                      "timeout=30s");
    QTest::newRow("this version or a later one")
        << RequestOptions()
               .resourceVersion(QStringLiteral("9"))
               .resourceVersionMatch(ResourceVersionMatch::NotOlderThan)
        << QByteArray("/api/v1/configmaps?resourceVersion=9&resourceVersionMatch=NotOlderThan&"
                      "timeout=30s");
}

void tst_RequestBuilder::lists()
{
    QFETCH(const RequestOptions, options);
    transport::Request request;
    QVERIFY(buildListRequest(kConfigMaps, options, &request).isOk());
    QTEST(request.target, "target");
    QCOMPARE(request.method, QByteArray("GET"));
    QCOMPARE(request.channel, transport::Channel::List);
}

void tst_RequestBuilder::refused_data() // C-19 to C-21: nothing is sent
{
    QTest::addColumn<VerbCall>("call");
    QTest::addColumn<QString>("opening");
    const auto row = [](const char *name, const VerbCall &call, const char *opening) {
        QTest::newRow(name) << call << QString::fromLatin1(opening);
    };
    const auto named = [](const char *namespaceName, const char *name) {
        return ObjectKey{QString::fromLatin1(namespaceName), QString::fromLatin1(name)};
    };
    row("T94 a slash in the name", {Verb::Get, named("a", "a/b"), {}, nullptr, {}},
        "get ConfigMap ");
    row("C-19 dots", {Verb::Delete, named("a", ".."), {}, nullptr, {}}, "delete ConfigMap ");
    row("C-19 percent in the namespace", {Verb::Get, named("a%2f", "x"), {}, nullptr, {}},
        "get ConfigMap ");
    row("C-20 no namespace", {Verb::Get, named("", "x"), {}, nullptr, {}}, "get ConfigMap x: ");
    row("C-20 create without namespace", {Verb::Create, named("", "x"), object(kJson), nullptr, {}},
        "create ConfigMap x: ");
    row("C-20 delete collection over all namespaces", {Verb::DeleteCollection, {}, {}, nullptr, {}},
        "deletecollection ConfigMap: ");
    row("C-21 no name", {Verb::Delete, named("a", ""), {}, nullptr, {}}, "delete ConfigMap in a: ");
    row("null object", {Verb::Update, kX, {}, nullptr, {}}, "update ConfigMap: ");
    row("no patch", {Verb::Patch, kX, {}, nullptr, {}}, "patch ConfigMap team-a/x: ");
    row("E-31 field manager too long",
        {Verb::Create, kX, object(kJson), nullptr,
            RequestOptions().fieldManager(QString(129, u'm'))},
        "create ConfigMap team-a/x: ");
    row("E-31 field manager with a line break",
        {Verb::Create, kX, object(kJson), nullptr,
            RequestOptions().fieldManager(QStringLiteral("a\nb"))},
        "create ConfigMap team-a/x: ");
}

void tst_RequestBuilder::refused()
{
    QFETCH(const VerbCall, call);
    QFETCH(const QString, opening);
    transport::Request request;
    const Status status = buildRequest(kConfigMaps, call, QStringLiteral("davit/p"), &request);
    QCOMPARE(status.error().code(), ErrorCode::InvalidArgument);
    QVERIFY2(status.error().message().startsWith(opening), qPrintable(status.error().message()));
}

void tst_RequestBuilder::forms_data()
{
    QTest::addColumn<VerbCall>("call");
    QTest::addColumn<QByteArray>("accept");
    const RequestOptions metadata = RequestOptions().payload(Payload::Metadata);
    QTest::newRow("get") << VerbCall{Verb::Get, kX, {}, nullptr, {}}
                         << QByteArray("application/json");
    QTest::newRow("metadata only")
        << VerbCall{Verb::Get, kX, {}, nullptr, metadata}
        << QByteArray(
               "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
    QTest::newRow("table") << VerbCall{Verb::List, {}, {}, nullptr, metadata}
                           << QByteArray("application/json;as=Table;g=meta.k8s.io;v=v1");
}

void tst_RequestBuilder::forms()
{
    QFETCH(const VerbCall, call);
    transport::Request request;
    QVERIFY(buildRequest(kConfigMaps, call, QStringLiteral("m"), &request).isOk());
    QTEST(request.accept, "accept");
    transport::Request list;
    QVERIFY(buildListRequest(kConfigMaps, call.options, &list).isOk());
    QCOMPARE(list.accept.contains("PartialObjectMetadataList"),
        call.options.payload() == Payload::Metadata);
}

void tst_RequestBuilder::rawTargets_data()
{
    QTest::addColumn<QByteArray>("target");
    QTest::addColumn<QString>(
        "access"); // verb group resource subresource name path; empty: refused
    const auto row = [](const char *target, const char *access) {
        QTest::newRow(target) << QByteArray(target) << QString::fromLatin1(access);
    };
    row("/", "get|||||/");
    row("/version", "get|||||/version");
    row("/healthz/etcd?verbose", "get|||||/healthz/etcd");
    row("/api", "get|||||/api");
    row("/api/v1", "get|||||/api/v1");
    row("/apis/apps/v1/", "get|||||/apis/apps/v1/");
    row("/api/v1/nodes", "list||nodes|||");
    row("/api/v1/nodes/n/status", "get||nodes|status|n|");
    row("/api/v1/namespaces/a", "get||namespaces||a|");
    row("/api/v1/namespaces/a/status", "get||namespaces|status|a|");
    row("/api/v1/namespaces/a/pods?limit=1", "list||pods|||");
    row("/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dx", "list||pods||x|");
    row("/api/v1/namespaces/a/pods/p/log?tailLines=3", "get||pods|log|p|");
    row("/apis/apps/v1/namespaces/a/deployments/web/scale", "get|apps|deployments|scale|web|");
    row("/api%2Fv1/secrets", "list||secrets|||"); // as the server reads it
    row("/apis/x/v1/watch/widgets", "");
    row("/api/v1/pods?watch=1", "");
    row("/version/../api/v1/secrets", "");
    row("/version/%2e%2E/api/v1/secrets", "");
    row("//api/v1/secrets", "");
    row("/api//v1", "");
    row("api/v1", "");
    row("https://elsewhere/api", "");
    row("/version#x", "");
    row("", "");
}

void tst_RequestBuilder::rawTargets()
{
    QFETCH(const QByteArray, target);
    QFETCH(const QString, access);
    AccessRequest read;
    const Status status = accessOfTarget(target, &read);
    QCOMPARE(status.isOk(), !access.isEmpty());
    if (!status.isOk()) {
        QCOMPARE(status.error().code(), ErrorCode::InvalidArgument);
        return;
    }
    QCOMPARE(
        (QStringList{read.verb, read.group, read.resource, read.subresource, read.name, read.path})
            .join(QLatin1Char('|')),
        access);
}

QTEST_GUILESS_MAIN(tst_RequestBuilder)
#include "tst_requestbuilder.moc"
