#include <support/apply.h>

#include <QTest>

using namespace davit::support;

class tst_Apply : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void sequences_data();
    void sequences();
    void fieldsV1RoundTrip();
    void printedPaths();
};

namespace {

FieldWriter writer(const std::string &manager, const std::string &kind)
{
    return {manager, "v1", "", "2026-01-01T00:00:00Z", kind};
}

// Who owns what, as "apply:a{…} update:b{…}" with FieldsV1 inside.
QByteArray owners(const Json &object)
{
    QByteArray text;
    const Json *metadata = objectMember(object, "metadata");
    const Json *list = metadata ? arrayMember(*metadata, "managedFields") : nullptr;
    for (const Json &entry : list ? *list : Json::array())
        text += (text.isEmpty() ? "" : " ") + toByteArray(stringMember(entry, "operation")) + ':'
            + toByteArray(stringMember(entry, "manager")) + dumpJson(entry["fieldsV1"]);
    return text;
}

QByteArray withoutBookkeeping(Json object)
{
    if (object.contains("metadata")) {
        object["metadata"].erase("managedFields");
        if (object["metadata"].empty())
            object.erase("metadata");
    }
    return dumpJson(object);
}

} // namespace

// `steps`, one a line: "apply NAME CONFIG", "force NAME CONFIG" or "update NAME OBJECT"
// (managedFields left out).
// NOLINTNEXTLINE(readability-function-size): a table
void tst_Apply::sequences_data()
{
    QTest::addColumn<QByteArray>("kind");
    QTest::addColumn<QByteArray>("steps");
    QTest::addColumn<QByteArray>("object");
    QTest::addColumn<QByteArray>("ownership");
    QTest::addColumn<QByteArray>("conflict"); // of the last step
    const auto row = [](const char *name, const char *kind, const char *steps, const char *object,
                         const char *ownership, const char *conflict = "") {
        QTest::newRow(name) << QByteArray(kind) << QByteArray(steps) << QByteArray(object)
                            << QByteArray(ownership) << QByteArray(conflict);
    };
    row("E-32 created when absent", "ConfigMap", R"(apply a {"data":{"x":"1"}})",
        R"({"data":{"x":"1"}})", R"(Apply:a{"f:data":{"f:x":{}}})");
    row("E-32 no longer sent: removed", "ConfigMap",
        "apply a {\"data\":{\"x\":\"1\",\"y\":\"2\"}}\napply a {\"data\":{\"y\":\"2\"}}",
        R"({"data":{"y":"2"}})", R"(Apply:a{"f:data":{"f:y":{}}})");
    row("E-32 no longer sent but shared: stays", "ConfigMap",
        "apply a {\"data\":{\"x\":\"1\"}}\napply b {\"data\":{\"x\":\"1\"}}\napply a "
        "{\"data\":{\"z\":\"3\"}}",
        R"({"data":{"x":"1","z":"3"}})",
        R"(Apply:a{"f:data":{"f:z":{}}} Apply:b{"f:data":{"f:x":{}}})");
    row("E-32 the last member takes its map away", "ConfigMap",
        "apply a {\"data\":{\"x\":\"1\"},\"immutable\":false}\napply a {\"immutable\":false}",
        R"({"immutable":false})", R"(Apply:a{"f:immutable":{}})");
    row("E-32 another value is a conflict", "ConfigMap",
        "apply a {\"data\":{\"x\":\"1\"}}\napply b {\"data\":{\"x\":\"2\"}}",
        R"({"data":{"x":"1"}})", R"(Apply:a{"f:data":{"f:x":{}}})", R"("a" .data.x)");
    row("E-32 forced: mine alone", "ConfigMap",
        "apply a {\"data\":{\"x\":\"1\",\"k\":\"0\"}}\nforce b {\"data\":{\"x\":\"2\"}}",
        R"({"data":{"x":"2","k":"0"}})",
        R"(Apply:a{"f:data":{"f:k":{}}} Apply:b{"f:data":{"f:x":{}}})");
    row("E-33 an update takes what it changed", "ConfigMap",
        "apply a {\"data\":{\"x\":\"1\",\"k\":\"0\"}}\nupdate u "
        "{\"data\":{\"x\":\"2\",\"k\":\"0\"}}",
        R"({"data":{"x":"2","k":"0"}})",
        R"(Apply:a{"f:data":{"f:k":{}}} Update:u{"f:data":{"f:x":{}}})");
    row("E-33 after an update: conflict with it", "ConfigMap",
        "update u {\"data\":{\"x\":\"2\"}}\napply a {\"data\":{\"x\":\"1\"}}",
        R"({"data":{"x":"2"}})", R"(Update:u{"f:data":{"f:x":{}}})",
        R"("u" using v1 at 2026-01-01T00:00:00Z .data.x)");
    row("an update removes a field from everyone", "ConfigMap",
        "apply a {\"data\":{\"x\":\"1\",\"k\":\"0\"}}\nupdate u {\"data\":{\"k\":\"0\"}}",
        R"({"data":{"k":"0"}})", R"(Apply:a{"f:data":{"f:k":{}}})");
    row("containers are one by one", "Pod",
        "apply a {\"spec\":{\"containers\":[{\"name\":\"m\",\"image\":\"1\"}]}}\n"
        "apply b {\"spec\":{\"containers\":[{\"name\":\"s\",\"image\":\"2\"}]}}\n"
        "apply a {\"spec\":{\"containers\":[{\"name\":\"n\",\"image\":\"3\"}]}}",
        R"({"spec":{"containers":[{"name":"s","image":"2"},{"name":"n","image":"3"}]}})",
        R"(Apply:a{"f:spec":{"f:containers":{"k:{\"name\":\"n\"}":{".":{},"f:image":{},"f:name":{}}}}} Apply:b{"f:spec":{"f:containers":{"k:{\"name\":\"s\"}":{".":{},"f:image":{},"f:name":{}}}}})");
    row("a port without protocol is TCP", "Service",
        "apply a {\"spec\":{\"ports\":[{\"port\":80}]}}\napply b "
        "{\"spec\":{\"ports\":[{\"port\":80,\"protocol\":\"TCP\"}]}}",
        R"({"spec":{"ports":[{"port":80,"protocol":"TCP"}]}})",
        R"(Apply:a{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}} Apply:b{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:protocol":{}}}}})");
    row("lists of a custom resource are atomic", "",
        "apply a {\"spec\":{\"containers\":[{\"name\":\"m\"}]}}\napply b "
        "{\"spec\":{\"containers\":[{\"name\":\"s\"}]}}",
        R"({"spec":{"containers":[{"name":"m"}]}})", R"(Apply:a{"f:spec":{"f:containers":{}}})",
        R"("a" .spec.containers)");
    row("finalizers are a set", "",
        "apply a {\"metadata\":{\"finalizers\":[\"x\"]}}\napply b "
        "{\"metadata\":{\"finalizers\":[\"y\"]}}\napply a {\"spec\":1}",
        R"({"metadata":{"finalizers":["y"]},"spec":1})",
        R"(Apply:a{"f:spec":{}} Apply:b{"f:metadata":{"f:finalizers":{"v:\"y\"":{}}}})");
    row("the server's own metadata has no owner", "ConfigMap",
        R"(apply a {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n","namespace":"d","labels":{"l":"1"}}})",
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n","namespace":"d","labels":{"l":"1"}}})",
        R"(Apply:a{"f:metadata":{"f:labels":{"f:l":{}}}})");
    row("null says nothing", "ConfigMap", R"(apply a {"data":{"x":"1","y":null}})",
        R"({"data":{"x":"1"}})", R"(Apply:a{"f:data":{"f:x":{}}})");
}

