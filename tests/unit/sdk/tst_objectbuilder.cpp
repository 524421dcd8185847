#include <davit/objectbuilder.h>
#include <davit/priv/poolaccess.h>

#include <QTest>
#include <functional>

using namespace davit;

namespace {

using Build = std::function<void(ObjectBuilder &)>;

Object object(const QByteArray &json)
{
    Object made;
    const Status status = Object::fromJson(json, &made);
    if (!status.isOk())
        qFatal("%s", qUtf8Printable(status.error().message()));
    return made;
}

QStringList path(const char *dotted)
{
    return QString::fromLatin1(dotted).split(QLatin1Char('.'), Qt::SkipEmptyParts);
}

} // namespace
Q_DECLARE_METATYPE(Build)

class tst_ObjectBuilder : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void steps_data();
    void steps();
    void faults_data();
    void faults();
    void baseStaysAsItIs();
    void unknownFieldsSurvive();
    void newObject();
    void owners();
};

// NOLINTNEXTLINE(readability-function-size): a table
void tst_ObjectBuilder::steps_data()
{
    QTest::addColumn<QByteArray>("base");
    QTest::addColumn<Build>("build");
    QTest::addColumn<QByteArray>("want");
    const auto row = [](const char *name, const QByteArray &base, const QByteArray &want,
                         const Build &build) { QTest::newRow(name) << base << build << want; };
    row("nothing", R"({"b":1,"a":[{}]})", R"({"b":1,"a":[{}]})", [](ObjectBuilder &) {});
    row("set a member", R"({"a":1,"b":2})", R"({"a":5,"b":2})",
        [](ObjectBuilder &b) { b.set(path("a"), 5); });
    row("add a member", R"({"a":1})", R"({"a":1,"c":{"d":{"e":true}}})",
        [](ObjectBuilder &b) { b.set(path("c.d.e"), true); });
    row("array element", R"({"a":[1,{"b":2},3]})", R"({"a":[1,{"b":7},3]})",
        [](ObjectBuilder &b) { b.set(path("a.1.b"), 7); });
    row("append", R"({"a":[1]})", R"({"a":[1,2,{"c":3}]})",
        [](ObjectBuilder &b) { b.set(path("a.1"), 2).set(path("a.2.c"), 3); });
    row("a number as a name", R"({"a":{}})", R"({"a":{"0":1}})",
        [](ObjectBuilder &b) { b.set(path("a.0"), 1); });
    row("through a scalar", R"({"a":"text"})", R"({"a":{"b":1}})",
        [](ObjectBuilder &b) { b.set(path("a.b"), 1); });
    row("every type", "{}",
        R"({"n":null,"b":false,"i":-7,"u":18446744073709551615,"d":0.5,"w":2.0,"s":"é\"","y":"raw","l":["a","b"],"v":[1,"x"],"m":{"k":[null]}})",
        [](ObjectBuilder &b) {
            b.set(path("n"), QVariant()).set(path("b"), false).set(path("i"), -7);
            b.set(path("u"), std::numeric_limits<quint64>::max()).set(path("d"), 0.5);
            b.set(path("w"), 2.0).set(path("s"), QStringLiteral("é\""));
            b.set(path("y"), QByteArray("raw"));
            b.set(path("l"), QStringList{QStringLiteral("a"), QStringLiteral("b")});
            b.set(path("v"), QVariantList{1, QStringLiteral("x")});
            b.set(path("m"), QVariantMap{{QStringLiteral("k"), QVariantList{QVariant()}}});
        });
    row("remove a member", R"({"a":1,"b":{"c":2,"d":3}})", R"({"b":{"d":3}})",
        [](ObjectBuilder &b) { b.remove(path("a")).remove(path("b.c")); });
    row("remove an element", R"({"a":[1,2,3]})", R"({"a":[1,3]})",
        [](ObjectBuilder &b) { b.remove(path("a.1")); });
    row("remove what is not there", R"({"a":[1],"s":"x"})", R"({"a":[1],"s":"x"})",
        [](ObjectBuilder &b) {
            b.remove(path("z.y.x")).remove(path("a.7")).remove(path("a.b")).remove(path("s.t"));
        });
    row("remove all", R"({"a":1})", "{}", [](ObjectBuilder &b) { b.remove({}); });
    row("copy a part", R"({"a":{"x":[1,2]},"b":1})", R"({"a":{"x":[1,2]},"b":[1,2]})",
        [](ObjectBuilder &b) {
            b.set(path("b"),
                object(R"({"a":{"x":[1,2]}})")[QLatin1StringView("a")][QLatin1StringView("x")]);
        });
    row("copy a missing part", R"({"a":1,"b":2})", R"({"a":1})",
        [](ObjectBuilder &b) { b.set(path("b"), Value()); });
    row("JSON", R"({"a":1})", R"({"a":[1,{"b":-0}],"c":1e400})", [](ObjectBuilder &b) {
        b.setJson(path("a"), R"( [ 1, {"b":-0} ] )").setJson(path("c"), "1e400");
    });
    row("label and annotation", R"({"metadata":{"labels":{"a":"1"}}})",
        R"({"metadata":{"labels":{"a":"2","x/y":"3"},"annotations":{"n":""}}})",
        [](ObjectBuilder &b) {
            b.setLabel(QStringLiteral("a"), QStringLiteral("2"));
            b.setLabel(QStringLiteral("x/y"), QStringLiteral("3"));
            b.setAnnotation(QStringLiteral("n"), QString());
        });
    row("empty name", "{}", R"({"":{"":1}})", [](ObjectBuilder &b) {
        b.set({QString(), QString()}, 1);
    });
}

