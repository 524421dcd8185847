#include <support/gotext.h>
#include <support/json.h>
#include <support/patch.h>

#include <QTest>

using namespace davit::support;
Q_DECLARE_METATYPE(davit::support::PatchFault)

class tst_Patch : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void merge_data();
    void merge();
    void json_data();
    void json();
    void goText_data();
    void goText();
    void strategic_data();
    void strategic();
    void between_data();
    void between();
    void faults_data();
    void faults();
    void keepsNumbersAndOrder();
};

namespace {

// Both texts as trees: the order of members does not count.
bool isSameJson(const QByteArray &a, const QByteArray &b)
{
    const auto sorted = [](const QByteArray &text) {
        return nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    };
    return sorted(a) == sorted(b);
}

#define COMPARE_JSON(actual, expected)                                                             \
    QVERIFY2(                                                                                      \
        isSameJson(actual, expected), qPrintable(QString::fromUtf8(actual + " != " + expected)))

void patchColumns()
{
    QTest::addColumn<QByteArray>("document");
    QTest::addColumn<QByteArray>("patch");
    QTest::addColumn<QByteArray>("want");
}

} // namespace

// The table of RFC 7386, appendix A.
void tst_Patch::merge_data()
{
    patchColumns();
    const auto row = [](const char *document, const char *patch, const char *want) {
        QTest::addRow("%s + %s", document, patch)
            << QByteArray(document) << QByteArray(patch) << QByteArray(want);
    };
    row(R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})");
    row(R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})");
    row(R"({"a":"b"})", R"({"a":null})", R"({})");
    row(R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})");
    row(R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})");
    row(R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})");
    row(R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})");
    row(R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})");
    row(R"(["a","b"])", R"(["c","d"])", R"(["c","d"])");
    row(R"({"a":"b"})", R"(["c"])", R"(["c"])");
    row(R"({"a":"foo"})", R"(null)", R"(null)");
    row(R"({"a":"foo"})", R"("bar")", R"("bar")");
    row(R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})");
    row(R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})");
    row(R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})");
}

void tst_Patch::merge()
{
    QFETCH(const QByteArray, document);
    QFETCH(const QByteArray, patch);
    QFETCH(const QByteArray, want);
    const PatchResult result = mergePatch(document, patch);
    QCOMPARE(result.message, QString());
    COMPARE_JSON(result.json, want);
}

// The table of RFC 6902, appendix A, and what people trip over.
void tst_Patch::json_data()
{
    patchColumns();
    const auto row
        = [](const char *name, const char *document, const char *patch, const char *want) {
              QTest::newRow(name) << QByteArray(document) << QByteArray(patch) << QByteArray(want);
          };
    row("A.1 add a member", R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])",
        R"({"baz":"qux","foo":"bar"})");
    row("A.2 add an element", R"({"foo":["bar","baz"]})",
        R"([{"op":"add","path":"/foo/1","value":"qux"}])", R"({"foo":["bar","qux","baz"]})");
    row("A.3 remove a member", R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])",
        R"({"foo":"bar"})");
    row("A.4 remove an element", R"({"foo":["bar","qux","baz"]})",
        R"([{"op":"remove","path":"/foo/1"}])", R"({"foo":["bar","baz"]})");
    row("A.5 replace", R"({"baz":"qux","foo":"bar"})",
        R"([{"op":"replace","path":"/baz","value":"boo"}])", R"({"baz":"boo","foo":"bar"})");
    row("A.6 move a value", R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
        R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])",
        R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})");
    row("A.7 move an element", R"({"foo":["all","grass","cows","eat"]})",
        R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])",
        R"({"foo":["all","cows","eat","grass"]})");
    row("A.8 test that holds", R"({"baz":"qux","foo":["a",2,"c"]})",
        R"([{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}])",
        R"({"baz":"qux","foo":["a",2,"c"]})");
    row("A.10 add a nested member", R"({"foo":"bar"})",
        R"([{"op":"add","path":"/child","value":{"grandchild":{}}}])",
        R"({"foo":"bar","child":{"grandchild":{}}})");
    row("A.11 unknown members are ignored", R"({"foo":"bar"})",
        R"([{"op":"add","path":"/baz","value":"qux","xyz":123}])", R"({"foo":"bar","baz":"qux"})");
    row("A.14 escapes", R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":10}])",
        R"({"/":9,"~1":10})");
    row("A.16 append", R"({"foo":["bar"]})",
        R"([{"op":"add","path":"/foo/-","value":["abc","def"]}])",
        R"({"foo":["bar",["abc","def"]]})");
    row("copy", R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a/b","path":"/c"}])",
        R"({"a":{"b":1},"c":1})");
    row("annotation with a slash", R"({"metadata":{"annotations":{"a.b/c":"1"}}})",
        R"([{"op":"replace","path":"/metadata/annotations/a.b~1c","value":"2"}])",
        R"({"metadata":{"annotations":{"a.b/c":"2"}}})");
    row("no operation", R"({"a":1})", "[]", R"({"a":1})");
}

