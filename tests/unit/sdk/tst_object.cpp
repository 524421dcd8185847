#include "jsonsamples.h"

#include <davit/object.h>
#include <davit/priv/poolaccess.h>

#include <QTest>

using namespace davit;
using Json = nlohmann::ordered_json;

namespace {

Json parsed(const QByteArray &json)
{
    return Json::parse(json.cbegin(), json.cend());
}

Object privateObject(const QByteArray &json)
{
    Object object;
    const Status status = Object::fromJson(json, &object);
    if (!status.isOk())
        qFatal("%s", qUtf8Printable(status.error().message()));
    return object;
}

// Walks `value` beside the independent parser's tree; empty when they agree.
QString difference(const Value &value, const Json &json, const QString &path = {})
{
    const auto differs = [&path](const char *what) { return path + QLatin1String(what); };
    if (json.is_object()) {
        if (!value.isObject() || value.size() != qsizetype(json.size()))
            return differs(": members");
        qsizetype i = 0;
        for (const auto &[name, child] : json.items()) {
            const QByteArray utf8 = QByteArray::fromStdString(name);
            if (value.nameAt(i).toUtf8() != utf8)
                return differs(": name");
            const QString below = path + QLatin1Char('/') + value.nameAt(i);
            if (value.at(i) != value[QByteArrayView(utf8)])
                return below + QLatin1String(": by name");
            if (const QString found = difference(value.at(i++), child, below); !found.isEmpty())
                return found;
        }
        return {};
    }
    if (json.is_array()) {
        if (!value.isArray() || value.size() != qsizetype(json.size()))
            return differs(": elements");
        for (qsizetype i = 0; i < value.size(); ++i) {
            const QString below = path + QLatin1Char('/') + QString::number(i);
            if (const QString found = difference(value.at(i), json[std::size_t(i)], below);
                !found.isEmpty())
                return found;
        }
        return {};
    }
    if (json.is_string())
        return value.isString() && value.toUtf8() == QByteArray::fromStdString(json)
            ? QString()
            : differs(": string");
    if (json.is_boolean())
        return value.type() == ValueType::Boolean && value.toBool(!json) == json
            ? QString()
            : differs(": boolean");
    if (json.is_null())
        return value.type() == ValueType::Null ? QString() : differs(": null");
    if (json.is_number_float())
        return value.type() == ValueType::Double && value.toDouble() == double(json)
            ? QString()
            : differs(": double");
    if (value.type() != ValueType::Integer || value.toText().toStdString() != json.dump())
        return differs(": integer");
    return {};
}

} // namespace

class tst_Object : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void roundTrip_data();
    void roundTrip();
    void packedStrings();
    void randomJson();
    void numbersBeyondTypes_data();
    void numbersBeyondTypes();
    void repeatedNames_data();
    void repeatedNames();
    void malformed_data();
    void malformed();
    void metadata();
    void managedFieldsAreKept();
    void hasKey_data();
    void hasKey();
    void wrongTypesGiveDefaults();
    void chainKeepsItsObject();
    void equality();
    void latin1();
};

void tst_Object::roundTrip_data()
{
    QTest::addColumn<QByteArray>("json");
    for (const auto &[name, json] : samples::valid())
        QTest::newRow(name) << json;
}

void tst_Object::roundTrip()
{
    QFETCH(const QByteArray, json);
    const Json expected = parsed(json);
    const Object object = privateObject(json);
    const Object pooled = priv::internObject(object);
    for (const Object &each : {object, pooled}) {
        QCOMPARE(difference(each.root(), expected), QString());
        QVERIFY(parsed(each.toJson()) == expected);
        QCOMPARE(each.toJson().toStdString().size(), parsed(each.toJson()).dump().size());
    }
    QVERIFY(object == pooled);
    QCOMPARE(priv::PoolAccess::peek(priv::internObject(object)), priv::PoolAccess::peek(pooled));
}

