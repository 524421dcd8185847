// Patches, apply, subresources, and what writes leave behind.
#include "tst_contract.h"

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