void tst_Patch::json()
{
    QFETCH(const QByteArray, document);
    QFETCH(const QByteArray, patch);
    QFETCH(const QByteArray, want);
    const PatchResult result = jsonPatch(document, patch);
    QCOMPARE(result.message, QString());
    COMPARE_JSON(result.json, want);
}

void tst_Patch::goText_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("text"); // as fmt.Sprintf("%v") gives it
    const auto row = [](const char *json, const char *text) {
        QTest::newRow(json) << QByteArray(json) << QString::fromLatin1(text);
    };
    row("null", "<nil>");
    row("true", "true");
    row("-5", "-5");
    row("1.5", "1.5");
    row("1.0", "1");
    row("1e20", "100000000000000000000");
    row("1e21", "1e+21");
    row("0.0001", "0.0001");
    row("0.00001", "1e-05");
    row("\"a b\"", "a b");
    row("[]", "[]");
    row("[1,\"a\",null,[2]]", "[1 a <nil> [2]]");
    row("[\"\",\"a\"]", "[ a]");
    row("{}", "map[]");
    row(R"({"b":{"x":[1]},"a":"y"})", "map[a:y b:map[x:[1]]]");
}

void tst_Patch::goText()
{
    QFETCH(const QByteArray, json);
    Json tree;
    QString error;
    QVERIFY2(parseJson(json, &tree, &error), qPrintable(error));
    QTEST(QString::fromStdString(davit::support::goText(tree)), "text");
}

void tst_Patch::strategic_data()
{
    QTest::addColumn<QByteArray>("kind");
    patchColumns();
    const auto row = [](const char *name, const char *kind, const char *document, const char *patch,
                         const char *want) {
        QTest::newRow(name) << QByteArray(kind) << QByteArray(document) << QByteArray(patch)
                            << QByteArray(want);
    };
    row("containers merge by name", "Pod",
        R"({"spec":{"containers":[{"name":"a","image":"1","env":[{"name":"X","value":"1"}]},{"name":"b","image":"2"}]}})",
        R"({"spec":{"containers":[{"name":"a","image":"3","env":[{"name":"Y","value":"2"}]}]}})",
        R"({"spec":{"containers":[{"name":"a","image":"3","env":[{"name":"X","value":"1"},{"name":"Y","value":"2"}]},{"name":"b","image":"2"}]}})");
    row("an item is deleted", "Pod", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
        R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})",
        R"({"spec":{"containers":[{"name":"b"}]}})");
    row("a list is replaced", "Pod", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
        R"({"spec":{"containers":[{"name":"c"},{"$patch":"replace"}]}})",
        R"({"spec":{"containers":[{"name":"c"}]}})");
    row("a map is replaced", "Deployment",
        R"({"spec":{"strategy":{"type":"A","rollingUpdate":{"x":1}}}})",
        R"({"spec":{"strategy":{"$patch":"replace","type":"B"}}})",
        R"({"spec":{"strategy":{"type":"B"}}})");
    row("a map is deleted", "Deployment", R"({"spec":{"strategy":{"type":"A"},"replicas":1}})",
        R"({"spec":{"strategy":{"$patch":"delete"}}})", R"({"spec":{"replicas":1}})");
    row("$retainKeys", "Deployment",
        R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"x":1}}}})",
        R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})",
        R"({"spec":{"strategy":{"type":"Recreate"}}})");
    row("null removes", "ConfigMap", R"({"data":{"a":"1","b":"2"}})", R"({"data":{"a":null}})",
        R"({"data":{"b":"2"}})");
    row("container ports by number", "Pod",
        R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"x"}]}]}})",
        R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"y"},{"containerPort":81}]}]}})",
        R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"y"},{"containerPort":81}]}]}})");
    row("service ports by port", "Service", R"({"spec":{"ports":[{"port":80,"targetPort":1}]}})",
        R"({"spec":{"ports":[{"port":80,"targetPort":2}]}})",
        R"({"spec":{"ports":[{"port":80,"targetPort":2}]}})");
    row("args are atomic", "Pod", R"({"spec":{"containers":[{"name":"a","args":["1","2"]}]}})",
        R"({"spec":{"containers":[{"name":"a","args":["3"]}]}})",
        R"({"spec":{"containers":[{"name":"a","args":["3"]}]}})");
    row("finalizers are a set", "Pod", R"({"metadata":{"finalizers":["a"]}})",
        R"({"metadata":{"finalizers":["a","b"]}})", R"({"metadata":{"finalizers":["a","b"]}})");
    row("$deleteFromPrimitiveList", "Pod", R"({"metadata":{"finalizers":["a","b"]}})",
        R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}})",
        R"({"metadata":{"finalizers":["b"]}})");
    row("$setElementOrder", "Pod", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
        R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"c"},{"name":"a"}],"containers":[{"name":"c"}]}})",
        R"({"spec":{"containers":[{"name":"b"},{"name":"c"},{"name":"a"}]}})");
    row("conditions by type", "Pod",
        R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})",
        R"({"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"X","status":"True"}]}})",
        R"({"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"X","status":"True"}]}})");
    row("a new map drops its nulls", "ConfigMap", R"({})", R"({"data":{"a":"1","b":null}})",
        R"({"data":{"a":"1"}})");
}

