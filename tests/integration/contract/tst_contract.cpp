// What the embedded API server and a real one must both do, row for row. "embedded" always runs;
// "real" when DAVIT_REAL_KUBECONFIG names the kubeconfig of a kube-apiserver (with controller
// manager) that may be written to.
// NOLINT(file-size): one table, whose rows stand side by side for both servers
#include "contractcase.h"

#include <QJsonArray>
#include <QTest>
#include <algorithm>

namespace {

const QByteArray kMerge = "merge-patch+json";
const QByteArray kJsonPatch = "json-patch+json";
const QByteArray kStrategic = "strategic-merge-patch+json";
const QByteArray kApply = "apply-patch+yaml";
const QByteArray kWidgets = "/apis/contract.davit.dev/v1/namespaces/";

QByteArray widget(const QByteArray &name, const QByteArray &rest)
{
    return R"({"apiVersion":"contract.davit.dev/v1","kind":"Widget","metadata":{"name":")" + name
        + R"("},)" + rest + '}';
}

QByteArray deployment(const QByteArray &name)
{
    return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name
        + R"("},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"x"}},
            "template":{"metadata":{"labels":{"app":"x"}},
              "spec":{"containers":[{"name":"c","image":"example/app:1","env":[{"name":"A","value":"1"}]}]}}}})";
}

QString version(const ApiAnswer &answer)
{
    return text(answer, "metadata.resourceVersion");
}

QStringList names(const ApiAnswer &list)
{
    QStringList result;
    for (const auto &item : list.json()[QLatin1String("items")].toArray())
        result.append(at(item.toObject(), "metadata.name").toString());
    return result;
}

bool isType(const QJsonObject &event, const char *type)
{
    return event[QLatin1String("type")].toString() == QLatin1String(type);
}

bool endsInitial(const QJsonObject &event)
{
    return isType(event, "BOOKMARK")
        && event[QLatin1String("object")]
               .toObject()[QLatin1String("metadata")]
               .toObject()[QLatin1String("annotations")]
               .toObject()[QLatin1String("k8s.io/initial-events-end")]
        == QLatin1String("true");
}

} // namespace

class tst_Contract : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase_data();
    void init();
    void cleanupTestCase();

    void createReadUpdateDelete();
    void refusals_data();
    void refusals();
    void shapes_data();
    void shapes();
    void optimisticLock();
    void deletePreconditions();
    void withoutVersion();
    void noOpWrites();
    void generatedNames();
    void listForm();
    void listVersions();
    void pages();
    void expiredContinue();
    void selectors_data();
    void selectors();
    void watchFromVersion();
    void watchThroughSelector();
    void watchOneNamespace();
    void syntheticAdded();
    void streamingList();
    void bookmarkBeforeTheEnd();
    void watchTooOld();
    void mergePatch();
    void jsonPatch();
    void strategicPatch();
    void strategicShapes_data();
    void strategicShapes();
    void applyPatch();
    void applyConflict();
    void statusSubresource();
    void scaleSubresource();
    void generations();
    void finalizers();
    void backgroundDeletion();
    void foregroundDeletion();
    void orphans();
    void danglingOwner();
    void namespaceDeletion();
    void terminatingNamespace();
    void dryRun();
    void secrets();
    void immutableConfigMap();
    void deleteCollection();
    void metadataOnly();
    void tables();
    void discovery();
    void leasesAndEvents();

private:
    ContractServer &server();
    static QString currentRow();
    ApiAnswer makeConfigMap(
        const QByteArray &space, const QByteArray &name, const QByteArray &rest);

    std::map<QString, std::unique_ptr<ContractServer>> m_servers;
    std::map<QString, QStringList> m_ran; // rows by server
    QStringList m_skipped; // rows that one of the servers cannot run; must stay empty
};

// A row that a server cannot run is told of by name, and counts as a failure of the suite.
#undef QSKIP
#define QSKIP(why)                                                                                 \
    do {                                                                                           \
        m_skipped += currentRow() + QStringLiteral(" (" why ")");                                  \
        return;                                                                                    \
    } while (false)

void tst_Contract::initTestCase_data()
{
    QTest::addColumn<QString>("server");
    QTest::newRow("embedded") << QStringLiteral("embedded");
    if (qEnvironmentVariableIsSet("DAVIT_REAL_KUBECONFIG"))
        QTest::newRow("real") << QStringLiteral("real");
}

ContractServer &tst_Contract::server()
{
    QFETCH_GLOBAL(const QString, server);
    auto &place = m_servers[server];
    if (!place)
        place = std::make_unique<ContractServer>(server);
    return *place;
}

void tst_Contract::init()
{
    QCOMPARE(server().get("/version").code, 200);
    QFETCH_GLOBAL(const QString, server);
    m_ran[server] += currentRow();
}

QString tst_Contract::currentRow()
{
    const char *const tag = QTest::currentDataTag();
    return QString::fromLatin1(QTest::currentTestFunction())
        + (tag ? QLatin1Char(' ') + QString::fromUtf8(tag) : QString());
}

void tst_Contract::cleanupTestCase()
{
    for (const auto &[server, rows] : m_ran) {
        for (const auto &[other, wanted] : m_ran)
            for (const QString &row : wanted)
                if (!rows.contains(row))
                    m_skipped += QStringLiteral("%1 on %2 alone").arg(row, other);
        qInfo("%s: %lld rows, skipped: %s", qPrintable(server), qint64(rows.size()),
            m_skipped.isEmpty() ? "none" : qPrintable(m_skipped.join(QLatin1String(", "))));
    }
    QVERIFY(!m_ran.empty());
    QVERIFY2(m_skipped.isEmpty(), qPrintable(m_skipped.join(QLatin1String(", "))));
}

ApiAnswer tst_Contract::makeConfigMap(
    const QByteArray &space, const QByteArray &name, const QByteArray &rest = R"("data":{"k":"1"})")
{
    return server().post(spaced(space, "configmaps"), configMap(name, rest));
}

void tst_Contract::createReadUpdateDelete()
{
    const QByteArray space = server().newNamespace("crud");
    const ApiAnswer made = makeConfigMap(space, "a");
    QCOMPARE(made.code, 201);
    QCOMPARE(text(made, "kind"), QStringLiteral("ConfigMap"));
    QCOMPARE(text(made, "metadata.namespace").toUtf8(), space);
    QCOMPARE(text(made, "metadata.uid").size(), 36);
    QVERIFY(text(made, "metadata.creationTimestamp").endsWith(QLatin1Char('Z')));
    QVERIFY(version(made).toULongLong() > 0);
    const QByteArray path = spaced(space, "configmaps/a");
    const ApiAnswer read = server().get(path);
    QCOMPARE(read.code, 200);
    QCOMPARE(read.json(), made.json());

    QJsonObject changed = read.json();
    changed[QLatin1String("data")] = QJsonObject{{QStringLiteral("k"), QStringLiteral("2")}};
    const ApiAnswer updated = server().put(path, asJson(changed));
    QCOMPARE(updated.code, 200);
    QCOMPARE(text(updated, "data.k"), QStringLiteral("2"));
    QCOMPARE(text(updated, "metadata.uid"), text(made, "metadata.uid"));
    QCOMPARE(text(updated, "metadata.creationTimestamp"), text(made, "metadata.creationTimestamp"));
    QVERIFY(version(updated).toULongLong() > version(made).toULongLong());

    const ApiAnswer removed = server().remove(path);
    QCOMPARE(removed.code, 200);
    QCOMPARE(text(removed, "kind"), QStringLiteral("Status"));
    QCOMPARE(text(removed, "status"), QStringLiteral("Success"));
    QCOMPARE(text(removed, "details.uid"), text(made, "metadata.uid"));
    QCOMPARE(server().get(path).code, 404);
}