void tst_Object::packedStrings()
{
    const QList<QByteArray> texts = samples::packedStrings();
    Json array = Json::array();
    for (const QByteArray &text : texts)
        array.push_back(text.toStdString());
    const QByteArray json = QByteArray::fromStdString(Json{{"a", array}}.dump());
    const Object object = privateObject(json);
    for (const Object &each : {object, priv::internObject(object)}) {
        const Value values = each[QLatin1StringView("a")];
        for (qsizetype i = 0; i < texts.size(); ++i) {
            QCOMPARE(values.at(i).toUtf8(), texts[i]);
            QVERIFY(values.at(i).equals(QLatin1StringView(texts[i])));
            QVERIFY(!values.at(i).equals(QLatin1StringView(texts[i] + ' ')));
        }
        QCOMPARE(each.toJson(), json);
    }
}

void tst_Object::randomJson()
{
    for (unsigned seed = 0; seed < 2000; ++seed) {
        const Json expected = samples::Random(seed).object();
        const QByteArray json = QByteArray::fromStdString(expected.dump());
        const Object object = privateObject(json);
        const Object pooled = priv::internObject(object);
        for (const Object &each : {object, pooled}) {
            const QString found = difference(each.root(), expected);
            QVERIFY2(found.isEmpty(), qPrintable(QString::number(seed) + found));
            QVERIFY2(parsed(each.toJson()) == expected, json.constData());
        }
        QVERIFY(object == pooled);
    }
}

void tst_Object::numbersBeyondTypes_data()
{
    QTest::addColumn<QByteArray>("number");
    QTest::addColumn<double>("asDouble");
    const double infinity = std::numeric_limits<double>::infinity();
    QTest::newRow("negative zero") << QByteArray("-0") << -0.0;
    QTest::newRow("2^64") << QByteArray("18446744073709551616") << 18446744073709551616.0;
    QTest::newRow("below -2^63") << QByteArray("-9223372036854775809") << -9223372036854775809.0;
    QTest::newRow("30 digits") << QByteArray("123456789012345678901234567890")
                               << 123456789012345678901234567890.0;
    QTest::newRow("1e400") << QByteArray("1e400") << infinity;
    QTest::newRow("-1E+400") << QByteArray("-1E+400") << -infinity;
    QTest::newRow("400 digits") << QByteArray("1").repeated(400) << infinity;
}

void tst_Object::numbersBeyondTypes()
{
    QFETCH(const QByteArray, number);
    QFETCH(const double, asDouble);
    const QByteArray json = "{\"a\":" + number + ",\"b\":[" + number + "]}";
    const Object object = privateObject(json);
    for (const Object &each : {object, priv::internObject(object)}) {
        const Value value = each[QLatin1StringView("a")];
        QCOMPARE(value.type(), ValueType::Double);
        QCOMPARE(value.toText().toUtf8(), number);
        QVERIFY(value.toDouble() == asDouble);
        QCOMPARE(value.toInt(7), 7);
        QCOMPARE(each.toJson(), json);
    }
}

void tst_Object::repeatedNames_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::newRow("two") << QByteArray(R"({"a":1,"a":2})");
    QTest::newRow("first, middle and last") << QByteArray(
        R"({"a":1,"b":"the long value of b, dropped","a":2,"c":3,"b":"another long value of b","a":4})");
    QTest::newRow("containers") << QByteArray(
        R"({"x":{"long enough to be a block":"of its own, yes","n":1},"y":[1,2,3],"x":{"y":1,"y":2}})");
    QByteArray many = "{";
    for (int i = 0; i < 100; ++i)
        many += (i > 0 ? ",\"k" : "\"k") + QByteArray::number(i % 37)
            + "\":" + QByteArray::number(i);
    QTest::newRow("many") << many + "}";
}