void tst_Apply::sequences()
{
    QFETCH(const QByteArray, kind);
    QFETCH(const QByteArray, steps);
    Json live;
    QByteArray conflict;
    for (const QByteArray &step : steps.split('\n')) {
        const qsizetype first = step.indexOf(' ');
        const qsizetype second = step.indexOf(' ', first + 1);
        const QByteArray what = step.left(first);
        const FieldWriter by
            = writer(toStdString(step.mid(first + 1, second - first - 1)), toStdString(kind));
        Json body;
        QString error;
        QVERIFY2(parseJson(step.mid(second + 1), &body, &error), qPrintable(error));
        conflict.clear();
        if (what == "update") {
            recordUpdate(live, body, by);
            live = body;
            continue;
        }
        ApplyOutcome outcome = applyTree(live, body, by, what == "force");
        for (const ApplyConflict &one : outcome.conflicts)
            conflict += toByteArray(one.manager + " " + one.field);
        if (outcome.conflicts.empty())
            live = outcome.object;
    }
    QTEST(withoutBookkeeping(live), "object");
    QTEST(owners(live), "ownership");
    QTEST(conflict, "conflict");
}

void tst_Apply::fieldsV1RoundTrip()
{
    const QByteArray text
        = R"({"f:metadata":{"f:finalizers":{"v:\"a\"":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"m\"}":{".":{},"f:image":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{}}}}}}})";
    Json fields;
    QString error;
    QVERIFY(parseJson(text, &fields, &error));
    QCOMPARE(dumpJson(FieldSet::fromFieldsV1(fields).toFieldsV1()), text);
}

void tst_Apply::printedPaths()
{
    QCOMPARE(printedPath({"f:spec", "f:containers", "k:{\"name\":\"m\"}", "f:image"}),
        std::string(".spec.containers[name=\"m\"].image"));
}

QTEST_GUILESS_MAIN(tst_Apply)
#include "tst_apply.moc"
