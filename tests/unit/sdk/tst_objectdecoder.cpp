#include "jsonsamples.h"

#include <davit/priv/poolaccess.h>

#include <QTest>

using namespace davit;
using Json = nlohmann::ordered_json;
using priv::DecodeOptions;
using priv::PoolAccess;

namespace {

Json parsed(const QByteArray &json)
{
    return Json::parse(json.cbegin(), json.cend());
}

// Objects are compared from their metadata on.
QByteArray withMetadata(const QByteArray &json)
{
    const QByteArray metadata = R"({"metadata":{"name":"a","labels":{"app":"b"}})";
    return metadata + (json == "{}" ? "" : ",") + json.sliced(json.indexOf('{') + 1);
}

Object decoded(const QByteArray &json, const DecodeOptions &options = {})
{
    priv::ObjectDecoder decoder;
    Object object;
    const Error error = decoder.decode(json, options, &object);
    if (error.isError())
        qFatal("%s", qUtf8Printable(error.message()));
    return object;
}

} // namespace

class tst_ObjectDecoder : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void roundTrip_data();
    void roundTrip();
    void packedStrings();
    void randomJson();
    void exactNumbers_data();
    void exactNumbers();
    void repeatedNames_data();
    void repeatedNames();
    void errors_data();
    void errors();
    void surrogates_data();
    void surrogates();
    void options_data();
    void options();
    void similar_data();
    void similar();
    void similarByChance();
    void similarIsPatient();
    void knownByKey();
    void partialMetadata_data();
    void partialMetadata();
    void tooLarge();
    void reusedAfterAnError();
    void masksAreTwins();
};

void tst_ObjectDecoder::roundTrip_data()
{
    QTest::addColumn<QByteArray>("json");
    for (const auto &[name, json] : samples::valid())
        QTest::newRow(name) << json;
}

void tst_ObjectDecoder::roundTrip()
{
    QFETCH(const QByteArray, json);
    const Object object = decoded(json);
    QVERIFY(parsed(object.toJson()) == parsed(json));
    // Read again it is the same block; so is what another parser made of it.
    QCOMPARE(PoolAccess::peek(decoded(object.toJson())), PoolAccess::peek(object));
    Object other;
    QVERIFY(Object::fromJson(json, &other).isOk());
    QCOMPARE(PoolAccess::peek(priv::internObject(other)), PoolAccess::peek(object));
}

void tst_ObjectDecoder::packedStrings()
{
    Json array = Json::array();
    for (const QByteArray &text : samples::packedStrings())
        array.push_back(text.toStdString());
    const QByteArray json = QByteArray::fromStdString(Json{{"a", array}}.dump());
    QCOMPARE(decoded(json).toJson(), json);
}

void tst_ObjectDecoder::randomJson()
{
    priv::ObjectDecoder decoder;
    for (unsigned seed = 10000; seed < 12000; ++seed) {
        const Json expected = samples::Random(seed).object();
        const QByteArray json = QByteArray::fromStdString(expected.dump());
        DecodeOptions options;
        options.managedFields = priv::ManagedFields::Keep;
        Object object;
        const Error error = decoder.decode(json, options, &object);
        QVERIFY2(!error.isError(), qPrintable(error.message()));
        QVERIFY2(parsed(object.toJson()) == expected, json.constData());
    }
}

void tst_ObjectDecoder::exactNumbers_data()
{
    QTest::addColumn<QByteArray>("number");
    for (const char *number : {"-0", "18446744073709551616", "-9223372036854775809",
             "123456789012345678901234567890", "1e400", "-1E+400", "18446744073709551615",
             "-9223372036854775808", "0.1", "-0.0", "1.7976931348623157e+308", "5e-324", "0"})
        QTest::newRow(number) << QByteArray(number);
}

void tst_ObjectDecoder::exactNumbers()
{
    QFETCH(const QByteArray, number);
    const QByteArray json = "{\"text\":\"web-0, -0\",\"a\":" + number + ",\"b\":[" + number + "]}";
    QCOMPARE(decoded(json).toJson(), json);
}

