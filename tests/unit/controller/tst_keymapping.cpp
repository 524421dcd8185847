#include "controller/keymapping.h"

#include <QTest>

using namespace davit;
using namespace davit::controller;

namespace {

const Gvk kWidget{QStringLiteral("demo.example"), QStringLiteral("v1"), QStringLiteral("Widget")};

Object parsed(const QByteArray &json)
{
    Object object;
    const Status status = Object::fromJson(json, &object);
    return status.isOk() ? object : Object();
}

Object owned(const QByteArray &references)
{
    return parsed(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":)"
                  R"("apps","ownerReferences":)"
        + references + "}}");
}

class ByLabel final : public KeyMapper
{
public:
    QList<ObjectKey> keys(const Object &object) const override
    {
        const ObjectKey key{QStringLiteral("apps"), object.label(QLatin1StringView("for"))};
        return {key, key};
    }
};

QStringList texts(const std::vector<ObjectKey> &keys)
{
    QStringList texts;
    for (const ObjectKey &key : keys)
        texts += toString(key);
    return texts;
}

priv::SourceSpec source(priv::SourceSpec::Kind kind)
{
    return {kind, InformerRequest(kWidget), {}, std::make_shared<ByLabel>()};
}

} // namespace

class tst_KeyMapping : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void owners_data();
    void owners();
    void self();
    void bothStatesOfAnUpdate();
    void mapped();
    void priorities_data();
    void priorities();
};

void tst_KeyMapping::owners_data()
{
    QTest::addColumn<QByteArray>("references");
    QTest::addColumn<bool>("isOwnerNamespaced");
    QTest::addColumn<QStringList>("keys");
    const QStringList none;
    QTest::newRow("controller of the kind") << QByteArray(
        R"([{"apiVersion":"demo.example/v1","kind":"Widget","name":"w","uid":"u",)"
        R"("controller":true}])") << true << QStringList{QStringLiteral("apps/w")};
    QTest::newRow("the version does not matter") << QByteArray(
        R"([{"apiVersion":"demo.example/v2","kind":"Widget","name":"w","uid":"u",)"
        R"("controller":true}])") << true << QStringList{QStringLiteral("apps/w")};
    QTest::newRow("owner at cluster scope") << QByteArray(
        R"([{"apiVersion":"demo.example/v1","kind":"Widget","name":"w","uid":"u",)"
        R"("controller":true}])") << false << QStringList{QStringLiteral("w")};
    QTest::newRow("no controller reference")
        << QByteArray(R"([{"apiVersion":"demo.example/v1","kind":"Widget","name":"w","uid":"u"}])")
        << true << none;
    QTest::newRow("another group")
        << QByteArray(R"([{"apiVersion":"other/v1","kind":"Widget","name":"w","uid":"u",)"
                      R"("controller":true}])")
        << true << none;
    QTest::newRow("another kind") << QByteArray(
        R"([{"apiVersion":"demo.example/v1","kind":"Gadget","name":"w","uid":"u",)"
        R"("controller":true}])") << true
                                  << none;
    QTest::newRow("second of two references") << QByteArray(
        R"([{"apiVersion":"v1","kind":"Node","name":"n","uid":"v"},)"
        R"({"apiVersion":"demo.example/v1","kind":"Widget","name":"w","uid":"u",)"
        R"("controller":true}])") << true << QStringList{QStringLiteral("apps/w")};
    QTest::newRow("no references") << QByteArray("[]") << true << none;
}

void tst_KeyMapping::owners() // 10.4
{
    QFETCH(const QByteArray, references);
    QFETCH(const bool, isOwnerNamespaced);
    const std::vector<ObjectKey> keys = keysOf(source(priv::SourceSpec::Kind::Owner),
        {kWidget, isOwnerNamespaced}, {EventType::Added, false, false, {}, {}, owned(references)});
    QTEST(texts(keys), "keys");
}

void tst_KeyMapping::self()
{
    const Object after = owned("[]");
    const auto keys = keysOf(
        source(priv::SourceSpec::Kind::Self), {}, {EventType::Deleted, false, true, {}, {}, after});
    QCOMPARE(texts(keys), QStringList{QStringLiteral("apps/c")});
}

void tst_KeyMapping::bothStatesOfAnUpdate()
{
    const auto reference = [](const char *name) {
        return QByteArray(R"([{"apiVersion":"demo.example/v1","kind":"Widget","name":")") + name
            + R"(","uid":"u","controller":true}])";
    };
    const auto keys = [&](const char *before, const char *after) {
        return texts(keysOf(source(priv::SourceSpec::Kind::Owner), {kWidget, true},
            {EventType::Updated, false, false, {}, owned(reference(before)),
                owned(reference(after))}));
    };
    QCOMPARE(keys("a", "b"), (QStringList{QStringLiteral("apps/a"), QStringLiteral("apps/b")}));
    QCOMPARE(keys("a", "a"), QStringList{QStringLiteral("apps/a")});
}

void tst_KeyMapping::mapped()
{
    const auto labelled = [](const char *value) {
        return parsed(QByteArray(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s",)"
                                 R"("labels":{"for":")")
            + value + R"("}}})");
    };
    const auto keys = texts(keysOf(source(priv::SourceSpec::Kind::Mapped), {},
        {EventType::Updated, false, false, {}, labelled("old"), labelled("new")}));
    QCOMPARE(keys, (QStringList{QStringLiteral("apps/old"), QStringLiteral("apps/new")}));
}

void tst_KeyMapping::priorities_data() // T107, W-25
{
    QTest::addColumn<EventType>("type");
    QTest::addColumn<bool>("isInInitialList");
    QTest::addColumn<QByteArray>("versionBefore");
    QTest::addColumn<int>("priority");
    QTest::newRow("initial list") << EventType::Added << true << QByteArray() << -100;
    QTest::newRow("live creation") << EventType::Added << false << QByteArray() << 0;
    QTest::newRow("update") << EventType::Updated << false << QByteArray("1") << 0;
    QTest::newRow("resync") << EventType::Updated << false << QByteArray("2") << -100;
    QTest::newRow("deletion") << EventType::Deleted << false << QByteArray() << 0;
}

void tst_KeyMapping::priorities()
{
    QFETCH(const EventType, type);
    QFETCH(const bool, isInInitialList);
    QFETCH(const QByteArray, versionBefore);
    const auto version = [](const QByteArray &version) {
        return parsed(R"({"metadata":{"name":"x","resourceVersion":")" + version + R"("}})");
    };
    const Object before = versionBefore.isEmpty() ? Object() : version(versionBefore);
    QTEST(priorityOf({type, isInInitialList, false, {}, before, version("2")}), "priority");
}

QTEST_GUILESS_MAIN(tst_KeyMapping)
#include "tst_keymapping.moc"
