// What is refused, and in which words.
#include "tst_contract.h"

#include <QFile>

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
    row("number for a time", "POST", "/apis/coordination.k8s.io/v1/namespaces/SPACE/leases",
        R"({"metadata":{"name":"x"},"spec":{"renewTime":5}})", json, 400, "BadRequest",
        "Lease in version \"v1\" cannot be handled as a Lease: json: cannot unmarshal number into "
        "Go struct field LeaseSpec.spec.renewTime of type string");
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

void tst_Contract::leaseTimes_data()
{
    QTest::addColumn<QString>("time");
    QTest::addColumn<QString>("fault"); // behind "parsing time …"; empty: it is accepted
    const auto at = [](const char *rest, const char *part) {
        return QStringLiteral(
            " as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"%1\" as \"%2\"")
            .arg(QLatin1String(rest), QLatin1String(part));
    };
    const QHash<QString, QString> faults{
        {QStringLiteral("2026-01-02T03:04:05Z"), at("Z", ".000000")},
        {QStringLiteral("2026-01-02T03:04:05.123Z"), at(".123Z", ".000000")},
        {QStringLiteral("2026-01-02T03:04:05.123456789Z"), at("789Z", "Z07:00")},
        {QStringLiteral("2026-01-02T03:04:05.123456z"), at("z", "Z07:00")},
        {QStringLiteral("2026-01-02 03:04:05Z"), at(" 03:04:05Z", "T")},
        {QStringLiteral("20260102T030405.122Z"), at("0102T030405.122Z", "-")},
        {QStringLiteral("2026-01-02T03:04:60.000000Z"), QStringLiteral(": second out of range")}};
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B44-microtime.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonDocument story = QJsonDocument::fromJson(file.readAll());
    for (const QJsonValue &row : story[QLatin1String("serverAccepts")].toArray()) {
        const QString time = row[QLatin1String("text")].toString();
        QCOMPARE(faults.contains(time), !row[QLatin1String("ok")].toBool());
        QTest::addRow("B44 %s", qPrintable(time)) << time << faults[time];
    }
    const auto row = [](const char *time, const QString &fault) {
        QTest::addRow("B44 \"%s\"", time) << QString::fromLatin1(time) << fault;
    };
    row("2026-02-29T03:04:05.000000Z", QStringLiteral(": day out of range"));
    row("2026-13-01T03:04:05.000000Z", QStringLiteral(": month out of range"));
    row("2026-01-02T24:04:05.000000Z", QStringLiteral(": hour out of range"));
    row("2026-01-02T03:04:05.000000Z!", QStringLiteral(": extra text: \"!\""));
    row("2026-01-02T03:04:05.000000+0200", at("+0200", "Z07:00"));
    row("", at("", "2006"));
}

// In a Lease, whichever way it is written; it is read back in UTC.
void tst_Contract::leaseTimes()
{
    QFETCH(const QString, time);
    QFETCH(const QString, fault);
    const QByteArray space = server().newNamespace("times");
    const QByteArray leases = "/apis/coordination.k8s.io/v1/namespaces/" + space + "/leases";
    const QByteArray spec = R"("spec":{"renewTime":")" + time.toUtf8() + R"("})";
    const ApiAnswer made = server().post(leases, R"({"metadata":{"name":"l"},)" + spec + '}');
    server().post(leases, R"({"metadata":{"name":"m"}})");
    const ApiAnswer patched = server().patch(leases + "/m", kMerge, '{' + spec + '}');
    if (fault.isEmpty()) {
        const QString written = time == QLatin1String("2026-01-02T03:04:05.123456+02:00")
            ? QStringLiteral("2026-01-02T01:04:05.123456Z")
            : time;
        for (const ApiAnswer &answer : {made, patched, server().get(leases + "/l")})
            QCOMPARE(text(answer, "spec.renewTime"), written);
        return;
    }
    const QString sentence = QStringLiteral("parsing time \"%1\"").arg(time) + fault;
    QCOMPARE(made.code, 400);
    QCOMPARE(made.message(),
        QStringLiteral("Lease in version \"v1\" cannot be handled as a Lease: ") + sentence);
    QCOMPARE(patched.code, 422);
    QVERIFY2(patched.message().endsWith(sentence), qPrintable(patched.message()));
    const ApiAnswer strategic = server().patch(leases + "/m", kStrategic, '{' + spec + '}');
    QCOMPARE(strategic.code, 422);
    QVERIFY2(strategic.message().endsWith(sentence), qPrintable(strategic.message()));
    const ApiAnswer applied = server().patch(leases + "/m?fieldManager=f", kApply,
        R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)" + spec + '}');
    QCOMPARE(applied.code, 500);
    QVERIFY2(applied.message().endsWith(sentence), qPrintable(applied.message()));
}