// In "message", SPACE stands for the row's namespace; a message that ends in … is compared so far.
// NOLINTNEXTLINE(readability-function-size): a table
void tst_Contract::refusals_data()
{
    QTest::addColumn<QByteArray>("method");
    QTest::addColumn<QByteArray>("target");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QByteArray>("type");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("reason");
    QTest::addColumn<QString>("message");
    const auto row
        = [](const char *name, const char *method, const char *target, const QByteArray &body,
              const char *type, int code, const char *reason, const char *message) {
              QTest::newRow(name) << QByteArray(method) << QByteArray(target) << body
                                  << "application/" + QByteArray(type) << code
                                  << QString::fromUtf8(reason) << QString::fromUtf8(message);
          };
    const QByteArray cm = "/api/v1/namespaces/SPACE/configmaps";
    const char *json = "json";
    row("get what is not there", "GET", cm + "/x", {}, json, 404, "NotFound",
        "configmaps \"x\" not found");
    row("get of a group", "GET", "/apis/apps/v1/namespaces/SPACE/deployments/x", {}, json, 404,
        "NotFound", "deployments.apps \"x\" not found");
    row("delete what is not there", "DELETE", cm + "/x", {}, json, 404, "NotFound",
        "configmaps \"x\" not found");
    row("update what is not there", "PUT", cm + "/x", configMap("x"), json, 404, "NotFound",
        "configmaps \"x\" not found");
    row("patch what is not there", "PATCH", cm + "/x", "{}", "merge-patch+json", 404, "NotFound",
        "configmaps \"x\" not found");
    row("unknown resource", "GET", "/api/v1/namespaces/SPACE/nothings", {}, json, 404, "NotFound",
        "the server could not find the requested resource");
    row("namespace is not there", "POST", "/api/v1/namespaces/no-such-space/configmaps",
        configMap("x"), json, 404, "NotFound", "namespaces \"no-such-space\" not found");
    row("already exists", "POST", cm, configMap("taken"), json, 409, "AlreadyExists",
        "configmaps \"taken\" already exists");
    row("upper-case name", "POST", cm, configMap("Upper"), json, 422, "Invalid",
        "ConfigMap \"Upper\" is invalid: metadata.name: Invalid value: \"Upper\": a lowercase RFC "
        "1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
        "start and end with an alphanumeric character (e.g. 'example.com', regex used for "
        "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
    row("no name", "POST", cm, R"({"metadata":{}})", json, 422, "Invalid",
        "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is "
        "required");
    row("name of the body is another", "PUT", cm + "/taken", configMap("other"), json, 400,
        "BadRequest", "the name of the object (other) does not match the name on the URL (taken)");
    row("namespace of the body is another", "POST", cm,
        R"({"metadata":{"name":"x","namespace":"other"}})", json, 400, "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request");
    row("version set on create", "POST", cm, R"({"metadata":{"name":"x","resourceVersion":"1"}})",
        json, 500, "", "resourceVersion should not be set on objects to be created");
    row("number in data", "POST", cm, configMap("x", R"("data":{"k":1})"), json, 400, "BadRequest",
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
        "number into Go struct field ConfigMap.data of type string");
    row("value of a label", "POST", cm, R"({"metadata":{"name":"x","labels":{"l":"a b"}}})", json,
        422, "Invalid",
        "ConfigMap \"x\" is invalid: metadata.labels: Invalid value: \"a b\": a valid label must "
        "be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
        "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
    row("body is no JSON", "POST", cm, "{", json, 400, "BadRequest", "…");
    row("type that is no text", "POST", cm, R"({"apiVersion":5,"metadata":{"name":"x"}})", json,
        400, "BadRequest",
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get "
        "version/kind; json parse error: json: cannot unmarshal number into Go struct field "
        ".apiVersion of type string…");
    row("bad base64", "POST", cm, configMap("x", R"("binaryData":{"k":"!!"})"), json, 400,
        "BadRequest",
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: illegal base64 data at "
        "input byte 0");
    row("owner without a uid", "POST", cm,
        R"({"metadata":{"name":"x","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"a"}]}})",
        json, 422, "Invalid",
        "ConfigMap \"x\" is invalid: metadata.ownerReferences[0].uid: Required value: must not be "
        "empty");
    row("owner that is null", "POST", cm, R"({"metadata":{"name":"x","ownerReferences":[null]}})",
        json, 422, "Invalid",
        "ConfigMap \"x\" is invalid: [metadata.ownerReferences[0].apiVersion: Required value: …");
    row("number as a label, in an update", "PUT", cm + "/taken",
        R"({"metadata":{"name":"taken","labels":{"a":1}}})", json, 400, "BadRequest",
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
        "number into Go struct field ObjectMeta.metadata.labels of type string");
    for (const char *type : {"merge-patch+json", "strategic-merge-patch+json"})
        row(qPrintable(QStringLiteral("number as a label, by %1").arg(QLatin1StringView(type))),
            "PATCH", cm + "/taken", R"({"metadata":{"labels":{"a":1}}})", type, 422, "Invalid",
            " \"\" is invalid: patch: Invalid value: …");
    for (const char *patch : {"5", "\"x\"", "[]", "true"})
        row(qPrintable(QStringLiteral("merge patch: %1").arg(QLatin1StringView(patch))), "PATCH",
            cm + "/taken", patch, "merge-patch+json", 400, "BadRequest",
            "error decoding patch: json: cannot unmarshal …");
    row("merge patch: null", "PATCH", cm + "/taken", "null", "merge-patch+json", 400, "BadRequest",
        "Invalid JSON Patch");
    row("merge patch that is cut off", "PATCH", cm + "/taken", "{", "merge-patch+json", 400,
        "BadRequest", "invalid JSON patch");
    row("number as a label, by apply", "PATCH", cm + "/taken?fieldManager=t",
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"labels":{"a":1}}})",
        "apply-patch+yaml", 500, "",
        "failed to create typed patch object (/; /v1, Kind=ConfigMap): …");
    for (const char *option : {"limit=abc", "limit=1.5", "limit=", "timeoutSeconds=abc",
             "watch=1&limit=abc", "watch=1&timeoutSeconds=abc"})
        row(option, "GET", cm + '?' + option, {}, json, 400, "BadRequest",
            qPrintable(QStringLiteral("strconv.ParseInt: parsing \"%1\": invalid syntax")
                           .arg(QString::fromLatin1(option).section(QLatin1Char('='), -1))));
    row("limit out of range", "GET", cm + "?limit=99999999999999999999", {}, json, 400,
        "BadRequest", "strconv.ParseInt: parsing \"99999999999999999999\": value out of range");
    row("gracePeriodSeconds=abc", "DELETE", cm + "/taken?gracePeriodSeconds=abc", {}, json, 400,
        "BadRequest", "strconv.ParseInt: parsing \"abc\": invalid syntax");
    row("body of an unknown type", "POST", cm, "x", "x-unknown", 415, "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: …");
    row("strategic patch of a custom resource", "PATCH", kWidgets + "SPACE/widgets/w", "{}",
        "strategic-merge-patch+json", 415, "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml…");
    row("JSON patch that does not fit", "PATCH", cm + "/taken",
        R"([{"op":"test","path":"/data/k","value":"2"}])", "json-patch+json", 422, "Invalid",
        "the server rejected our request due to an error in our request");
    row("JSON patch below nothing", "PATCH", cm + "/taken",
        R"([{"op":"remove","path":"/data/nope"}])", "json-patch+json", 422, "Invalid",
        "the server rejected our request due to an error in our request");
    row("apply without manager", "PATCH", cm + "/taken", configMap("taken"), "apply-patch+yaml",
        422, "Invalid",
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for "
        "apply patch");
    row("label selector", "GET", cm + "?labelSelector=a%20b%3D%3D%3D", {}, json, 400, "BadRequest",
        "unable to parse requirement…");
    row("field that nobody knows", "GET", cm + "?fieldSelector=spec.x%3D1", {}, json, 400,
        "BadRequest", "…");
    row("1.9 list: match without version", "GET", cm + "?resourceVersionMatch=Exact", {}, json, 422,
        "Invalid",
        "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
        "resourceVersionMatch is forbidden unless resourceVersion is provided");
    row("1.9 list: Exact of 0", "GET", cm + "?resourceVersion=0&resourceVersionMatch=Exact", {},
        json, 422, "Invalid",
        "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
        "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    row("1.9 list: unknown match", "GET", cm + "?resourceVersion=1&resourceVersionMatch=Foo", {},
        json, 422, "Invalid",
        "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Unsupported value: "
        "\"Foo\": supported values: \"Exact\", \"NotOlderThan\", \"\"");
    row("1.9 list: initial events", "GET", cm + "?sendInitialEvents=true", {}, json, 422, "Invalid",
        "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents "
        "is forbidden for list");
    row("1.9 watch: initial events without match", "GET", cm + "?watch=true&sendInitialEvents=true",
        {}, json, 422, "Invalid",
        "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    row("1.9 watch: match without initial events", "GET",
        cm + "?watch=true&resourceVersion=1&resourceVersionMatch=NotOlderThan", {}, json, 422,
        "Invalid",
        "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    row("1.9 watch: Exact", "GET",
        cm + "?watch=true&sendInitialEvents=true&resourceVersion=1&resourceVersionMatch=Exact", {},
        json, 422, "Invalid",
        "ListOptions.meta.k8s.io \"\" is invalid: [resourceVersionMatch: Forbidden: "
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, "
        "resourceVersionMatch: Unsupported value: \"Exact\": supported values: "
        "\"NotOlderThan\"]");
    row("version that is no number", "GET", cm + "?resourceVersion=abc", {}, json, 400,
        "BadRequest", "…");
    row("version of the future", "GET", cm + "?resourceVersion=999999999", {}, json, 504, "Timeout",
        "Timeout: Too large resource version: 999999999, current: …");
    row("continue key that is none", "GET", cm + "?limit=1&continue=xx", {}, json, 400,
        "BadRequest", "invalid continue token: …");
    row("collection takes no PUT", "PUT", cm, "{}", json, 405, "MethodNotAllowed",
        "the server does not allow this method on the requested resource");
    row("namespace that stays", "DELETE", "/api/v1/namespaces/default", {}, json, 403, "Forbidden",
        "namespaces \"default\" is forbidden: this namespace may not be deleted");
}

void tst_Contract::refusals()
{
    QFETCH(const QByteArray, method);
    QFETCH(QByteArray, target);
    QFETCH(const QByteArray, body);
    QFETCH(const QByteArray, type);
    QFETCH(const int, code);
    QFETCH(QString, message);
    static std::map<ContractServer *, QByteArray> spaces;
    QByteArray &space = spaces[&server()];
    if (space.isEmpty()) {
        space = server().newNamespace("refusals");
        QCOMPARE(makeConfigMap(space, "taken").code, 201);
        QVERIFY(server().serveWidgets());
        QCOMPARE(
            server().post(kWidgets + space + "/widgets", widget("w", R"("spec":{})")).code, 201);
    }
    const ApiAnswer answer
        = apiCall(server().address(), method, target.replace("SPACE", space), body, type);
    QCOMPARE(answer.code, code);
    QCOMPARE(text(answer, "kind"), QStringLiteral("Status"));
    QCOMPARE(text(answer, "status"), QStringLiteral("Failure"));
    QTEST(answer.reason(), "reason");
    if (message.endsWith(QChar(0x2026))) {
        message.chop(1);
        QCOMPARE(answer.message().left(message.size()), message);
    } else {
        QCOMPARE(answer.message(), message);
    }
}