void tst_ObjectDecoder::repeatedNames_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::newRow("two") << QByteArray(R"({"a":1,"a":2})");
    QTest::newRow("blocks") << QByteArray(
        R"({"x":{"long enough to be a block":"of its own, yes","n":1},"y":1,"x":["and another one of them",{"y":1,"y":2}]})");
    QTest::newRow("metadata") << QByteArray(R"({"metadata":{"name":"a"},"metadata":{"name":"b"}})");
}

void tst_ObjectDecoder::repeatedNames()
{
    QFETCH(const QByteArray, json);
    const priv::PoolStats before = priv::poolStats();
    QCOMPARE(decoded(json).toJson().toStdString(), parsed(json).dump());
    QCOMPARE(priv::poolStats().liveBlocks, before.liveBlocks);
}

void tst_ObjectDecoder::errors_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("message");
    const auto row = [](const char *name, const QByteArray &json, const char *message) {
        QTest::newRow(name) << json << QString::fromLatin1(message);
    };
    row("nothing", "", "byte 0: the text ends too early");
    row("white space", "  \n", "byte 3: the text ends too early");
    row("null", "null", "byte 0: no JSON object");
    row("array", "[{}]", "byte 0: no JSON object");
    row("cut", R"({"a":{"b":[1,2)", "byte 14: the text ends too early");
    row("text behind", "{}{}", "byte 2: more text behind the value");
    row("not UTF-8", "{\"a\":\"\xc3(\"}", "byte 6: bytes that are not UTF-8");
    row("zero byte", QByteArray("{\"a\":1}\0", 8), "byte 7: more text behind the value");
    row("bad behind a large number", "{\"a\":1e400,\"b\":tru}", "byte 15: an unknown word");
    row("depth 1025", samples::nested(1025, "{\"a\":", "1", "}"),
        "byte 5120: nested deeper than 1024 levels");
}

void tst_ObjectDecoder::errors()
{
    QFETCH(const QByteArray, json);
    const priv::PoolStats before = priv::poolStats();
    Object object;
    const Error error = priv::ObjectDecoder().decode(json, {}, &object);
    QCOMPARE(error.code(), ErrorCode::MalformedReply);
    QTEST(error.message(), "message");
    QVERIFY(object.isNull());
    QCOMPARE(priv::poolStats().liveBlocks, before.liveBlocks);
}

void tst_ObjectDecoder::surrogates_data()
{
    QTest::addColumn<QByteArray>("escaped");
    QTest::addColumn<QByteArray>("utf8"); // empty: refused
    QTest::newRow("pair") << QByteArray("\\ud83d\\ude00") << QByteArray("\xf0\x9f\x98\x80");
    QTest::newRow("pair, capitals")
        << QByteArray("\\uD83D\\uDE00") << QByteArray("\xf0\x9f\x98\x80");
    QTest::newRow("first pair") << QByteArray("\\ud800\\udc00") << QByteArray("\xf0\x90\x80\x80");
    QTest::newRow("last pair") << QByteArray("\\udbff\\udfff") << QByteArray("\xf4\x8f\xbf\xbf");
    QTest::newRow("below them") << QByteArray("\\ud7ff") << QByteArray("\xed\x9f\xbf");
    QTest::newRow("above them") << QByteArray("\\ue000") << QByteArray("\xee\x80\x80");
    QTest::newRow("escaped backslash") << QByteArray("\\\\ud800") << QByteArray("\\ud800");
    QTest::newRow("lone high") << QByteArray("\\ud800") << QByteArray();
    QTest::newRow("lone high, text behind") << QByteArray("\\ud800abcdef") << QByteArray();
    QTest::newRow("lone low") << QByteArray("\\udc00") << QByteArray();
    QTest::newRow("lone low, last") << QByteArray("x\\uDFFF") << QByteArray();
    QTest::newRow("low before high") << QByteArray("\\udc00\\ud800") << QByteArray();
    QTest::newRow("behind an escaped backslash") << QByteArray("\\\\\\udc00") << QByteArray();
}