void tst_Object::repeatedNames()
{
    QFETCH(const QByteArray, json);
    const Json expected = parsed(json);
    const Object object = privateObject(json);
    QCOMPARE(object.toJson().toStdString(), expected.dump());
    QCOMPARE(priv::internObject(object).toJson().toStdString(), expected.dump());
}

void tst_Object::malformed_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("what");
    const auto row = [](const char *name, const QByteArray &json, const char *what) {
        QTest::newRow(name) << json << QStringLiteral("JSON, byte ") + QLatin1String(what);
    };
    row("nothing", "", "0: the text ends too early");
    row("array", "[1]", "0: no JSON object");
    row("string", "\"a\"", "0: no JSON object");
    row("cut in an object", "{\"a\":1", "6: the text ends too early");
    row("cut in a string", "{\"a", "3: the text ends within a string");
    row("trailing comma in an object", "{\"a\":1,}", "7: a member's name is missing");
    row("trailing comma in an array", "{\"a\":[1,]}", "8: a value is missing");
    row("leading comma", "{\"a\":[,1]}", "6: a value is missing");
    row("no colon", "{\"a\" 1}", "5: a colon is missing");
    row("no comma", "{\"a\":1 \"b\":2}", "7: a comma or an end is missing");
    row("name without quotes", "{a:1}", "1: a member's name is missing");
    row("wrong end", "{\"a\":[1}", "7: a comma or an end is missing");
    row("text behind", "{} {}", "3: more text behind the value");
    row("leading zero", "{\"a\":01}", "7: a number with a leading zero");
    row("no digit behind the point", "{\"a\":1.}", "7: a number without digits behind its point");
    row("no exponent", "{\"a\":1e}", "7: a number without digits in its exponent");
    row("plus sign", "{\"a\":+1}", "5: a value is missing");
    row("NaN", "{\"a\":NaN}", "5: a value is missing");
    row("capital word", "{\"a\":True}", "5: a value is missing");
    row("word cut", "{\"a\":tru}", "5: an unknown word");
    row("control character", "{\"a\":\"\n\"}", "6: a control character in a string");
    row("unknown escape", "{\"a\":\"\\x\"}", "7: an unknown escape");
    row("short unicode escape", "{\"a\":\"\\u12\"}", "10: an escape without four hex digits");
    row("lone high surrogate", "{\"a\":\"\\ud800\"}", "12: a lone surrogate");
    row("lone low surrogate", "{\"a\":\"\\udc00\"}", "12: a lone surrogate");
    row("two high surrogates", "{\"a\":\"\\ud800\\ud800\"}", "18: a lone surrogate");
    row("surrogate in a name", "{\"\\udfff\":1}", "8: a lone surrogate");
    row("bytes that are not UTF-8", "{\"a\":\"\xff\"}", "6: bytes that are not UTF-8");
    row("surrogate as UTF-8", "{\"a\":\"\xed\xa0\x80\"}", "6: bytes that are not UTF-8");
    row("too deep", samples::nested(1025, "{\"a\":", "1", "}"),
        "5120: nested deeper than 1024 levels");
    row("much too deep", "{\"a\":" + QByteArray("[").repeated(1000000),
        "1028: nested deeper than 1024 levels");
    row("comment", "{/**/}", "1: a member's name is missing");
}

void tst_Object::malformed()
{
    QFETCH(const QByteArray, json);
    Object object;
    const Status status = Object::fromJson(json, &object);
    QVERIFY(!status.isOk());
    QCOMPARE(status.error().code(), ErrorCode::InvalidArgument);
    QTEST(status.error().message(), "what");
    QVERIFY(object.isNull());
}