// Members of the wrong type, in the words of Go's decoder.
// NOLINTNEXTLINE(readability-function-size): a table
void tst_Contract::shapes_data()
{
    QTest::addColumn<QByteArray>("plural");
    QTest::addColumn<QByteArray>("body"); // beside the name: of metadata, or of the object
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("message"); // without what is always in front
    const auto in = [](const QByteArray &plural, const QByteArray &body, const char *message) {
        QTest::newRow((plural + ' ' + body).constData())
            << plural << body << (*message ? 400 : 201) << QString::fromUtf8(message);
    };
    const auto metadata = [&in](const QByteArray &body, const char *message) {
        in("configmaps", "\"metadata\":{\"name\":\"x\"," + body + '}', message);
    };
    const QByteArray owner = R"("apiVersion":"v1","kind":"Pod","name":"a")";
    metadata(R"("labels":"x")",
        "string into Go struct field ObjectMeta.metadata.labels of type map[string]string");
    metadata(R"("labels":["x"])",
        "array into Go struct field ObjectMeta.metadata.labels of type map[string]string");
    metadata(R"("labels":{"a":1})",
        "number into Go struct field ObjectMeta.metadata.labels of type string");
    metadata(R"("labels":{"a":true})",
        "bool into Go struct field ObjectMeta.metadata.labels of type string");
    metadata(R"("labels":{"a":{}})",
        "object into Go struct field ObjectMeta.metadata.labels of type string");
    metadata(R"("labels":{"a":null})", "");
    metadata(R"("annotations":[])",
        "array into Go struct field ObjectMeta.metadata.annotations of type map[string]string");
    metadata(R"("annotations":{"a":1.5})",
        "number into Go struct field ObjectMeta.metadata.annotations of type string");
    metadata(R"("ownerReferences":{})",
        "object into Go struct field ObjectMeta.metadata.ownerReferences of type "
        "[]v1.OwnerReference");
    metadata(R"("ownerReferences":["a"])",
        "string into Go struct field ObjectMeta.metadata.ownerReferences of type "
        "v1.OwnerReference");
    metadata(R"("ownerReferences":[{"name":1}])",
        "number into Go struct field OwnerReference.metadata.ownerReferences.name of type string");
    metadata("\"ownerReferences\":[{" + owner + R"(,"uid":5}])",
        "number into Go struct field OwnerReference.metadata.ownerReferences.uid of type "
        "types.UID");
    metadata("\"ownerReferences\":[{" + owner + R"(,"uid":"b","controller":"yes"}])",
        "string into Go struct field OwnerReference.metadata.ownerReferences.controller of type "
        "bool");
    metadata(R"("finalizers":"x")",
        "string into Go struct field ObjectMeta.metadata.finalizers of type []string");
    metadata(R"("finalizers":[1])",
        "number into Go struct field ObjectMeta.metadata.finalizers of type string");
    metadata(R"("generateName":5)",
        "number into Go struct field ObjectMeta.metadata.generateName of type string");
    metadata(R"("uid":5)", "number into Go struct field ObjectMeta.metadata.uid of type types.UID");
    metadata(R"("resourceVersion":5)",
        "number into Go struct field ObjectMeta.metadata.resourceVersion of type string");
    metadata(R"("generation":"x")",
        "string into Go struct field ObjectMeta.metadata.generation of type int64");
    metadata(R"("generation":1.5)",
        "number 1.5 into Go struct field ObjectMeta.metadata.generation of type int64");
    metadata(R"("creationTimestamp":5)",
        "number into Go struct field ObjectMeta.metadata.creationTimestamp of type string");
    in("configmaps", R"("metadata":5)",
        "number into Go struct field ConfigMap.metadata of type v1.ObjectMeta");
    const QByteArray named = R"("metadata":{"name":"x"},)";
    const auto content = [&](const QByteArray &plural, const char *body, const char *message) {
        in(plural, named + body, message);
    };
    content("configmaps", R"("data":"x")",
        "string into Go struct field ConfigMap.data of type map[string]string");
    content("configmaps", R"("data":["x"])",
        "array into Go struct field ConfigMap.data of type map[string]string");
    content("configmaps", R"("data":{"a":true})",
        "bool into Go struct field ConfigMap.data of type string");
    content("configmaps", R"("binaryData":{"a":1})",
        "number into Go struct field ConfigMap.binaryData of type []uint8");
    content("configmaps", R"("binaryData":"x")",
        "string into Go struct field ConfigMap.binaryData of type map[string][]uint8");
    content("configmaps", R"("immutable":"x")",
        "string into Go struct field ConfigMap.immutable of type bool");
    content(
        "secrets", R"("data":{"a":1})", "number into Go struct field Secret.data of type []uint8");
    content("secrets", R"("stringData":{"a":1})",
        "number into Go struct field Secret.stringData of type string");
    content(
        "secrets", R"("type":5)", "number into Go struct field Secret.type of type v1.SecretType");
    content("services", R"("spec":5)",
        "number into Go struct field Service.spec of type v1.ServiceSpec");
}

void tst_Contract::shapes()
{
    QFETCH(const QByteArray, plural);
    QFETCH(const QByteArray, body);
    QFETCH(const int, code);
    QFETCH(const QString, message);
    const QByteArray target = "/api/v1/namespaces/default/" + plural + "?dryRun=All";
    const ApiAnswer answer = server().post(target, '{' + body + '}');
    QCOMPARE(answer.code, code);
    if (code == 201)
        return;
    QCOMPARE(text(answer, "reason"), QStringLiteral("BadRequest"));
    const QString kind = plural == "secrets" ? QStringLiteral("Secret")
        : plural == "services"               ? QStringLiteral("Service")
                                             : QStringLiteral("ConfigMap");
    QCOMPARE(text(answer, "message"),
        QStringLiteral("%1 in version \"v1\" cannot be handled as a %1: json: cannot unmarshal %2")
            .arg(kind, message));
}

void tst_Contract::optimisticLock()
{
    const QByteArray space = server().newNamespace("lock");
    QJsonObject stale = makeConfigMap(space, "a").json();
    const QByteArray path = spaced(space, "configmaps/a");
    QCOMPARE(server().patch(path, kMerge, R"({"data":{"k":"2"}})").code, 200);
    stale[QLatin1String("data")] = QJsonObject{{QStringLiteral("k"), QStringLiteral("3")}};
    const ApiAnswer refused = server().put(path, asJson(stale));
    QCOMPARE(refused.code, 409);
    QCOMPARE(refused.reason(), QStringLiteral("Conflict"));
    QCOMPARE(refused.message(),
        QStringLiteral("Operation cannot be fulfilled on configmaps \"a\": the object has been "
                       "modified; please apply your changes to the latest version and try again"));
    QCOMPARE(text(refused, "details.name"), QStringLiteral("a"));
    QCOMPARE(text(refused, "details.kind"), QStringLiteral("configmaps"));
    QJsonObject metadata = stale[QLatin1String("metadata")].toObject();
    metadata.remove(QLatin1String("resourceVersion"));
    metadata[QLatin1String("uid")] = QStringLiteral("other");
    QJsonObject recreated = stale;
    recreated[QLatin1String("metadata")] = metadata;
    const ApiAnswer otherUid = server().put(path, asJson(recreated));
    QCOMPARE(otherUid.code, 409);
    QCOMPARE(otherUid.message(),
        QStringLiteral(
            "Operation cannot be fulfilled on configmaps \"a\": StorageError: invalid "
            "object, Code: 4, Key: /registry/configmaps/%1/a, ResourceVersion: 0, "
            "AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in "
            "object meta: %2")
            .arg(QString::fromUtf8(space), text(server().get(path), "metadata.uid")));
    const QByteArray old = at(stale, "metadata.resourceVersion").toString().toUtf8();
    const ApiAnswer patched = server().patch(
        path, kMerge, R"({"metadata":{"resourceVersion":")" + old + R"("},"data":{"k":"4"}})");
    QCOMPARE(patched.code, 409);
    QCOMPARE(patched.message(), refused.message());
    QCOMPARE(text(server().get(path), "data.k"), QStringLiteral("2"));
}

void tst_Contract::deletePreconditions()
{
    const QByteArray space = server().newNamespace("pre");
    const ApiAnswer made = makeConfigMap(space, "a");
    const QByteArray path = spaced(space, "configmaps/a");
    const QString uid = text(made, "metadata.uid");
    const ApiAnswer otherUid = server().remove(path, R"({"preconditions":{"uid":"other"}})");
    QCOMPARE(otherUid.code, 409);
    QCOMPARE(otherUid.message(),
        QStringLiteral("Operation cannot be fulfilled on ConfigMap \"a\": the UID in the "
                       "precondition (other) does not match the UID in record (%1). The object "
                       "might have been deleted and then recreated")
            .arg(uid));
    const ApiAnswer otherVersion
        = server().remove(path, R"({"preconditions":{"resourceVersion":"1"}})");
    QCOMPARE(otherVersion.code, 409);
    QCOMPARE(otherVersion.message(),
        QStringLiteral("Operation cannot be fulfilled on ConfigMap \"a\": the ResourceVersion in "
                       "the precondition (1) does not match the ResourceVersion in record (%1). "
                       "The object might have been modified")
            .arg(version(made)));
    QCOMPARE(
        server().remove(path, R"({"preconditions":{"uid":")" + uid.toUtf8() + R"("}})").code, 200);
}

void tst_Contract::withoutVersion()
{
    const QByteArray space = server().newNamespace("unconditional");
    QCOMPARE(makeConfigMap(space, "a").code, 201);
    const ApiAnswer updated
        = server().put(spaced(space, "configmaps/a"), configMap("a", R"("data":{"k":"9"})"));
    QCOMPARE(updated.code, 200); // built-in kinds take it
    QVERIFY(server().serveWidgets());
    const QByteArray widgets = kWidgets + space + "/widgets";
    QCOMPARE(server().post(widgets, widget("w", R"("spec":{"a":1})")).code, 201);
    const ApiAnswer refused = server().put(widgets + "/w", widget("w", R"("spec":{"a":2})"));
    QCOMPARE(refused.code, 422); // custom resources do not
    QVERIFY2(refused.message().contains(QLatin1String("metadata.resourceVersion: Invalid value: "))
            && refused.message().endsWith(QLatin1String("must be specified for an update")),
        qPrintable(refused.message()));
}

void tst_Contract::noOpWrites()
{
    const QByteArray space = server().newNamespace("noop");
    const ApiAnswer made = makeConfigMap(space, "a");
    const QByteArray path = spaced(space, "configmaps/a");
    QCOMPARE(version(server().put(path, made.body)), version(made));
    QCOMPARE(version(server().patch(path, kMerge, R"({"data":{"k":"1"}})")), version(made));
    QCOMPARE(version(server().patch(path, kJsonPatch, "[]")), version(made));
    QCOMPARE(version(server().get(path)), version(made));
}

void tst_Contract::generatedNames()
{
    const QByteArray space = server().newNamespace("generated");
    const QByteArray body = R"({"metadata":{"generateName":"pre-"}})";
    const QString first = text(server().post(spaced(space, "configmaps"), body), "metadata.name");
    const QString second = text(server().post(spaced(space, "configmaps"), body), "metadata.name");
    QVERIFY(first != second);
    QVERIFY2(first.startsWith(QLatin1String("pre-")) && first.size() == 9, qPrintable(first));
    // A name that is given counts, and what says that it is taken speaks of the generator.
    const QByteArray named = R"({"metadata":{"generateName":"pre-","name":"taken"}})";
    QCOMPARE(server().post(spaced(space, "configmaps"), named).code, 201);
    const ApiAnswer again = server().post(spaced(space, "configmaps"), named);
    QCOMPARE(again.code, 409);
    QCOMPARE(text(again, "reason"), QStringLiteral("AlreadyExists"));
    QCOMPARE(text(again, "message"),
        QStringLiteral("configmaps \"taken\" already exists, the server was not able to generate a "
                       "unique name for the object"));
    QCOMPARE(at(again.json(), "details.retryAfterSeconds").toInt(), 1);
}