void tst_Patch::strategic()
{
    QFETCH(const QByteArray, kind);
    QFETCH(const QByteArray, document);
    QFETCH(const QByteArray, patch);
    QFETCH(const QByteArray, want);
    const PatchResult result = strategicMergePatch(document, patch, kind);
    QCOMPARE(result.message, QString());
    COMPARE_JSON(result.json, want);
}

void tst_Patch::between_data()
{
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    QTest::addColumn<QByteArray>("patch");
    const auto row
        = [](const char *name, const char *before, const char *after, const char *patch) {
              QTest::newRow(name) << QByteArray(before) << QByteArray(after) << QByteArray(patch);
          };
    row("equal", R"({"a":1,"b":[1]})", R"({"b":[1],"a":1})", "{}");
    row("changed, removed, new", R"({"a":1,"b":2})", R"({"a":3,"c":4})",
        R"({"b":null,"a":3,"c":4})");
    row("nested", R"({"m":{"x":1,"y":2},"n":{}})", R"({"m":{"x":1},"n":{}})",
        R"({"m":{"y":null}})");
    row("lists whole", R"({"l":[1,2]})", R"({"l":[1]})", R"({"l":[1]})");
    row("1 and 1.0 are one number", R"({"a":1})", R"({"a":1.0})", "{}");
    row("\"1\" and 1 are not", R"({"a":"1"})", R"({"a":1})", R"({"a":1})");
}

void tst_Patch::between()
{
    QFETCH(const QByteArray, before);
    QFETCH(const QByteArray, after);
    QFETCH(const QByteArray, patch);
    const PatchResult made = mergePatchBetween(before, after);
    COMPARE_JSON(made.json, patch);
    COMPARE_JSON(mergePatch(before, made.json).json, after);
}