void tst_ObjectDecoder::surrogates()
{
    QFETCH(const QByteArray, escaped);
    QFETCH(const QByteArray, utf8);
    for (const QByteArray &json : {"{\"a\":\"" + escaped + "\"}", "{\"" + escaped + "\":1}"}) {
        priv::ObjectDecoder decoder;
        Object object;
        const Error error = decoder.decode(json, {}, &object);
        QCOMPARE(error.isError(), utf8.isEmpty());
        if (utf8.isEmpty())
            QVERIFY(error.message().endsWith(QLatin1String("a lone surrogate")));
        else
            QVERIFY(parsed(object.toJson()) == parsed(json));
    }
}

void tst_ObjectDecoder::options_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QByteArray>("dropped"); // the default
    QTest::addColumn<QByteArray>("metadataOnly"); // with managedFields kept
    QTest::addColumn<QByteArray>("implied"); // with an implied apps/v1 Deployment
    const QByteArray front = R"({"apiVersion":"apps/v1","kind":"Deployment")";
    QTest::newRow("usual")
        << QByteArray(
               R"({"kind":"K","metadata":{"name":"a","managedFields":[{"f":{}}],"z":1},"spec":{"managedFields":[1],"metadata":{"managedFields":2}}})")
        << QByteArray(
               R"({"kind":"K","metadata":{"name":"a","z":1},"spec":{"managedFields":[1],"metadata":{"managedFields":2}}})")
        << QByteArray(R"({"kind":"K","metadata":{"name":"a","managedFields":[{"f":{}}],"z":1}})")
        << QByteArray(
               R"({"apiVersion":"apps/v1","kind":"K","metadata":{"name":"a","z":1},"spec":{"managedFields":[1],"metadata":{"managedFields":2}}})");
    QTest::newRow("neither") << QByteArray(R"({"spec":1})") << QByteArray(R"({"spec":1})")
                             << QByteArray("{}") << front + R"(,"spec":1})";
    QTest::newRow("both there") << QByteArray(R"({"kind":"K","apiVersion":"v2"})")
                                << QByteArray(R"({"kind":"K","apiVersion":"v2"})")
                                << QByteArray(R"({"kind":"K","apiVersion":"v2"})")
                                << QByteArray(R"({"kind":"K","apiVersion":"v2"})");
    QTest::newRow("metadata is no object") << QByteArray(R"({"metadata":["managedFields"]})")
                                           << QByteArray(R"({"metadata":["managedFields"]})")
                                           << QByteArray(R"({"metadata":["managedFields"]})")
                                           << front + R"(,"metadata":["managedFields"]})";
    QTest::newRow("only managedFields")
        << QByteArray(R"({"metadata":{"managedFields":[]}})") << QByteArray(R"({"metadata":{}})")
        << QByteArray(R"({"metadata":{"managedFields":[]}})") << front + R"(,"metadata":{}})";
    QTest::newRow("kind behind, and an escape")
        << QByteArray(R"({"n":-0,"metadata":{"managedFields":[-0],"name":"a"}})")
        << QByteArray(R"({"n":-0,"metadata":{"name":"a"}})")
        << QByteArray(R"({"metadata":{"managedFields":[-0],"name":"a"}})")
        << front + R"(,"n":-0,"metadata":{"name":"a"}})";
}

void tst_ObjectDecoder::options()
{
    QFETCH(const QByteArray, json);
    QTEST(decoded(json).toJson(), "dropped");
    DecodeOptions options;
    options.managedFields = priv::ManagedFields::Keep;
    QCOMPARE(decoded(json, options).toJson(), json);
    options.depth = priv::Depth::MetadataOnly;
    const Object masked = decoded(json, options);
    QTEST(masked.toJson(), "metadataOnly");
    QVERIFY(masked.isMetadataOnly());
    options = {};
    const Gvk gvk{QStringLiteral("apps"), QStringLiteral("v1"), QStringLiteral("Deployment")};
    options.impliedGvk = &gvk;
    QTEST(decoded(json, options).toJson(), "implied");
}