// Items of built-in kinds come without their type, those of custom resources with it.
void tst_Contract::listForm()
{
    const QByteArray space = server().newNamespace("form");
    makeConfigMap(space, "a");
    QVERIFY(server().serveWidgets());
    server().post(kWidgets + space + "/widgets", widget("w", R"("spec":{})"));
    const ApiAnswer maps = server().get(spaced(space, "configmaps?labelSelector=%21none"));
    QCOMPARE(text(maps, "kind"), QStringLiteral("ConfigMapList"));
    QVERIFY(names(maps).contains(QStringLiteral("a")));
    QVERIFY(!at(maps.json(), "items.0").toObject().contains(QLatin1String("kind")));
    const ApiAnswer widgets = server().get(kWidgets + space + "/widgets");
    QCOMPARE(text(widgets, "kind"), QStringLiteral("WidgetList"));
    QCOMPARE(text(widgets, "items.0.kind"), QStringLiteral("Widget"));
    const ApiAnswer everywhere = server().get("/api/v1/configmaps");
    QVERIFY(names(everywhere).contains(QStringLiteral("a")));
}

void tst_Contract::listVersions()
{
    const QByteArray space = server().newNamespace("versions");
    const QByteArray list = spaced(space, "configmaps?labelSelector=own");
    const ApiAnswer empty = server().get(list);
    const QByteArray own = R"({"metadata":{"name":"a","labels":{"own":"1"}}})";
    const ApiAnswer made = server().post(spaced(space, "configmaps"), own);
    QCOMPARE(made.code, 201);
    const ApiAnswer now = server().get(list);
    QCOMPARE(names(now), QStringList{QStringLiteral("a")});
    QVERIFY(version(now).toULongLong() >= version(made).toULongLong());
    QVERIFY(version(empty).toULongLong() < version(made).toULongLong());
    const QByteArray before = version(empty).toUtf8();
    const ApiAnswer exact
        = server().get(list + "&resourceVersion=" + before + "&resourceVersionMatch=Exact");
    QCOMPARE(exact.code, 200);
    QCOMPARE(names(exact), QStringList());
    QCOMPARE(version(exact).toUtf8(), before);
    const ApiAnswer notOlder = server().get(list + "&resourceVersion=" + version(made).toUtf8());
    QCOMPARE(names(notOlder), QStringList{QStringLiteral("a")});
    const ApiAnswer any = server().get(list + "&resourceVersion=0");
    QCOMPARE(any.code, 200);
}

void tst_Contract::pages()
{
    const QByteArray space = server().newNamespace("pages");
    const QByteArray secrets = spaced(space, "secrets");
    for (const char name : {'a', 'b', 'c', 'd', 'e'})
        server().post(secrets, R"({"metadata":{"name":")" + QByteArray(1, name) + R"("}})");
    const ApiAnswer first = server().get(secrets + "?limit=2");
    QCOMPARE(names(first), (QStringList{QStringLiteral("a"), QStringLiteral("b")}));
    QCOMPARE(at(first.json(), "metadata.remainingItemCount").toInt(), 3);
    server().remove(secrets + "/d"); // later pages show the state of the first
    const QByteArray token = percent(text(first, "metadata.continue").toUtf8());
    const ApiAnswer second = server().get(secrets + "?limit=2&continue=" + token);
    QCOMPARE(names(second), (QStringList{QStringLiteral("c"), QStringLiteral("d")}));
    QCOMPARE(version(second), version(first));
    const QByteArray next = percent(text(second, "metadata.continue").toUtf8());
    const ApiAnswer third = server().get(secrets + "?limit=2&continue=" + next);
    QCOMPARE(names(third), QStringList{QStringLiteral("e")});
    QVERIFY(text(third, "metadata.continue").isEmpty());
    QCOMPARE(server().get(secrets + "?limit=2&resourceVersion=5&continue=" + token).code, 400);
    const ApiAnswer cached = server().get(secrets + "?limit=2&resourceVersion=0");
    QVERIFY(names(cached).size() >= 4); // the watch cache does not page
    QVERIFY(text(cached, "metadata.continue").isEmpty());
}

// Widgets: the real server began to cache them after version 2, so that only its store knows that.
void tst_Contract::expiredContinue()
{
    const QByteArray space = server().newNamespace("expired");
    QVERIFY(server().serveWidgets());
    const QByteArray widgets = kWidgets + space + "/widgets";
    server().post(widgets, widget("a", R"("spec":{})"));
    server().post(widgets, widget("b", R"("spec":{})"));
    server().forgetHistory();
    const QByteArray token
        = QByteArray(R"({"v":"meta.k8s.io/v1","rv":2,"start":"a\u0000"})")
              .toBase64(QByteArray::Base64UrlEncoding | QByteArray::OmitTrailingEquals);
    const ApiAnswer refused = server().get(widgets + "?limit=1&continue=" + token);
    QCOMPARE(refused.code, 410);
    QCOMPARE(refused.reason(), QStringLiteral("Expired"));
    QVERIFY2(
        refused.message().startsWith(QLatin1String(
            "The provided continue parameter is too old to display a consistent list result.")),
        qPrintable(refused.message()));
    const QByteArray again = percent(text(refused, "metadata.continue").toUtf8());
    QVERIFY(!again.isEmpty());
    const ApiAnswer rest = server().get(widgets + "?limit=1&continue=" + again);
    QCOMPARE(rest.code, 200); // goes on in the present
}

void tst_Contract::selectors_data()
{
    QTest::addColumn<QByteArray>("query");
    QTest::addColumn<QString>("found");
    const auto row = [](const char *query, const char *found) {
        QTest::addRow("%s", query) << QByteArray(query) << QString::fromLatin1(found);
    };
    row("labelSelector=app=web", "a b");
    row("labelSelector=app==web,tier=1", "a");
    row("labelSelector=app!=web", "c d");
    row("labelSelector=app in (web, db)", "a b c");
    row("labelSelector=app notin (web)", "c d");
    row("labelSelector=tier", "a b c");
    row("labelSelector=!tier", "d");
    row("labelSelector=tier>1", "b c");
    row("labelSelector=tier<2", "a");
    row("labelSelector=none=", "");
    row("labelSelector=empty=", "d");
    row("fieldSelector=metadata.name=b", "b");
    row("fieldSelector=metadata.name!=b", "a c d");
    row("fieldSelector=type=Opaque,metadata.name!=a", "b c d");
    row("labelSelector=app=web&fieldSelector=metadata.name=b", "b");
}

void tst_Contract::selectors()
{
    QFETCH(const QByteArray, query);
    static std::map<ContractServer *, QByteArray> spaces;
    QByteArray &space = spaces[&server()];
    if (space.isEmpty()) {
        space = server().newNamespace("selectors");
        const std::vector<std::pair<const char *, const char *>> labels{
            {"a", R"("app":"web","tier":"1")"}, {"b", R"("app":"web","tier":"2")"},
            {"c", R"("app":"db","tier":"3")"}, {"d", R"("empty":"")"}};
        for (const auto &[name, text] : labels)
            QCOMPARE(server()
                         .post(spaced(space, "secrets"),
                             R"({"metadata":{"name":")" + QByteArray(name) + R"(","labels":{)"
                                 + text + "}}}")
                         .code,
                201);
    }
    QByteArray encoded;
    for (const QByteArray &part : query.split('&')) {
        const qsizetype equals = part.indexOf('=');
        encoded += (encoded.isEmpty() ? "" : "&") + part.left(equals + 1)
            + percent(part.mid(equals + 1));
    }
    const ApiAnswer answer = server().get(spaced(space, "secrets?" + encoded));
    QCOMPARE(answer.code, 200);
    QTEST(names(answer).join(QLatin1Char(' ')), "found");
}

void tst_Contract::watchFromVersion()
{
    const QByteArray space = server().newNamespace("watch");
    const QByteArray maps = spaced(space, "secrets");
    const QByteArray start = version(server().get(maps)).toUtf8();
    server().post(maps, R"({"metadata":{"name":"early"}})");
    ApiWatch watch(
        server().address(), maps + "?watch=true&resourceVersion=" + start + "&timeoutSeconds=60");
    QVERIFY(watch.waitForCount(1));
    server().post(maps, R"({"metadata":{"name":"late"}})");
    server().patch(maps + "/late", kMerge, R"({"metadata":{"labels":{"l":"1"}}})");
    const ApiAnswer last = server().get(maps + "/late");
    server().remove(maps + "/late");
    QVERIFY(watch.waitForCount(4));
    QCOMPARE(watch.summary(),
        (QStringList{QStringLiteral("ADDED early"), QStringLiteral("ADDED late"),
            QStringLiteral("MODIFIED late"), QStringLiteral("DELETED late")}));
    const QJsonObject gone = watch.events().last()[QLatin1String("object")].toObject();
    QCOMPARE(gone[QLatin1String("kind")].toString(), QStringLiteral("Secret"));
    QCOMPARE(at(gone, "metadata.labels.l").toString(), QStringLiteral("1"));
    QVERIFY(at(gone, "metadata.resourceVersion").toString().toULongLong()
        > version(last).toULongLong());
    QCOMPARE(watch.code(), 200);
}