void tst_Object::metadata()
{
    const Object object = privateObject(
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"team-a",)"
        R"("uid":"3e0a4c1f-9f7b-4c3d-8a52-0123456789ab","resourceVersion":"12746","generation":3,)"
        R"("deletionTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"web"},"annotations":{"e":"","n":"x"}}})");
    for (const Object &each : {object, priv::internObject(object)}) {
        QCOMPARE(toString(each.gvk()), QStringLiteral("apps/v1 Deployment"));
        QCOMPARE(toString(each.key()), QStringLiteral("team-a/web"));
        QCOMPARE(each.uid(), QStringLiteral("3e0a4c1f-9f7b-4c3d-8a52-0123456789ab"));
        QCOMPARE(each.resourceVersion(), QStringLiteral("12746"));
        QCOMPARE(each.generation(), 3);
        QVERIFY(each.isBeingDeleted());
        QCOMPARE(each.label(QLatin1StringView("app")), QStringLiteral("web"));
        QCOMPARE(each.label(QLatin1StringView("none")), QString());
        QVERIFY(each.hasAnnotation(QLatin1StringView("e")));
        QVERIFY(!each.hasAnnotation(QLatin1StringView("f")));
        QCOMPARE(each.annotation(QLatin1StringView("n")), QStringLiteral("x"));
    }
    const Object bare = privateObject(R"({"metadata":{"deletionTimestamp":null},"kind":7})");
    QVERIFY(bare.gvk() == Gvk());
    QVERIFY(bare.key() == ObjectKey());
    QCOMPARE(bare.generation(), 0);
    QVERIFY(!bare.isBeingDeleted());
}

// A cache drops them; what a plugin reads itself stays whole.
void tst_Object::managedFieldsAreKept()
{
    const Object object = privateObject(
        R"({"metadata":{"name":"x","managedFields":[{"manager":"kubectl","operation":"Apply"}]}})");
    QCOMPARE(object[QLatin1StringView("metadata")][QLatin1StringView("managedFields")]
                 .at(0)[QLatin1StringView("manager")]
                 .toText(),
        QStringLiteral("kubectl"));
}

void tst_Object::hasKey_data()
{
    QTest::addColumn<QByteArray>("metadata");
    for (const char *metadata :
        {R"({"name":"web","namespace":"team-a"})", R"({"name":"web"})", R"({"namespace":"team-a"})",
            "{}", R"({"name":"cfddc8fd-d94d-45f7-a606-c045bb56e560"})",
            R"({"name":"web-5d4f8c7b9d-x2x4z","namespace":"10.0.0.1"})",
            R"({"name":"Bücher","namespace":"日本"})", R"({"name":7,"namespace":null})"})
        QTest::newRow(metadata) << QByteArray(metadata);
}

void tst_Object::hasKey()
{
    QFETCH(const QByteArray, metadata);
    const Object object = privateObject("{\"metadata\":" + metadata + "}");
    const ObjectKey key = object.key();
    for (const Object &each : {object, priv::internObject(object)}) {
        const quint64 handle = priv::PoolAccess::peek(each);
        QVERIFY(priv::PoolAccess::hasKey(handle, key));
        QVERIFY(!priv::PoolAccess::hasKey(handle, {key.namespaceName, key.name + u'x'}));
        QVERIFY(!priv::PoolAccess::hasKey(handle, {key.namespaceName + u'x', key.name}));
        QVERIFY(
            !priv::PoolAccess::hasKey(handle, {QStringLiteral("other"), QStringLiteral("web")}));
    }
    QVERIFY(priv::PoolAccess::hasKey(0, ObjectKey()));
}