void tst_ObjectBuilder::steps()
{
    QFETCH(const QByteArray, base);
    QFETCH(const Build, build);
    QFETCH(const QByteArray, want);
    for (const Object &from : {object(base), priv::internObject(object(base))}) {
        ObjectBuilder builder(from);
        build(builder);
        QCOMPARE(builder.toJson(), want);
        QVERIFY(builder.status().isOk());
        QCOMPARE(builder.build().toJson(), want);
        QVERIFY(builder.build() == object(want));
        QCOMPARE(from.toJson(), base);
    }
}

void tst_ObjectBuilder::faults_data()
{
    QTest::addColumn<Build>("build");
    QTest::addColumn<QString>("message");
    const auto row = [](const char *name, const char *message, const Build &build) {
        QTest::newRow(name) << build << QString::fromLatin1(message);
    };
    row("index beyond the end", "set a.3: no index \"3\" in an array of 2",
        [](ObjectBuilder &b) { b.set(path("a.3"), 1); });
    row("name in an array", "set a.x.y: no index \"x\" in an array of 2",
        [](ObjectBuilder &b) { b.set(path("a.x.y"), 1); });
    row("negative index", "set a.-1: no index \"-1\" in an array of 2",
        [](ObjectBuilder &b) { b.set(path("a.-1"), 1); });
    row("an owner of what has an array for its metadata",
        "set metadata.ownerReferences: no index \"ownerReferences\" in an array of 0",
        [](ObjectBuilder &b) { b.setJson(path("metadata"), "[]").addOwner(Object()); });
    row("wrong JSON", "set a: JSON, byte 1: a value is missing",
        [](ObjectBuilder &b) { b.setJson(path("a"), "[x]"); });
    row("NaN", "set a: JSON has no form for this double",
        [](ObjectBuilder &b) { b.set(path("a"), std::numeric_limits<double>::quiet_NaN()); });
    row("infinity", "set a: JSON has no form for this double",
        [](ObjectBuilder &b) { b.set(path("a"), std::numeric_limits<double>::infinity()); });
    row("bytes that are no text", "set a: JSON has no form for this QByteArray",
        [](ObjectBuilder &b) { b.set(path("a"), QByteArray("\xff\xfe")); });
    row("another type", "set a: JSON has no form for this QSize",
        [](ObjectBuilder &b) { b.set(path("a"), QSize(1, 2)); });
    row("the first fault counts", "set a.3: no index \"3\" in an array of 2",
        [](ObjectBuilder &b) { b.set(path("a.3"), 1).set(path("a.9"), 1).set(path("b"), 1); });
    row("too deep", "nested deeper than 1024 levels", [](ObjectBuilder &b) {
        QStringList deep;
        for (int i = 0; i < 1025; ++i)
            deep.append(QStringLiteral("d"));
        b.set(deep, 1);
    });
}