void tst_Contract::watchThroughSelector()
{
    const QByteArray space = server().newNamespace("selected");
    const QByteArray secrets = spaced(space, "secrets");
    const QByteArray start = version(server().get(secrets)).toUtf8();
    ApiWatch watch(server().address(),
        secrets + "?watch=true&labelSelector=on&timeoutSeconds=60&resourceVersion=" + start);
    server().post(secrets, R"({"metadata":{"name":"a"}})");
    server().patch(secrets + "/a", kMerge, R"({"metadata":{"labels":{"on":"1"}}})");
    server().patch(secrets + "/a", kMerge, R"({"metadata":{"labels":{"on":"2"}}})");
    const ApiAnswer out
        = server().patch(secrets + "/a", kMerge, R"({"metadata":{"labels":{"on":null}}})");
    QVERIFY(watch.waitForCount(3));
    QCOMPARE(watch.summary(),
        (QStringList{
            QStringLiteral("ADDED a"), QStringLiteral("MODIFIED a"), QStringLiteral("DELETED a")}));
    const QJsonObject left = watch.events().last()[QLatin1String("object")].toObject();
    QCOMPARE(at(left, "metadata.labels.on").toString(), QStringLiteral("2")); // as it was
    QCOMPARE(at(left, "metadata.resourceVersion").toString(), version(out)); // at the new version
}

void tst_Contract::watchOneNamespace()
{
    const QByteArray mine = server().newNamespace("mine");
    const QByteArray other = server().newNamespace("other");
    const QByteArray start = version(server().get(spaced(mine, "secrets"))).toUtf8();
    ApiWatch watch(server().address(),
        spaced(mine, "secrets?watch=1&timeoutSeconds=60&resourceVersion=" + start));
    ApiWatch named(server().address(),
        spaced(mine,
            "secrets?watch=1&timeoutSeconds=60&fieldSelector=metadata.name%3Db&resourceVersion="
                + start));
    server().post(spaced(other, "secrets"), R"({"metadata":{"name":"foreign"}})");
    server().post(spaced(mine, "secrets"), R"({"metadata":{"name":"a"}})");
    server().post(spaced(mine, "secrets"), R"({"metadata":{"name":"b"}})");
    QVERIFY(watch.waitForCount(2));
    QVERIFY(named.waitForCount(1));
    QCOMPARE(watch.summary(), (QStringList{QStringLiteral("ADDED a"), QStringLiteral("ADDED b")}));
    QCOMPARE(named.summary(), QStringList{QStringLiteral("ADDED b")});
}

void tst_Contract::syntheticAdded()
{
    const QByteArray space = server().newNamespace("synthetic");
    const QByteArray secrets = spaced(space, "secrets");
    server().post(secrets, R"({"metadata":{"name":"a"}})");
    ApiWatch unset(server().address(), secrets + "?watch=true&timeoutSeconds=60");
    QVERIFY(unset.waitForCount(1));
    ApiWatch zero(server().address(), secrets + "?watch=true&resourceVersion=0&timeoutSeconds=60");
    QVERIFY(zero.waitForCount(1));
    server().post(secrets, R"({"metadata":{"name":"b"}})");
    QVERIFY(unset.waitForCount(2));
    QVERIFY(zero.waitForCount(2));
    const QStringList want{QStringLiteral("ADDED a"), QStringLiteral("ADDED b")};
    QCOMPARE(unset.summary(), want);
    QCOMPARE(zero.summary(), want);
}

void tst_Contract::streamingList()
{
    const QByteArray space = server().newNamespace("stream");
    const QByteArray secrets = spaced(space, "secrets");
    for (const char *name : {"a", "b"})
        server().post(secrets, R"({"metadata":{"name":")" + QByteArray(name) + R"("}})");
    const QByteArray now = version(server().get(secrets)).toUtf8();
    for (const QByteArray &from : {QByteArray(), QByteArray("0"), now}) {
        ApiWatch watch(server().address(),
            secrets
                + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                  "&allowWatchBookmarks=true&timeoutSeconds=60&resourceVersion="
                + from);
        QVERIFY(watch.waitFor([](const QList<QJsonObject> &events) {
            return !events.isEmpty() && endsInitial(events.last());
        }));
        QCOMPARE(
            watch.summary(), (QStringList{QStringLiteral("ADDED a"), QStringLiteral("ADDED b")}));
        const QJsonObject mark = watch.events().last()[QLatin1String("object")].toObject();
        QCOMPARE(mark[QLatin1String("kind")].toString(), QStringLiteral("Secret"));
        QVERIFY(at(mark, "metadata.resourceVersion").toString().toULongLong() >= now.toULongLong());
        server().patch(
            secrets + "/a", kMerge, R"({"metadata":{"labels":{"l":")" + from + R"(x"}}})");
        QVERIFY(watch.waitFor([](const QList<QJsonObject> &seen) {
            return std::any_of(seen.begin(), seen.end(),
                [](const QJsonObject &event) { return isType(event, "MODIFIED"); });
        }));
    }
}

// Two seconds before the end, where a watch asked for bookmarks and there is something new to tell:
// the real server drops a bookmark that is no newer than the watch's first version.
void tst_Contract::bookmarkBeforeTheEnd()
{
    const QByteArray space = server().newNamespace("bookmark");
    const QByteArray secrets = spaced(space, "secrets");
    const QByteArray target = secrets
        + "?watch=true&timeoutSeconds=8&resourceVersion=" + version(server().get(secrets)).toUtf8();
    ApiWatch watch(server().address(), target + "&allowWatchBookmarks=true");
    ApiWatch without(server().address(), target);
    QVERIFY(QTest::qWaitFor([&] { return watch.code() == 200 && without.code() == 200; }));
    const ApiAnswer made = server().post(secrets, R"({"metadata":{"name":"a"}})");
    QVERIFY(watch.waitForEnd(30000));
    QVERIFY(without.waitForEnd(30000));
    const QList<QJsonObject> events = watch.events();
    QVERIFY(events.size() >= 2);
    QVERIFY(isType(events.first(), "ADDED"));
    QVERIFY(isType(events.last(), "BOOKMARK"));
    const QJsonObject mark = events.last()[QLatin1String("object")].toObject();
    QCOMPARE(mark[QLatin1String("kind")].toString(), QStringLiteral("Secret"));
    QVERIFY(at(mark, "metadata.resourceVersion").toString().toULongLong()
        >= version(made).toULongLong());
    QCOMPARE(without.events().size(), 1);
}

void tst_Contract::watchTooOld()
{
    const QByteArray space = server().newNamespace("old");
    QVERIFY(server().serveWidgets());
    server().forgetHistory();
    ApiWatch watch(server().address(),
        kWidgets + space + "/widgets?watch=true&resourceVersion=1&timeoutSeconds=30");
    QVERIFY(watch.waitForEnd());
    QCOMPARE(watch.code(), 200);
    QCOMPARE(watch.events().size(), 1);
    QVERIFY(isType(watch.events().first(), "ERROR"));
    const QJsonObject status = watch.events().first()[QLatin1String("object")].toObject();
    QCOMPARE(status[QLatin1String("code")].toInt(), 410);
    QCOMPARE(status[QLatin1String("reason")].toString(), QStringLiteral("Expired"));
    QVERIFY(status[QLatin1String("message")].toString().startsWith(
        QLatin1String("too old resource version: 1 (")));
}

void tst_Contract::mergePatch()
{
    const QByteArray space = server().newNamespace("merge");
    makeConfigMap(space, "a", R"("data":{"k":"1","l":"2"})");
    const ApiAnswer patched = server().patch(spaced(space, "configmaps/a"), kMerge,
        R"({"metadata":{"labels":{"x":"y"}},"data":{"l":null,"m":"3"}})");
    QCOMPARE(patched.code, 200);
    QCOMPARE(asJson(at(patched.json(), "data").toObject()), QByteArray(R"({"k":"1","m":"3"})"));
    QCOMPARE(text(patched, "metadata.labels.x"), QStringLiteral("y"));
}

void tst_Contract::jsonPatch()
{
    const QByteArray space = server().newNamespace("json");
    makeConfigMap(space, "a", R"("data":{"k":"1","l":"2"})");
    const ApiAnswer patched = server().patch(spaced(space, "configmaps/a"), kJsonPatch,
        R"([{"op":"test","path":"/data/k","value":"1"},{"op":"replace","path":"/data/k","value":"9"},{"op":"remove","path":"/data/l"}])");
    QCOMPARE(patched.code, 200);
    QCOMPARE(asJson(at(patched.json(), "data").toObject()), QByteArray(R"({"k":"9"})"));
}

void tst_Contract::strategicPatch()
{
    const QByteArray space = server().newNamespace("strategic");
    const QByteArray path = "/apis/apps/v1/namespaces/" + space + "/deployments";
    QCOMPARE(server().post(path, deployment("d")).code, 201);
    const ApiAnswer patched = server().patch(path + "/d", kStrategic,
        R"({"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"B","value":"2"}]},{"name":"s","image":"example/side:1"}]}}}})");
    QCOMPARE(patched.code, 200);
    QCOMPARE(
        text(patched, "spec.template.spec.containers.0.image"), QStringLiteral("example/app:1"));
    QStringList env;
    for (const auto &entry : at(patched.json(), "spec.template.spec.containers.0.env").toArray())
        env.append(entry.toObject()[QLatin1String("name")].toString());
    env.sort();
    QCOMPARE(env, (QStringList{QStringLiteral("A"), QStringLiteral("B")}));
    QCOMPARE(text(patched, "spec.template.spec.containers.1.name"), QStringLiteral("s"));
    const ApiAnswer removed = server().patch(path + "/d", kStrategic,
        R"({"spec":{"template":{"spec":{"containers":[{"name":"s","$patch":"delete"}]}}}})");
    QCOMPARE(at(removed.json(), "spec.template.spec.containers").toArray().size(), 1);
}