void tst_ObjectDecoder::similar_data()
{
    QTest::addColumn<QByteArray>("known");
    QTest::addColumn<QByteArray>("json");
    const auto row = [](const char *name, const char *known, const char *json) {
        QTest::newRow(name) << QByteArray(known) << QByteArray(json);
    };
    const QByteArray longer
        = R"({"a":{"text":"long enough to be a block of its own","n":1},"z":[1]})";
    QTest::newRow("the same") << longer << longer;
    QTest::newRow("white space") << longer << QByteArray(longer).replace(":", " : ");
    row("a value deep inside", R"({"a":[{"b":[1,2,{"c":"x"}]}],"z":"w"})",
        R"({"a":[{"b":[1,2,{"c":"y"}]}],"z":"w"})");
    row("a member more", R"({"a":{"x":1},"c":{"y":"2"}})",
        R"({"a":{"x":1},"b":{"x":1},"c":{"y":"2"}})");
    row("a member less", R"({"a":{"x":1},"b":{"x":1},"c":{"y":2}})",
        R"({"a":{"x":1},"c":{"y":2}})");
    row("another order", R"({"a":{"x":[1]},"b":{"x":[2]}})", R"({"b":{"x":[2]},"a":{"x":[1]}})");
    row("a longer array", R"({"a":[[1],[2]]})", R"({"a":[[1],[2],[3]]})");
    row("a shorter array", R"({"a":[[1],[2]]})", R"({"a":[[1]]})");
    row("a longer number", R"({"a":[1]})", R"({"a":[12]})");
    row("a fraction", R"({"a":[1]})", R"({"a":[1.5]})");
    row("an exponent", R"({"a":[1]})", R"({"a":[1e2]})");
    row("a longer string", R"({"a":["one"]})", R"({"a":["one two"]})");
    row("a longer name", R"({"a":{"one":1}})", R"({"a":{"one two":1}})");
    row("a backslash was text", R"({"a":["x\\b"]})", R"({"a":["x\b"]})");
    row("a backslash was text in a name", R"({"a":{"x\\n":1}})", R"({"a":{"x\n":1}})");
    row("escaped otherwise", R"({"a":["A/B"]})", R"({"a":["\u0041\/B"]})");
    row("another type", R"({"a":{"b":[]},"c":"x"})", R"({"a":[{"b":1}],"c":{"x":1}})");
    row("nothing for something", R"({"a":{},"b":[],"c":""})", R"({"a":{"a":1},"b":[1],"c":"c"})");
    row("packed strings",
        R"({"a":["2026-01-02T03:04:05Z","cfddc8fd-d94d-45f7-a606-c045bb56e560","10.0.0.1","123456"]})",
        R"({"a":["2026-01-02T03:04:05Z","cfddc8fd-d94d-45f7-a606-c045bb56e561","10.0.0.1","123456"]})");
    row("repeated names", R"({"a":{"b":[1],"b":[2]},"c":[3]})",
        R"({"a":{"b":[2],"b":[1]},"c":[3]})");
    row("repeated names before the same", R"({"a":{"b":[1],"b":{"x":[2]}},"c":[3],"d":{"e":[4]}})",
        R"({"a":{"b":[1]},"c":[3],"d":{"e":[4]}})");
    row("parts of the same text at another place", R"({"a":[[1],[2]],"b":{"c":[[1],[2]]},"d":[9]})",
        R"({"a":[[1]],"b":{"c":[[1],[2],[2]]},"d":[9]})");
    row("white space within", R"({"a": [ 1 , {"b" : [2]} ], "c":[3]})",
        R"({"a": [ 1 , {"b" : [2]} ], "c":[4]})");
    row("names that JSON escapes", R"({"\u0061":[1,[2]],"b":[{"c":1}]})",
        R"({"a":[1,[2]],"b":[{"c":1}]})");
}