void tst_ObjectBuilder::faults()
{
    QFETCH(const Build, build);
    QFETCH(const QString, message);
    ObjectBuilder builder(object(R"({"a":[1,2]})"));
    build(builder);
    QVERIFY(builder.build().isNull());
    QCOMPARE(builder.status().error().code(), ErrorCode::InvalidArgument);
    QVERIFY2(builder.status().error().message().contains(message),
        qPrintable(builder.status().error().message()));
}

void tst_ObjectBuilder::baseStaysAsItIs()
{
    const Object base = priv::internObject(
        object(R"({"spec":{"a":[1,2,3]},"status":{"x":"a text that is shared"}})"));
    const QByteArray before = base.toJson();
    ObjectBuilder builder(base);
    builder.set(path("spec.a.0"), 9).remove(path("status"));
    const Object first = builder.build();
    builder.set(path("spec.a.1"), 8);
    QCOMPARE(first.toJson(), QByteArray(R"({"spec":{"a":[9,2,3]}})"));
    QCOMPARE(builder.build().toJson(), QByteArray(R"({"spec":{"a":[9,8,3]}})"));
    QCOMPARE(base.toJson(), before);
}

// B53: what the code does not know is written back as it came.
void tst_ObjectBuilder::unknownFieldsSurvive()
{
    const QByteArray json
        = R"({"z":18446744073709551616,"a":{"m":-0,"d":1e400,"u":"3e0a4c1f-9f7b-4c3d-8a52-0123456789ab"},"spec":{"n":1}})";
    ObjectBuilder builder(priv::internObject(object(json)));
    builder.set(path("spec.n"), 2);
    QCOMPARE(builder.build().toJson(), QByteArray(json).replace("\"n\":1", "\"n\":2"));
}

void tst_ObjectBuilder::newObject()
{
    const Gvk gvk{QStringLiteral("apps"), QStringLiteral("v1"), QStringLiteral("Deployment")};
    QCOMPARE(ObjectBuilder(gvk, {QStringLiteral("ns"), QStringLiteral("web")}).build().toJson(),
        QByteArray(
            R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"ns"}})"));
    QCOMPARE(ObjectBuilder(gvk, {QString(), QStringLiteral("web")}).build().toJson(),
        QByteArray(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}})"));
    QCOMPARE(ObjectBuilder().build().toJson(), QByteArray("{}"));
    QCOMPARE(ObjectBuilder(Object()).build().toJson(), QByteArray("{}"));
}

void tst_ObjectBuilder::owners()
{
    const Object owner = object(
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","uid":"u1"}})");
    const Object other
        = object(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","uid":"u2"}})");
    ObjectBuilder builder(object(R"({"metadata":{}})"));
    builder.addOwner(owner).addOwner(other, false).addOwner(owner, false);
    const Value list
        = builder.build()[QLatin1StringView("metadata")][QLatin1StringView("ownerReferences")];
    QCOMPARE(list.size(), 2);
    QCOMPARE(list.toJson(),
        QByteArray(R"([{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"u1"},)"
                   R"({"apiVersion":"v1","kind":"ConfigMap","name":"c","uid":"u2"}])"));
    builder.addOwner(owner);
    const Value again
        = builder.build()[QLatin1StringView("metadata")][QLatin1StringView("ownerReferences")];
    QCOMPARE(again.size(), 2);
    QVERIFY(again.at(0)[QLatin1StringView("controller")].toBool());
    QVERIFY(again.at(0)[QLatin1StringView("blockOwnerDeletion")].toBool());
    QVERIFY(again.at(1) == list.at(1));
}

QTEST_GUILESS_MAIN(tst_ObjectBuilder)
#include "tst_objectbuilder.moc"