// Patches of wrong types, and what they make.
// NOLINTNEXTLINE(readability-function-size): a table
void tst_Contract::strategicShapes_data()
{
    QTest::addColumn<QByteArray>("target"); // in the namespace
    QTest::addColumn<QByteArray>("patch");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("message");
    const auto row = [](const QByteArray &target, const QByteArray &patch, int code,
                         const QString &message) {
        QTest::newRow((target + ' ' + patch).constData()) << target << patch << code << message;
    };
    const auto spoilt = [&row](const QByteArray &target, const QByteArray &patch, const char *asGo,
                            const char *why) {
        row(target, patch, 422,
            QStringLiteral(" \"\" is invalid: patch: Invalid value: \"%1\": %2")
                .arg(QLatin1StringView(asGo), QLatin1StringView(why)));
    };
    const QByteArray cm = "configmaps/a";
    const QString noMap
        = QStringLiteral("json: cannot unmarshal %1 into Go value of type map[string]interface {}");
    row(cm, "5", 400, noMap.arg(QStringLiteral("number")));
    row(cm, "\"x\"", 400, noMap.arg(QStringLiteral("string")));
    row(cm, "[]", 400, noMap.arg(QStringLiteral("array")));
    row(cm, "true", 400, noMap.arg(QStringLiteral("bool")));
    row(cm, "null", 200, {});
    row(cm, "{", 400, QStringLiteral("invalid JSON patch"));
    spoilt(cm, R"({"data":5})", "map[data:5]", "cannot restore map from int64");
    spoilt(cm, R"({"data":"x"})", "map[data:x]", "cannot restore map from string");
    spoilt(cm, R"({"data":["a"]})", "map[data:[a]]", "cannot restore map from slice");
    spoilt(cm, R"({"data":true})", "map[data:true]", "cannot restore map from bool");
    spoilt(cm, R"({"data":1.5})", "map[data:1.5]", "cannot restore map from float64");
    spoilt(cm, R"({"data":{"k":5}})", "map[data:map[k:5]]", "cannot convert int64 to string");
    spoilt(cm, R"({"data":{"k":{}}})", "map[data:map[k:map[]]]", "unrecognized type: string");
    spoilt(cm, R"({"data":{"k":true}})", "map[data:map[k:true]]", "unrecognized type: string");
    spoilt(cm, R"({"binaryData":{"a":1}})", "map[binaryData:map[a:1]]",
        "cannot restore slice from int64");
    spoilt(cm, R"({"binaryData":{"a":"!"}})", "map[binaryData:map[a:!]]",
        "error decoding from json: illegal base64 data at input byte 0");
    spoilt(cm, R"({"immutable":"x"})", "map[immutable:x]", "unrecognized type: bool");
    spoilt(cm, R"({"apiVersion":5})", "map[apiVersion:5]", "cannot convert int64 to string");
    const auto metadata = [&](const QByteArray &patch, const char *asGo, const char *why) {
        spoilt(cm, "{\"metadata\":" + patch + '}',
            ("map[metadata:" + QByteArray(asGo) + ']').constData(), why);
    };
    metadata("5", "5", "cannot restore struct from: int64");
    metadata("[]", "[]", "cannot restore struct from: slice");
    metadata(R"({"name":5})", "map[name:5]", "cannot convert int64 to string");
    metadata(R"({"labels":5})", "map[labels:5]", "cannot restore map from int64");
    metadata(R"({"labels":{"b":"c","a":1}})", "map[labels:map[a:1 b:c]]",
        "cannot convert int64 to string");
    metadata(R"({"finalizers":"x"})", "map[finalizers:x]", "cannot restore slice from string");
    metadata(R"({"finalizers":{}})", "map[finalizers:map[]]", "cannot restore slice from map");
    metadata(R"({"ownerReferences":["a"]})", "map[ownerReferences:[a]]",
        "cannot restore struct from: string");
    metadata(R"({"ownerReferences":[{"name":1}]})", "map[ownerReferences:[map[name:1]]]",
        "cannot convert int64 to string");
    metadata(R"({"ownerReferences":[{"uid":5}]})", "map[ownerReferences:[map[uid:5]]]",
        "cannot convert int64 to types.UID");
    metadata(R"({"generation":"x"})", "map[generation:x]", "unrecognized type: int64");
    metadata(R"({"creationTimestamp":5})", "map[creationTimestamp:5]",
        "json: cannot unmarshal number into Go value of type string");
    row(cm, R"({"metadata":{"finalizers":[1]}})", 500,
        QStringLiteral("list element types are not identical: [[a.b/c] [1]]"));
    row(cm, R"({"metadata":{"$deleteFromPrimitiveList/finalizers":5}})", 200, {});
    row(cm, R"({"metadata":{"$deleteFromPrimitiveList/finalizers":[5]}})", 500,
        QStringLiteral("list element types are not identical: [[a.b/c] [5]]"));
    row(cm, R"({"metadata":{"$setElementOrder/finalizers":5}})", 500,
        QStringLiteral("expected a []interface {}, but received a int64"));
    row(cm, R"({"metadata":{"$retainKeys":5}})", 400,
        QStringLiteral("invalid patch format of retainKeys"));
    row(cm, R"({"data":{"$patch":"x"}})", 500,
        QStringLiteral("unknown patch type: x in map: map[$patch:x]"));
    row(cm, R"({"$patch":5})", 500,
        QStringLiteral("unknown patch type: %!s(int64=5) in map: map[$patch:5]"));
    const QByteArray secret = "secrets/a";
    spoilt(secret, R"({"data":{"k":5}})", "map[data:map[k:5]]", "cannot restore slice from int64");
    spoilt(secret, R"({"stringData":{"k":5}})", "map[stringData:map[k:5]]",
        "cannot convert int64 to string");
    spoilt(secret, R"({"type":5})", "map[type:5]", "cannot convert int64 to v1.SecretType");
    const QByteArray service = "services/a"; // of the other kinds, metadata and the spec's own type
    spoilt(service, R"({"spec":5})", "map[spec:5]", "cannot restore struct from: int64");
    row(service, R"({"spec":{"ports":[{"name":"x"}]}})", 500,
        QStringLiteral("map: map[name:x] does not contain declared merge key: port"));
    row(service, R"({"spec":{"ports":[{"port":1,"$patch":"x"}]}})", 500,
        QStringLiteral("unknown patch type: x in map: map[$patch:x port:1]"));
}

void tst_Contract::strategicShapes()
{
    QFETCH(const QByteArray, target);
    QFETCH(const QByteArray, patch);
    QFETCH(const int, code);
    static std::map<ContractServer *, QByteArray> spaces;
    QByteArray &space = spaces[&server()];
    if (space.isEmpty()) {
        space = server().newNamespace("strategic-shapes");
        QCOMPARE(server()
                     .post(spaced(space, "configmaps"),
                         R"({"metadata":{"name":"a","finalizers":["a.b/c"]},"data":{"k":"1"}})")
                     .code,
            201);
        QCOMPARE(server().post(spaced(space, "secrets"), R"({"metadata":{"name":"a"}})").code, 201);
        QCOMPARE(server()
                     .post(spaced(space, "services"),
                         R"({"metadata":{"name":"a"},"spec":{"ports":[{"port":1}]}})")
                     .code,
            201);
    }
    const ApiAnswer answer
        = server().patch(spaced(space, target) + "?dryRun=All", kStrategic, patch);
    QVERIFY2(answer.code == code, answer.body.constData());
    if (code == 200)
        return;
    QTEST(answer.message(), "message");
    QCOMPARE(answer.reason(),
        code == 422       ? QStringLiteral("Invalid")
            : code == 400 ? QStringLiteral("BadRequest")
                          : QString());
}

void tst_Contract::applyPatch()
{
    const QByteArray space = server().newNamespace("apply");
    const QByteArray path = spaced(space, "configmaps/a?fieldManager=one");
    const ApiAnswer made
        = server().patch(path, kApply, configMap("a", R"("data":{"k":"1","l":"2"})"));
    QCOMPARE(made.code, 201);
    QCOMPARE(text(made, "metadata.managedFields.0.manager"), QStringLiteral("one"));
    QCOMPARE(text(made, "metadata.managedFields.0.operation"), QStringLiteral("Apply"));
    QVERIFY(at(made.json(), "metadata.managedFields.0.fieldsV1.f:data.f:k").isObject());
    const ApiAnswer again
        = server().patch(path, kApply, configMap("a", R"("data":{"k":"1","l":"2"})"));
    QCOMPARE(again.code, 200);
    QCOMPARE(version(again), version(made)); // nothing changed
    const ApiAnswer less = server().patch(
        path, kApply, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: '5'}\n");
    QCOMPARE(less.code, 200);
    QCOMPARE(asJson(at(less.json(), "data").toObject()), QByteArray(R"({"k":"5"})"));
}

void tst_Contract::applyConflict()
{
    const QByteArray space = server().newNamespace("conflict");
    const QByteArray one = spaced(space, "configmaps/a?fieldManager=one");
    const QByteArray two = spaced(space, "configmaps/a?fieldManager=two");
    server().patch(one, kApply, configMap("a", R"("data":{"k":"1","l":"2"})"));
    const ApiAnswer shared = server().patch(two, kApply, configMap("a", R"("data":{"k":"1"})"));
    QCOMPARE(shared.code, 200); // equal values are shared
    const ApiAnswer refused = server().patch(two, kApply, configMap("a", R"("data":{"k":"2"})"));
    QCOMPARE(refused.code, 409);
    QCOMPARE(refused.reason(), QStringLiteral("Conflict"));
    QCOMPARE(refused.message(),
        QStringLiteral("Apply failed with 1 conflict: conflict with \"one\": .data.k"));
    QCOMPARE(text(refused, "details.causes.0.reason"), QStringLiteral("FieldManagerConflict"));
    QCOMPARE(text(refused, "details.causes.0.field"), QStringLiteral(".data.k"));
    const ApiAnswer forced
        = server().patch(two + "&force=true", kApply, configMap("a", R"("data":{"k":"2"})"));
    QCOMPARE(forced.code, 200);
    QCOMPARE(text(forced, "data.k"), QStringLiteral("2"));
    QCOMPARE(text(forced, "data.l"), QStringLiteral("2")); // still the other's
    // A write that is no apply takes the field silently, and then conflicts under its own name.
    server().patch(
        spaced(space, "configmaps/a?fieldManager=three"), kMerge, R"({"data":{"k":"3"}})");
    const ApiAnswer against = server().patch(two, kApply, configMap("a", R"("data":{"k":"2"})"));
    QCOMPARE(against.code, 409);
    QVERIFY2(against.message().startsWith(
                 QLatin1String("Apply failed with 1 conflict: conflict with \"three\" using v1")),
        qPrintable(against.message()));
}