void tst_Object::wrongTypesGiveDefaults()
{
    const Object object = privateObject(
        R"({"s":"x","i":7,"d":1.5,"b":true,"n":null,"a":[1],"big":18446744073709551615})");
    const Value s = object[QLatin1StringView("s")];
    QCOMPARE(s.toInt(9), 9);
    QCOMPARE(s.toDouble(2.5), 2.5);
    QCOMPARE(s.toBool(true), true);
    QCOMPARE(s.size(), 0);
    QVERIFY(s[QLatin1StringView("x")].isMissing());
    QVERIFY(s.at(0).isMissing());
    const Value i = object[QLatin1StringView("i")];
    QCOMPARE(i.toString(QStringLiteral("none")), QStringLiteral("none"));
    QCOMPARE(i.toText(), QStringLiteral("7"));
    QCOMPARE(i.toDouble(), 7.0);
    QCOMPARE(object[QLatin1StringView("d")].toInt(4), 4);
    QCOMPARE(object[QLatin1StringView("big")].toInt(4), 4);
    QVERIFY(object[QLatin1StringView("n")].isNull());
    QVERIFY(!object[QLatin1StringView("n")].isMissing());
    QVERIFY(object[QLatin1StringView("a")].at(1).isMissing());
    QVERIFY(object[QLatin1StringView("a")].at(-1).isMissing());
    QCOMPARE(object[QLatin1StringView("a")].nameAt(0), QString());
    QVERIFY(object[QLatin1StringView("a")].names().isEmpty());
    QVERIFY(Object().root().isMissing());
    QVERIFY(Object()[QLatin1StringView("a")].isMissing());
    QCOMPARE(Object().toJson(), QByteArray());
    QCOMPARE(Value().toJson(), QByteArray());
    QCOMPARE(object.root().names().size(), 7);
}

void tst_Object::chainKeepsItsObject()
{
    const auto make = [] {
        return priv::internObject(
            privateObject(R"({"spec":{"template":{"text":"only here and nowhere else 4711"}}})"));
    };
    const Value text = make()[QLatin1StringView("spec")][QLatin1StringView("template")]
                             [QLatin1StringView("text")];
    QCOMPARE(text.toString(), QStringLiteral("only here and nowhere else 4711"));
    Value copy = text;
    copy = copy; // NOLINT: self-assignment is the point
    Value moved = std::move(copy);
    QCOMPARE(moved.toUtf8(), QByteArray("only here and nowhere else 4711"));
    Object object = make();
    object = object; // NOLINT
    const Value spec = object[QLatin1StringView("spec")];
    object = Object();
    QCOMPARE(spec[QLatin1StringView("template")].size(), 1);
}

void tst_Object::equality()
{
    const Object a = privateObject(
        R"({"a":{"x":1,"y":"some text of a good length"},"b":{"x":1,"y":"some text of a good length"}})");
    const Object b = privateObject(
        R"({"b":{"x":1,"y":"some text of a good length"},"a":{"x":1,"y":"some text of a good length"}})");
    const Object c = privateObject(R"({"a":{"x":1.0,"y":"some text of a good length"}})");
    const auto at
        = [](const Object &object, const char *name) { return object[QLatin1StringView(name)]; };
    for (const Object &left : {a, priv::internObject(a)}) {
        for (const Object &right : {b, priv::internObject(b)}) {
            QVERIFY(left != right); // member order counts
            QVERIFY(at(left, "a") == at(right, "b"));
            QVERIFY(at(left, "a") == at(left, "b"));
        }
        QVERIFY(at(left, "a") != at(c, "a"));
        QVERIFY(at(left, "a") != at(left, "c"));
        QVERIFY(left != Object());
    }
    QVERIFY(Value() == at(a, "none"));
    QVERIFY(Object() == Object());
}

void tst_Object::latin1()
{
    const Object object = privateObject("{\"a\":\"caf\xc3\xa9\"}");
    QVERIFY(object[QLatin1StringView("a")].equals(QLatin1StringView("caf\xe9")));
    QVERIFY(!object[QLatin1StringView("a")].equals(QLatin1StringView("caf\xc3\xa9")));
    QVERIFY(object.root()[QByteArrayView("a")].toString() == QStringLiteral("café"));
    QVERIFY(privateObject("{\"\xc3\xa9\":1}").root()[u"é"].toInt() == 1);
}

QTEST_GUILESS_MAIN(tst_Object)
#include "tst_object.moc"