// What is known before never shows in the outcome.
void tst_ObjectDecoder::similar()
{
    QFETCH(const QByteArray, known);
    QFETCH(const QByteArray, json);
    const Object alone = decoded(withMetadata(json));
    const Object other = decoded(withMetadata(known));
    // The neighbour, whose text is known; the neighbour's neighbour, of which some was taken
    // unread.
    priv::ObjectDecoder decoder;
    Object object;
    for (const QByteArray &text : {known, json, json, known, json}) {
        QVERIFY(!decoder.decode(withMetadata(text), {}, &object).isError());
        QCOMPARE(PoolAccess::peek(object), PoolAccess::peek(text == json ? alone : other));
        QCOMPARE(object.toJson(), (text == json ? alone : other).toJson());
    }
    // The object of this key, whose text is not known, then once more as the neighbour.
    DecodeOptions options;
    options.known = [&](const ObjectKey &) { return other; };
    priv::ObjectDecoder byKey;
    for (int round = 0; round < 2; ++round) {
        QVERIFY(!byKey.decode(withMetadata(json), options, &object).isError());
        QCOMPARE(PoolAccess::peek(object), PoolAccess::peek(alone));
        options.known = {};
    }
}

void tst_ObjectDecoder::similarByChance()
{
    const priv::PoolStats before = priv::poolStats();
    {
        priv::ObjectDecoder decoder;
        for (unsigned seed = 0; seed < 3000; ++seed) {
            // Every second one is the last one with a byte or two changed: often no JSON any more.
            Json tree = samples::Random(seed / 2).object();
            QByteArray json = withMetadata(QByteArray::fromStdString(tree.dump()));
            if (seed % 2 == 1)
                json[qsizetype(seed * 2654435761U % unsigned(json.size()))]
                    = "\"{}[]:,\\\a1 "[seed % 12];
            Object object;
            Object alone;
            const Error error = decoder.decode(json, {}, &object);
            const Error expected = priv::ObjectDecoder().decode(json, {}, &alone);
            QCOMPARE(error.message(), expected.message());
            if (!error.isError())
                QCOMPARE(PoolAccess::peek(object), PoolAccess::peek(alone));
        }
    }
    QCOMPARE(priv::poolStats().liveBlocks, before.liveBlocks);
}

// Each level is compared in vain before the next: that must not cost the square of the text.
void tst_ObjectDecoder::similarIsPatient()
{
    const QByteArray filler = "{\"filler\":\"" + QByteArray(100000, 'x') + "\"";
    const auto document = [&](const char *inner) {
        return withMetadata(samples::nested(100, filler + ",\"a\":", inner, "}"));
    };
    priv::ObjectDecoder decoder;
    Object object;
    QVERIFY(!decoder.decode(document("1"), {}, &object).isError());
    QVERIFY(!decoder.decode(document("2"), {}, &object).isError());
    QCOMPARE(PoolAccess::peek(object), PoolAccess::peek(decoded(document("2"))));
}

void tst_ObjectDecoder::knownByKey()
{
    QList<ObjectKey> asked;
    DecodeOptions options;
    options.known = [&asked](const ObjectKey &key) {
        asked.append(key);
        return Object();
    };
    priv::ObjectDecoder decoder;
    Object object;
    const auto decode = [&](const char *json) { return decoder.decode(json, options, &object); };
    QVERIFY(!decode(R"({"metadata":{"name":"a","namespace":"b"}})").isError());
    QVERIFY(
        !decode(R"({"metadata":{"managedFields":[{"name":"no"}],"name":"a"},"x":1})").isError());
    QVERIFY(!decode(R"({"metadata":{"labels":{}}})").isError());
    QVERIFY(!decode(R"({"metadata":[]})").isError());
    QVERIFY(decode(R"({"metadata":{"name":"a",tru}})").isError());
    const ObjectKey clusterWide{QString(), QStringLiteral("a")};
    QVERIFY(asked
        == (QList<ObjectKey>{
            {QStringLiteral("b"), QStringLiteral("a")}, clusterWide, ObjectKey(), clusterWide}));
}

void tst_ObjectDecoder::partialMetadata()
{
    QFETCH(const QByteArray, json);
    const Gvk gvk{QStringLiteral("apps"), QStringLiteral("v1"), QStringLiteral("Deployment")};
    DecodeOptions options;
    options.depth = priv::Depth::MetadataOnly;
    options.impliedGvk = &gvk;
    const Object object = decoded(json, options);
    QVERIFY(object.isMetadataOnly());
    QTEST(object.toJson(), "whole");
}