void tst_Contract::statusSubresource()
{
    const QByteArray space = server().newNamespace("status");
    QVERIFY(server().serveWidgets());
    const QByteArray path = kWidgets + space + "/widgets";
    const ApiAnswer made
        = server().post(path, widget("w", R"("spec":{"a":1},"status":{"s":"ignored"})"));
    QCOMPARE(made.code, 201);
    QVERIFY(!made.json().contains(QLatin1String("status")));
    QJsonObject both = made.json();
    both[QLatin1String("spec")] = QJsonObject{{QStringLiteral("a"), 2}};
    both[QLatin1String("status")] = QJsonObject{{QStringLiteral("s"), QStringLiteral("set")}};
    const ApiAnswer status = server().put(path + "/w/status", asJson(both));
    QCOMPARE(status.code, 200);
    QCOMPARE(text(status, "status.s"), QStringLiteral("set"));
    QCOMPARE(at(status.json(), "spec.a").toInt(), 1);
    QCOMPARE(at(status.json(), "metadata.generation").toInt(), 1);
    const ApiAnswer spec
        = server().patch(path + "/w", kMerge, R"({"spec":{"a":3},"status":{"s":"not"}})");
    QCOMPARE(at(spec.json(), "spec.a").toInt(), 3);
    QCOMPARE(text(spec, "status.s"), QStringLiteral("set"));
    QCOMPARE(at(spec.json(), "metadata.generation").toInt(), 2);
    const ApiAnswer patched = server().patch(path + "/w/status", kMerge, R"({"status":{"n":1}})");
    QCOMPARE(at(patched.json(), "status.n").toInt(), 1);
    QCOMPARE(server().get(spaced(space, "configmaps/a/status")).code, 404); // no such subresource
}

void tst_Contract::scaleSubresource()
{
    const QByteArray space = server().newNamespace("scale");
    const QByteArray path = "/apis/apps/v1/namespaces/" + space + "/deployments";
    server().post(path, deployment("d"));
    const ApiAnswer read = server().get(path + "/d/scale");
    QCOMPARE(read.code, 200);
    QCOMPARE(text(read, "kind"), QStringLiteral("Scale"));
    QCOMPARE(text(read, "apiVersion"), QStringLiteral("autoscaling/v1"));
    QCOMPARE(text(read, "status.selector"), QStringLiteral("app=x"));
    const ApiAnswer scaled
        = server().patch(path + "/d/scale", kMerge, R"({"spec":{"replicas":2}})");
    QCOMPARE(scaled.code, 200);
    QCOMPARE(at(scaled.json(), "spec.replicas").toInt(), 2);
    QCOMPARE(at(server().get(path + "/d").json(), "spec.replicas").toInt(), 2);
    const ApiAnswer negative
        = server().patch(path + "/d/scale", kMerge, R"({"spec":{"replicas":-1}})");
    QCOMPARE(negative.code, 422);
    QVERIFY(server().serveWidgets());
    const QByteArray widgets = kWidgets + space + "/widgets";
    server().post(widgets, widget("w", R"("spec":{"replicas":1})"));
    QCOMPARE(server().patch(widgets + "/w/scale", kMerge, R"({"spec":{"replicas":4}})").code, 200);
    QCOMPARE(at(server().get(widgets + "/w").json(), "spec.replicas").toInt(), 4);
}

void tst_Contract::generations()
{
    const QByteArray space = server().newNamespace("generation");
    const QByteArray path = "/apis/apps/v1/namespaces/" + space + "/deployments";
    const auto generation
        = [&](const ApiAnswer &answer) { return at(answer.json(), "metadata.generation").toInt(); };
    QCOMPARE(generation(server().post(path, deployment("d"))), 1);
    QCOMPARE(
        generation(server().patch(path + "/d", kMerge, R"({"metadata":{"labels":{"a":"b"}}})")), 1);
    QCOMPARE(generation(server().patch(path + "/d", kMerge, R"({"spec":{"paused":true}})")), 2);
    QVERIFY(!at(makeConfigMap(space, "a").json(), "metadata")
                 .toObject()
                 .contains(QLatin1String("generation")));
}

void tst_Contract::finalizers()
{
    const QByteArray space = server().newNamespace("finalizers");
    const QByteArray path = spaced(space, "configmaps/a");
    const ApiAnswer made = server().post(spaced(space, "configmaps"),
        R"({"metadata":{"name":"a","finalizers":["davit.dev/one","davit.dev/two"]}})");
    QCOMPARE(made.code, 201);
    const QByteArray start = version(made).toUtf8();
    const ApiAnswer removed = server().remove(path);
    QCOMPARE(removed.code, 200);
    QCOMPARE(text(removed, "kind"), QStringLiteral("ConfigMap"));
    QVERIFY(!text(removed, "metadata.deletionTimestamp").isEmpty());
    QCOMPARE(at(removed.json(), "metadata.deletionGracePeriodSeconds").toInt(-1), 0);
    QCOMPARE(text(server().remove(path), "metadata.deletionTimestamp"),
        text(removed, "metadata.deletionTimestamp"));
    const ApiAnswer more = server().patch(path, kMerge,
        R"({"metadata":{"finalizers":["davit.dev/one","davit.dev/two","davit.dev/three"]}})");
    QCOMPARE(more.code, 422);
    QVERIFY2(more.message().contains(QLatin1String(
                 "metadata.finalizers: Forbidden: no new finalizers can be added if the object is "
                 "being deleted, found new finalizers []string{\"davit.dev/three\"}")),
        qPrintable(more.message()));
    QCOMPARE(makeConfigMap(space, "a").code, 409); // still there
    QCOMPARE(
        server().patch(path, kMerge, R"({"metadata":{"finalizers":["davit.dev/two"]}})").code, 200);
    const ApiAnswer last = server().patch(path, kMerge, R"({"metadata":{"finalizers":null}})");
    QCOMPARE(last.code, 200);
    QCOMPARE(server().get(path).code, 404);
    ApiWatch watch(server().address(),
        spaced(space,
            "configmaps?watch=true&timeoutSeconds=30&fieldSelector=metadata.name%3Da&"
            "resourceVersion="
                + start));
    QVERIFY(watch.waitForCount(3));
    QCOMPARE(watch.summary(),
        (QStringList{QStringLiteral("MODIFIED a"), QStringLiteral("MODIFIED a"),
            QStringLiteral("DELETED a")}));
}

namespace {

// An owner, and a dependent that names it.
QByteArray owned(
    const QByteArray &name, const QString &ownerUid, const QByteArray &finalizers = "[]")
{
    return R"({"metadata":{"name":")" + name + R"(","finalizers":)" + finalizers
        + R"(,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":")"
        + ownerUid.toUtf8() + R"(","blockOwnerDeletion":true}]}})";
}

} // namespace

void tst_Contract::backgroundDeletion()
{
    const QByteArray space = server().newNamespace("background");
    const ApiAnswer owner = makeConfigMap(space, "owner");
    server().post(spaced(space, "configmaps"), owned("child", text(owner, "metadata.uid")));
    const ApiAnswer child = server().get(spaced(space, "configmaps/child"));
    server().post(spaced(space, "configmaps"),
        R"({"metadata":{"name":"grandchild","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"child","uid":")"
            + text(child, "metadata.uid").toUtf8() + R"("}]}})");
    QCOMPARE(text(server().remove(spaced(space, "configmaps/owner")), "status"),
        QStringLiteral("Success"));
    QVERIFY(server().waitForCode(spaced(space, "configmaps/child"), 404));
    QVERIFY(server().waitForCode(spaced(space, "configmaps/grandchild"), 404));
}

void tst_Contract::foregroundDeletion()
{
    const QByteArray space = server().newNamespace("foreground");
    const ApiAnswer owner = makeConfigMap(space, "owner");
    server().post(spaced(space, "configmaps"),
        owned("child", text(owner, "metadata.uid"), R"(["davit.dev/hold"])"));
    // The real collector learns of the child by its own watch; an owner that it believes childless
    // goes at once.
    if (!server().isEmbedded())
        QTest::qWait(2000);
    const ApiAnswer removed = server().remove(
        spaced(space, "configmaps/owner"), R"({"propagationPolicy":"Foreground"})");
    QCOMPARE(text(removed, "metadata.finalizers.0"), QStringLiteral("foregroundDeletion"));
    QVERIFY(QTest::qWaitFor(
        [&] {
            return !text(
                server().get(spaced(space, "configmaps/child")), "metadata.deletionTimestamp")
                        .isEmpty();
        },
        30000));
    QCOMPARE(server().get(spaced(space, "configmaps/owner")).code, 200); // waits for the child
    server().patch(
        spaced(space, "configmaps/child"), kMerge, R"({"metadata":{"finalizers":null}})");
    QVERIFY(server().waitForCode(spaced(space, "configmaps/owner"), 404));
}

void tst_Contract::orphans()
{
    const QByteArray space = server().newNamespace("orphans");
    const ApiAnswer owner = makeConfigMap(space, "owner");
    server().post(spaced(space, "configmaps"), owned("child", text(owner, "metadata.uid")));
    if (!server().isEmbedded())
        QTest::qWait(2000);
    QCOMPARE(server()
                 .remove(spaced(space, "configmaps/owner"), R"({"propagationPolicy":"Orphan"})")
                 .code,
        200);
    QVERIFY(server().waitForCode(spaced(space, "configmaps/owner"), 404));
    const ApiAnswer child = server().get(spaced(space, "configmaps/child"));
    QCOMPARE(child.code, 200);
    QVERIFY(at(child.json(), "metadata.ownerReferences").isUndefined());
}

void tst_Contract::danglingOwner()
{
    const QByteArray space = server().newNamespace("dangling");
    const ApiAnswer made = server().post(spaced(space, "configmaps"),
        owned("child", QStringLiteral("00000000-0000-4000-8000-000000000000")));
    QCOMPARE(made.code, 201);
    QVERIFY(server().waitForCode(spaced(space, "configmaps/child"), 404));
}

void tst_Contract::namespaceDeletion()
{
    const QByteArray space = server().newNamespace("gone");
    makeConfigMap(space, "a");
    const ApiAnswer removed = server().remove("/api/v1/namespaces/" + space);
    QCOMPARE(removed.code, 200);
    QCOMPARE(text(removed, "status.phase"), QStringLiteral("Terminating"));
    QVERIFY(server().waitForCode("/api/v1/namespaces/" + space, 404));
    QCOMPARE(server().get(spaced(space, "configmaps/a")).code, 404);
}