void tst_Patch::faults_data()
{
    QTest::addColumn<QString>("type");
    QTest::addColumn<QByteArray>("document");
    QTest::addColumn<QByteArray>("patch");
    QTest::addColumn<PatchFault>("fault");
    const auto row = [](const char *name, const char *type, const char *document, const char *patch,
                         PatchFault fault) {
        QTest::newRow(name) << QString::fromLatin1(type) << QByteArray(document)
                            << QByteArray(patch) << fault;
    };
    const char *foo = R"({"foo":["a"],"baz":"qux"})";
    row("A.9 test that fails", "json", foo, R"([{"op":"test","path":"/baz","value":"bar"}])",
        PatchFault::NotApplicable);
    row("A.12 add below nothing", "json", foo, R"([{"op":"add","path":"/no/where","value":1}])",
        PatchFault::NotApplicable);
    row("A.15 number against text", "json", foo, R"([{"op":"test","path":"/baz","value":10}])",
        PatchFault::NotApplicable);
    row("remove what is not there", "json", foo, R"([{"op":"remove","path":"/nope"}])",
        PatchFault::NotApplicable);
    row("index out of range", "json", foo, R"([{"op":"add","path":"/foo/3","value":1}])",
        PatchFault::NotApplicable);
    row("index with a leading zero", "json", foo,
        R"([{"op":"replace","path":"/foo/00","value":1}])", PatchFault::MalformedPatch);
    row("no list", "json", foo, R"({"op":"remove"})", PatchFault::MalformedPatch);
    row("unknown op", "json", foo, R"([{"op":"spam","path":"/a"}])", PatchFault::MalformedPatch);
    row("path without slash", "json", foo, R"([{"op":"remove","path":"foo"}])",
        PatchFault::MalformedPatch);
    row("value is missing", "json", foo, R"([{"op":"add","path":"/a"}])",
        PatchFault::MalformedPatch);
    QByteArrayList doubling;
    for (int i = 0; i < 30; ++i)
        doubling << R"({"op":"copy","from":"/d","path":"/d/x)" + QByteArray::number(i) + R"("})";
    QTest::newRow("copies of copies")
        << QStringLiteral("json") << QByteArray(R"({"d":{"k":"value"}})")
        << '[' + doubling.join(',') + ']' << PatchFault::TooLarge;
    QTest::newRow("too many operations")
        << QStringLiteral("json") << QByteArray("{}")
        << '[' + QByteArrayList(10'001, R"({"op":"add","path":"/a","value":1})").join(',') + ']'
        << PatchFault::TooLarge;
    row("copy of what is not there", "json", foo, R"([{"op":"copy","from":"/nope","path":"/a"}])",
        PatchFault::NotApplicable);
    row("patch is no JSON", "merge", foo, "{", PatchFault::MalformedPatch);
    row("document is no JSON", "merge", "{", "{}", PatchFault::MalformedDocument);
    row("too deep", "merge", "{}", nullptr, PatchFault::MalformedPatch);
    row("key is missing", "strategic", R"({"spec":{"containers":[{"name":"c"}]}})",
        R"({"spec":{"containers":[{"image":"x"}]}})", PatchFault::Unexpected);
    row("unknown directive", "strategic", R"({"spec":{}})", R"({"spec":{"$patch":"spam"}})",
        PatchFault::Unexpected);
    row("items of another type", "strategic", R"({"spec":{"containers":[{"name":"c"}]}})",
        R"({"spec":{"containers":[5]}})", PatchFault::Unexpected);
    row("strategic, no object", "strategic", "{}", "5", PatchFault::MalformedPatch);
}

void tst_Patch::faults()
{
    QFETCH(const QString, type);
    QFETCH(const QByteArray, document);
    QFETCH(QByteArray, patch);
    QFETCH(const PatchFault, fault);
    if (patch.isEmpty())
        patch = QByteArray(1000, '[') + QByteArray(1000, ']');
    const PatchResult result = type == QLatin1String("json") ? jsonPatch(document, patch)
        : type == QLatin1String("merge")                     ? mergePatch(document, patch)
                                         : strategicMergePatch(document, patch, "Pod");
    QCOMPARE(int(result.fault), int(fault));
    QVERIFY(!result.message.isEmpty());
    QVERIFY(result.json.isEmpty());
}

void tst_Patch::keepsNumbersAndOrder()
{
    const PatchResult result = mergePatch(
        R"({"z":18446744073709551615,"a":-9223372036854775808,"f":0.1})", R"({"n":1.5})");
    QCOMPARE(result.json,
        QByteArray(R"({"z":18446744073709551615,"a":-9223372036854775808,"f":0.1,"n":1.5})"));
}

QTEST_GUILESS_MAIN(tst_Patch)
#include "tst_patch.moc"