void tst_ObjectDecoder::partialMetadata_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QByteArray>("whole");
    const QByteArray front = R"({"apiVersion":"apps/v1","kind":"Deployment")";
    QTest::newRow("as the server calls it") << QByteArray(
        R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}})")
                                            << front + R"(,"metadata":{"name":"a"}})";
    QTest::newRow("kind behind, and an escape")
        << QByteArray(R"({"metadata":{"name":"\ud83d\ude00"},"kind":"PartialObjectMetadata"})")
        << front
            + R"(,"metadata":{"name":")"
              "\xf0\x9f\x98\x80"
              R"("}})";
    QTest::newRow("whole, from a server that cannot") << QByteArray(
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{}})")
                                                      << front + R"(,"metadata":{"name":"a"}})";
    QTest::newRow("an item of a list")
        << QByteArray(R"({"metadata":{"name":"a"}})") << front + R"(,"metadata":{"name":"a"}})";
}

void tst_ObjectDecoder::tooLarge()
{
    const priv::PoolStats before = priv::poolStats();
    const QByteArray half = "\"some text to share\",\"" + QByteArray(9 << 20, 'x') + '"';
    const QByteArray tooLong = "{\"b\":\"" + QByteArray(17 << 20, 'y') + "\"}";
    Object object;
    {
        priv::ObjectDecoder decoder;
        const Error error = decoder.decode("{\"a\":[" + half + ',' + tooLong
                + "],\"c\":{\"long enough to be a block\":\"of its own, yes\"}}",
            {}, &object);
        QCOMPARE(error.code(), ErrorCode::MalformedReply);
        QVERIFY(object.isNull());
    } // with the decoder goes its memory of names
    QCOMPARE(priv::poolStats().liveBlocks, before.liveBlocks);
    // Large as a whole, yet each part fits.
    priv::ObjectDecoder decoder;
    QVERIFY(!decoder.decode("{\"a\":[" + half + "],\"b\":[" + half + "]}", {}, &object).isError());
}

void tst_ObjectDecoder::reusedAfterAnError()
{
    priv::ObjectDecoder decoder;
    Object object;
    for (int i = 0; i < 3; ++i) {
        QVERIFY(decoder.decode("{\"a\":\"\\ud800\"}", {}, &object).isError());
        QVERIFY(!decoder.decode("{\"a\":-0}", {}, &object).isError());
        QCOMPARE(object.toJson(), QByteArray("{\"a\":-0}"));
        QVERIFY(!decoder.decode(" {\"a\":0} ", {}, &object).isError());
        QCOMPARE(object.toJson(), QByteArray("{\"a\":0}"));
        QVERIFY(decoder.decode("{\"a\":", {}, &object).isError());
        QCOMPARE(object.toJson(), QByteArray("{\"a\":0}"));
    }
}

void tst_ObjectDecoder::masksAreTwins()
{
    const QByteArray json
        = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"app":"web"}},"spec":{"x":1}})";
    const Object full = decoded(json);
    const Object masked = priv::metadataOnly(full);
    DecodeOptions options;
    options.depth = priv::Depth::MetadataOnly;
    QCOMPARE(PoolAccess::peek(masked), PoolAccess::peek(decoded(json, options)));
    QVERIFY(!full.isMetadataOnly());
    QVERIFY(masked.isMetadataOnly());
    QCOMPARE(PoolAccess::peek(priv::metadataOnly(masked)), PoolAccess::peek(masked));
    QVERIFY(masked[QLatin1StringView("spec")].isMissing());
    Object own;
    QVERIFY(Object::fromJson(json, &own).isOk());
    QVERIFY(priv::metadataOnly(own) == masked);
    QVERIFY(priv::internObject(priv::metadataOnly(own)).isMetadataOnly());
    QVERIFY(priv::metadataOnly(Object()).isNull());
    QVERIFY(priv::internObject(Object()).isNull());
}

QTEST_GUILESS_MAIN(tst_ObjectDecoder)
#include "tst_objectdecoder.moc"