void tst_Contract::terminatingNamespace()
{
    const QByteArray space = server().newNamespace("terminating");
    server().post(spaced(space, "configmaps"),
        R"({"metadata":{"name":"held","finalizers":["davit.dev/hold"]}})");
    makeConfigMap(space, "free");
    server().remove("/api/v1/namespaces/" + space);
    QVERIFY(server().waitForCode(spaced(space, "configmaps/free"), 404));
    QCOMPARE(text(server().get("/api/v1/namespaces/" + space), "status.phase"),
        QStringLiteral("Terminating"));
    const ApiAnswer refused = makeConfigMap(space, "new");
    QCOMPARE(refused.code, 403);
    QCOMPARE(refused.message(),
        QStringLiteral("configmaps \"new\" is forbidden: unable to create new content in namespace "
                       "%1 because it is being terminated")
            .arg(QString::fromUtf8(space)));
    QCOMPARE(text(refused, "details.causes.0.reason"), QStringLiteral("NamespaceTerminating"));
    server().patch(spaced(space, "configmaps/held"), kMerge, R"({"metadata":{"finalizers":null}})");
    QVERIFY(server().waitForCode("/api/v1/namespaces/" + space, 404));
}

void tst_Contract::dryRun()
{
    const QByteArray space = server().newNamespace("dry");
    const QByteArray maps = spaced(space, "configmaps");
    const ApiAnswer made = server().post(maps + "?dryRun=All", configMap("a"));
    QCOMPARE(made.code, 201);
    QCOMPARE(text(made, "metadata.uid").size(), 36);
    QVERIFY(version(made).isEmpty());
    QCOMPARE(server().get(maps + "/a").code, 404);
    const ApiAnswer real = makeConfigMap(space, "a");
    const ApiAnswer patched
        = server().patch(maps + "/a?dryRun=All", kMerge, R"({"data":{"k":"2"}})");
    QCOMPARE(text(patched, "data.k"), QStringLiteral("2"));
    QCOMPARE(server().get(maps + "/a").json(), real.json());
    QCOMPARE(server().remove(maps + "/a?dryRun=All").code, 200);
    QCOMPARE(server().get(maps + "/a").code, 200);
}

void tst_Contract::secrets()
{
    const QByteArray space = server().newNamespace("secrets");
    const QByteArray path = spaced(space, "secrets/s");
    const ApiAnswer made = server().post(spaced(space, "secrets"),
        R"({"metadata":{"name":"s"},"data":{"a":"MQ=="},"stringData":{"b":"2"}})");
    QCOMPARE(made.code, 201);
    QCOMPARE(text(made, "type"), QStringLiteral("Opaque"));
    QCOMPARE(asJson(at(made.json(), "data").toObject()), QByteArray(R"({"a":"MQ==","b":"Mg=="})"));
    QVERIFY(!made.json().contains(QLatin1String("stringData")));
    const ApiAnswer type = server().patch(path, kMerge, R"({"type":"example.com/other"})");
    QCOMPARE(type.code, 422);
    QCOMPARE(type.message(),
        QStringLiteral("Secret \"s\" is invalid: type: Invalid value: \"example.com/other\": field "
                       "is immutable"));
    QCOMPARE(server().patch(path, kMerge, R"({"immutable":true})").code, 200);
    const ApiAnswer data = server().patch(path, kMerge, R"({"stringData":{"b":"3"}})");
    QCOMPARE(data.code, 422);
    QCOMPARE(data.message(),
        QStringLiteral("Secret \"s\" is invalid: data: Forbidden: field is immutable when "
                       "`immutable` is set"));
    const ApiAnswer back = server().patch(path, kMerge, R"({"immutable":false})");
    QCOMPARE(back.code, 422);
    QCOMPARE(back.message(),
        QStringLiteral("Secret \"s\" is invalid: immutable: Forbidden: field is immutable when "
                       "`immutable` is set"));
    QCOMPARE(server().patch(path, kMerge, R"({"metadata":{"labels":{"l":"1"}}})").code, 200);
    const ApiAnswer broken = server().post(
        spaced(space, "secrets"), R"({"metadata":{"name":"t"},"data":{"a":"***"}})");
    QCOMPARE(broken.code, 400);
    QVERIFY(broken.message().contains(QLatin1String("illegal base64 data at input byte 0")));
}

void tst_Contract::immutableConfigMap()
{
    const QByteArray space = server().newNamespace("immutable");
    QCOMPARE(makeConfigMap(space, "a", R"("immutable":true,"data":{"k":"1"})").code, 201);
    const ApiAnswer refused
        = server().patch(spaced(space, "configmaps/a"), kMerge, R"({"data":{"k":"2"}})");
    QCOMPARE(refused.code, 422);
    QCOMPARE(refused.message(),
        QStringLiteral("ConfigMap \"a\" is invalid: data: Forbidden: field is immutable when "
                       "`immutable` is set"));
    QCOMPARE(server().remove(spaced(space, "configmaps/a")).code, 200);
}

void tst_Contract::deleteCollection()
{
    const QByteArray space = server().newNamespace("many");
    const QByteArray secrets = spaced(space, "secrets");
    for (const char *name : {"a", "b", "c"})
        server().post(secrets,
            R"({"metadata":{"name":")" + QByteArray(name) + R"(","labels":{"n":")" + name
                + R"("}}})");
    const ApiAnswer removed = server().remove(secrets + "?labelSelector=" + percent("n in (a,b)"));
    QCOMPARE(removed.code, 200);
    QCOMPARE(names(removed), (QStringList{QStringLiteral("a"), QStringLiteral("b")}));
    QCOMPARE(names(server().get(secrets)), QStringList{QStringLiteral("c")});
}

void tst_Contract::metadataOnly()
{
    const QByteArray space = server().newNamespace("partial");
    const QByteArray secrets = spaced(space, "secrets");
    server().post(secrets, R"({"metadata":{"name":"a"},"stringData":{"k":"1"}})");
    const QByteArray one = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    const QByteArray list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    const ApiAnswer read = server().get(secrets + "/a", one);
    QCOMPARE(text(read, "kind"), QStringLiteral("PartialObjectMetadata"));
    QCOMPARE(text(read, "apiVersion"), QStringLiteral("meta.k8s.io/v1"));
    QCOMPARE(text(read, "metadata.name"), QStringLiteral("a"));
    QVERIFY(!read.json().contains(QLatin1String("data")));
    const ApiAnswer all = server().get(secrets, list);
    QCOMPARE(text(all, "kind"), QStringLiteral("PartialObjectMetadataList"));
    QCOMPARE(names(all), QStringList{QStringLiteral("a")});
    QVERIFY(!at(all.json(), "items.0").toObject().contains(QLatin1String("data")));
    ApiWatch watch(
        server().address(), secrets + "?watch=true&timeoutSeconds=30&resourceVersion=0", one);
    QVERIFY(watch.waitForCount(1));
    const QJsonObject object = watch.events().first()[QLatin1String("object")].toObject();
    QCOMPARE(object[QLatin1String("kind")].toString(), QStringLiteral("PartialObjectMetadata"));
    QVERIFY(!object.contains(QLatin1String("data")));
}

void tst_Contract::tables()
{
    const QByteArray space = server().newNamespace("tables");
    server().post(spaced(space, "secrets"), R"({"metadata":{"name":"a"},"stringData":{"k":"1"}})");
    const ApiAnswer table
        = server().get(spaced(space, "secrets"), "application/json;as=Table;g=meta.k8s.io;v=v1");
    QCOMPARE(text(table, "kind"), QStringLiteral("Table"));
    QStringList columns;
    for (const auto &column : at(table.json(), "columnDefinitions").toArray())
        columns.append(column.toObject()[QLatin1String("name")].toString());
    QCOMPARE(columns,
        (QStringList{QStringLiteral("Name"), QStringLiteral("Type"), QStringLiteral("Data"),
            QStringLiteral("Age")}));
    QCOMPARE(text(table, "rows.0.cells.0"), QStringLiteral("a"));
    QCOMPARE(text(table, "rows.0.cells.1"), QStringLiteral("Opaque"));
    QCOMPARE(at(table.json(), "rows.0.cells.2").toInt(), 1);
    QCOMPARE(text(table, "rows.0.object.kind"), QStringLiteral("PartialObjectMetadata"));
}

void tst_Contract::discovery()
{
    QCOMPARE(text(server().get("/api"), "versions.0"), QStringLiteral("v1"));
    const ApiAnswer core = server().get("/api/v1");
    QCOMPARE(text(core, "kind"), QStringLiteral("APIResourceList"));
    QCOMPARE(text(core, "groupVersion"), QStringLiteral("v1"));
    QStringList resources;
    for (const auto &entry : at(core.json(), "resources").toArray())
        resources.append(entry.toObject()[QLatin1String("name")].toString());
    for (const char *name : {"configmaps", "secrets", "namespaces", "pods", "pods/status",
             "services", "serviceaccounts", "events"})
        QVERIFY2(resources.contains(QLatin1String(name)), name);
    QCOMPARE(text(server().get("/apis/apps"), "preferredVersion.groupVersion"),
        QStringLiteral("apps/v1"));
    const ApiAnswer aggregated = server().get(
        "/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    QCOMPARE(text(aggregated, "kind"), QStringLiteral("APIGroupDiscoveryList"));
    QCOMPARE(server().get("/apis/no.such.group/v1").code, 404);
    QCOMPARE(text(server().get("/version"), "minor"), QStringLiteral("37"));
}

void tst_Contract::leasesAndEvents()
{
    const QByteArray space = server().newNamespace("leases");
    const QByteArray leases = "/apis/coordination.k8s.io/v1/namespaces/" + space + "/leases";
    const ApiAnswer lease = server().post(leases,
        R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"a","leaseDurationSeconds":15,"renewTime":"2026-01-01T00:00:00.000000Z"}})");
    QCOMPARE(lease.code, 201);
    QCOMPARE(text(lease, "spec.renewTime"), QStringLiteral("2026-01-01T00:00:00.000000Z"));
    const ApiAnswer event = server().post(spaced(space, "events"),
        R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p","namespace":")"
            + space + R"("},"reason":"Tested","message":"m","type":"Normal"})");
    QCOMPARE(event.code, 201);
    QCOMPARE(names(server().get(spaced(space, "events?fieldSelector=involvedObject.name%3Dp"))),
        QStringList{QStringLiteral("e")});
}

QTEST_GUILESS_MAIN(tst_Contract)
#include "tst_contract.moc"
