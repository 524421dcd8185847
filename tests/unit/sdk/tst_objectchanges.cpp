// Conditions, owner references and finalizers: changes of an object that send nothing.
#include <davit/conditions.h>
#include <davit/finalizers.h>
#include <davit/ownership.h>
#include <davit/priv/backends.h>

#include <QTest>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>

using namespace davit;

namespace {

Object object(const QByteArray &json)
{
    Object made;
    const Status status = Object::fromJson(json, &made);
    if (!status.isOk())
        qFatal("%s", qUtf8Printable(status.error().message()));
    return made;
}

class Noon final : public priv::ClockBackend // 2026-01-02T12:00:00Z
{
public:
    std::chrono::nanoseconds monotonic() const override { return {}; }
    std::chrono::nanoseconds utc() const override { return std::chrono::seconds(1767355200); }
};

const QDateTime kGiven = QDateTime::fromSecsSinceEpoch(1767323045).toUTC(); // 03:04:05 of that day

QByteArray conditions(const QByteArray &list)
{
    return R"({"kind":"Widget","status":{"conditions":)" + list + "}}";
}

// "apiVersion kind namespace/name uid"
Object named(const char *text)
{
    const QStringList part = QString::fromLatin1(text).split(QLatin1Char(' '));
    const QStringList key = part[2].split(QLatin1Char('/'));
    return object(QStringLiteral(R"({"apiVersion":"%1","kind":"%2","metadata":{"namespace":"%3",)"
                                 R"("name":"%4","uid":"%5"}})")
                      .arg(part[0], part[1], key[0], key[1], part.value(3))
                      .toUtf8());
}

QByteArray referencesOf(const Object &object)
{
    return object[QLatin1StringView("metadata")][QLatin1StringView("ownerReferences")].toJson();
}

QByteArray withReferences(const QByteArray &list)
{
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"a","name":"p","ownerReferences":)"
        + list + "}}";
}

const QByteArray kControlled
    = R"([{"apiVersion":"apps/v1","kind":"D","name":"x","uid":"1","controller":true,"blockOwnerDeletion":true}])";

} // namespace

class tst_ObjectChanges : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void setCondition_data();
    void setCondition();
    void removeCondition_data();
    void removeCondition();
    void readCondition_data();
    void readCondition();
    void conditionTimeOfTheClock();
    void setOwner_data();
    void setOwner();
    void removeOwner_data();
    void removeOwner();
    void readOwner();
    void finalizers_data();
    void finalizers();
    void registry_data();
    void registry();
};

// NOLINTNEXTLINE(readability-function-size): a table
void tst_ObjectChanges::setCondition_data()
{
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QStringList>("condition"); // type, status, reason, message, generation, time
    QTest::addColumn<bool>("isChanged");
    QTest::addColumn<QByteArray>("list");
    const auto row = [](const char *name, const QByteArray &before, const char *condition,
                         bool isChanged, const char *list) {
        QTest::newRow(name) << before << QString::fromLatin1(condition).split(QLatin1Char('|'))
                            << isChanged << QByteArray(list);
    };
    const QByteArray ready = conditions(
        R"([{"type":"Ready","status":"True","reason":"Up","message":"all up","lastTransitionTime":"2026-01-01T00:00:00Z"}])");
    row("E-35 no status at all: appended, now", R"({"kind":"Widget"})", "Ready|True|Up|all up||",
        true,
        R"([{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T12:00:00Z","reason":"Up","message":"all up"}])");
    row("E-35 appended behind others, time given",
        conditions(R"([{"type":"Old","status":"True"}])"), "Ready|False|Down|x|3|given", true,
        R"([{"type":"Old","status":"True"},{"type":"Ready","status":"False","lastTransitionTime":"2026-01-02T03:04:05Z","reason":"Down","message":"x","observedGeneration":3}])");
    row("E-35 without reason and message: written empty", conditions("[]"), "Ready|Unknown||||",
        true,
        R"([{"type":"Ready","status":"Unknown","lastTransitionTime":"2026-01-02T12:00:00Z","reason":"","message":""}])");
    row("E-42 null list: appended", conditions("null"), "Ready|True|Up|x||", true,
        R"([{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T12:00:00Z","reason":"Up","message":"x"}])");
    row("E-36 status differs: now", ready, "Ready|False|Up|all up||", true,
        R"([{"type":"Ready","status":"False","reason":"Up","message":"all up","lastTransitionTime":"2026-01-02T12:00:00Z"}])");
    row("E-36 status differs, time given", ready, "Ready|False|Up|all up||given", true,
        R"([{"type":"Ready","status":"False","reason":"Up","message":"all up","lastTransitionTime":"2026-01-02T03:04:05Z"}])");
    row("T98 E-37 E-38 reason differs: the time stays, though one is given", ready,
        "Ready|True|New|all up||given", true,
        R"([{"type":"Ready","status":"True","reason":"New","message":"all up","lastTransitionTime":"2026-01-01T00:00:00Z"}])");
    row("E-38 message differs", ready, "Ready|True|Up|half up||", true,
        R"([{"type":"Ready","status":"True","reason":"Up","message":"half up","lastTransitionTime":"2026-01-01T00:00:00Z"}])");
    row("E-38 observedGeneration differs", ready, "Ready|True|Up|all up|9|", true,
        R"([{"type":"Ready","status":"True","reason":"Up","message":"all up","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":9}])");
    row("E-39 nothing differs", ready, "Ready|True|Up|all up||given", false,
        R"([{"type":"Ready","status":"True","reason":"Up","message":"all up","lastTransitionTime":"2026-01-01T00:00:00Z"}])");
    row("members that we do not know stay",
        conditions(R"([{"type":"Ready","status":"True","x":{"y":1}}])"), "Ready|False|||2|given",
        true,
        R"([{"type":"Ready","status":"False","x":{"y":1},"lastTransitionTime":"2026-01-02T03:04:05Z","observedGeneration":2}])");
}

void tst_ObjectChanges::setCondition()
{
    QFETCH(const QByteArray, before);
    QFETCH(const QStringList, condition);
    Noon noon;
    Condition wanted{condition[0], condition[1], condition[2], condition[3],
        condition[4].toLongLong(), condition[5].isEmpty() ? QDateTime() : kGiven};
    Object changed = object(before);
    const Object kept = changed;
    QTEST(setStatusCondition(&changed, wanted, Clock(noon)), "isChanged");
    QTEST(changed[QLatin1StringView("status")][QLatin1StringView("conditions")].toJson(), "list");
    QCOMPARE(kept.toJson(), object(before).toJson()); // a value: the other handle is as it was
    QVERIFY(!setStatusCondition(&changed, wanted, Clock(noon))); // E-39
}

void tst_ObjectChanges::removeCondition_data()
{
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<bool>("isChanged");
    QTest::addColumn<QByteArray>("list");
    const QByteArray a = R"({"type":"A"})";
    const QByteArray b = R"({"type":"B"})";
    const QByteArray c = R"({"type":"C"})";
    QTest::newRow("E-40 order of others kept")
        << conditions('[' + a + ',' + b + ',' + c + ']') << true << '[' + a + ',' + c + ']';
    QTest::newRow("E-40 every entry of the type")
        << conditions('[' + b + ',' + b + ',' + a + ',' + b + ']') << true << '[' + a + ']';
    QTest::newRow("E-40 none") << conditions('[' + a + ']') << false << '[' + a + ']';
    QTest::newRow("E-42 null list") << conditions("null") << false << QByteArray("null");
    QTest::newRow("E-42 no status") << QByteArray("{}") << false << QByteArray();
    QTest::newRow("E-42 a list that is none") << conditions("7") << false << QByteArray("7");
}

void tst_ObjectChanges::removeCondition()
{
    QFETCH(const QByteArray, before);
    Object changed = object(before);
    QTEST(removeStatusCondition(&changed, QStringLiteral("B")), "isChanged");
    QTEST(changed[QLatin1StringView("status")][QLatin1StringView("conditions")].toJson(), "list");
}

void tst_ObjectChanges::readCondition_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<bool>("isThere");
    QTest::addColumn<bool>("isTrue");
    QTest::addColumn<bool>("isFalse");
    QTest::newRow("E-41 true") << conditions(R"([{"type":"A"},{"type":"Ready","status":"True"}])")
                               << true << true << false;
    QTest::newRow("E-41 false") << conditions(R"([{"type":"Ready","status":"False"}])") << true
                                << false << true;
    QTest::newRow("E-41 unknown is neither")
        << conditions(R"([{"type":"Ready","status":"Unknown"}])") << true << false << false;
    QTest::newRow("E-41 absent is neither")
        << conditions(R"([{"type":"Other","status":"True"}])") << false << false << false;
    QTest::newRow("E-42 null list") << conditions("null") << false << false << false;
    QTest::newRow("E-42 no status") << QByteArray("{}") << false << false << false;
}

void tst_ObjectChanges::readCondition()
{
    QFETCH(const QByteArray, json);
    const QString type = QStringLiteral("Ready");
    QTEST(!findStatusCondition(object(json), type).isMissing(), "isThere");
    QTEST(isStatusConditionTrue(object(json), type), "isTrue");
    QTEST(isStatusConditionFalse(object(json), type), "isFalse");
    QVERIFY(findStatusCondition(Object(), type).isMissing()); // E-42: the null object
}

void tst_ObjectChanges::conditionTimeOfTheClock()
{
    Object none;
    QVERIFY(!setStatusCondition(&none, {QStringLiteral("A"), QStringLiteral("True"), {}, {}}));
    QVERIFY(none.isNull());
    Object changed = object("{}");
    const QDateTime before = QDateTime::currentDateTimeUtc().addSecs(-1);
    QVERIFY(setStatusCondition(&changed, {QStringLiteral("A"), QStringLiteral("True"), {}, {}}));
    const QDateTime written = QDateTime::fromString(
        findStatusCondition(changed, QStringLiteral("A"))[QLatin1StringView("lastTransitionTime")]
            .toString(),
        Qt::ISODate);
    QVERIFY(written >= before);
}

// NOLINTNEXTLINE(readability-function-size): a table
void tst_ObjectChanges::setOwner_data()
{
    QTest::addColumn<bool>("controls");
    QTest::addColumn<Object>("owner");
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<ErrorCode>("error");
    QTest::addColumn<QByteArray>("references");
    const auto row = [](const char *name, bool controls, const char *owner,
                         const QByteArray &before, ErrorCode error, const QByteArray &references) {
        QTest::newRow(name) << controls << named(owner) << before << error << references;
    };
    const QByteArray none
        = R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"a","name":"p"}})";
    const QByteArray plain = R"([{"apiVersion":"apps/v1","kind":"D","name":"x","uid":"1"}])";
    const ErrorCode ok = ErrorCode::Unset;
    row("E-17 added", true, "apps/v1 D a/x 1", none, ok, kControlled);
    row("E-17 null list", true, "apps/v1 D a/x 1", withReferences("null"), ok, kControlled);
    row("E-17 beside an owner", true, "apps/v1 D a/x 1",
        withReferences(R"([{"apiVersion":"v1","kind":"E","name":"e","uid":"9"}])"), ok,
        R"([{"apiVersion":"v1","kind":"E","name":"e","uid":"9"},)" + kControlled.mid(1));
    row("T100 another controls it", true, "apps/v1 D a/y 2", withReferences(kControlled),
        ErrorCode::AlreadyOwned, kControlled);
    row("E-17 another kind controls it", true, "apps/v1 E a/x 1", withReferences(kControlled),
        ErrorCode::AlreadyOwned, kControlled);
    row("E-17 another group controls it", true, "apps.example/v1 D a/x 1",
        withReferences(kControlled), ErrorCode::AlreadyOwned, kControlled);
    row("T100 the same with a new uid: replaced", true, "apps/v1 D a/x 7",
        withReferences(kControlled), ok, QByteArray(kControlled).replace("\"1\"", "\"7\""));
    row("E-17 the same in a new version: replaced", true, "apps/v2 D a/x 1",
        withReferences(kControlled), ok, QByteArray(kControlled).replace("apps/v1", "apps/v2"));
    row("E-17 an owner becomes the controller", true, "apps/v1 D a/x 1", withReferences(plain), ok,
        kControlled);
    row("E-18 added without controlling", false, "apps/v1 D a/x 1", none, ok, plain);
    row("E-18 beside another's controller", false, "apps/v1 D a/y 2", withReferences(kControlled),
        ok,
        kControlled.chopped(1) + R"(,{"apiVersion":"apps/v1","kind":"D","name":"y","uid":"2"}])");
    row("E-19 another namespace", true, "apps/v1 D b/x 1", none, ErrorCode::InvalidArgument, "");
    row("E-19 namespaced owner of a cluster object", false, "apps/v1 D a/x 1",
        R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}})", ErrorCode::InvalidArgument,
        "");
    row("E-19 cluster owner, namespaced object", true, "v1 Node /n 5", none, ok,
        R"([{"apiVersion":"v1","kind":"Node","name":"n","uid":"5","controller":true,"blockOwnerDeletion":true}])");
    row("E-19 cluster owner, cluster object", false, "v1 Node /n 5",
        R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"m"}})", ok,
        R"([{"apiVersion":"v1","kind":"Node","name":"n","uid":"5"}])");
    row("an owner that the server has not seen", true, "apps/v1 D a/x ", none,
        ErrorCode::InvalidArgument, "");
}

void tst_ObjectChanges::setOwner()
{
    QFETCH(const bool, controls);
    QFETCH(const Object, owner);
    QFETCH(const QByteArray, before);
    Object changed = object(before);
    const Status status
        = controls ? setControllerReference(owner, &changed) : setOwnerReference(owner, &changed);
    QTEST(status.error().code(), "error");
    // Members of a QVariantMap come in the order of names.
    const Object seen = object(
        R"({"l":)" + (referencesOf(changed).isEmpty() ? "null" : referencesOf(changed)) + "}");
    QFETCH(const QByteArray, references);
    const QByteArray wanted = references.isEmpty() ? "null" : references;
    const auto sorted = [](const QByteArray &json) {
        return QJsonDocument::fromJson(R"({"l":)" + json + '}').object();
    };
    QCOMPARE(sorted(seen[QLatin1StringView("l")].toJson()), sorted(wanted));
    if (status.isOk())
        QVERIFY(hasOwnerReference(owner, changed));
    else
        QCOMPARE(changed.toJson(), object(before).toJson());
}

void tst_ObjectChanges::removeOwner_data()
{
    QTest::addColumn<bool>("controls");
    QTest::addColumn<Object>("owner");
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<ErrorCode>("error");
    QTest::addColumn<QByteArray>("references");
    const Object x = named("apps/v9 D a/x other");
    const QByteArray both = R"([{"kind":"E","apiVersion":"v1","name":"e"},)" + kControlled.mid(1);
    QTest::newRow("E-20 removed") << false << x << withReferences(both) << ErrorCode::Unset
                                  << QByteArray(R"([{"kind":"E","apiVersion":"v1","name":"e"}])");
    QTest::newRow("E-20 controller removed")
        << true << x << withReferences(kControlled) << ErrorCode::Unset << QByteArray("[]");
    QTest::newRow("E-20 no references")
        << false << x << QByteArray("{}") << ErrorCode::NotFound << QByteArray();
    QTest::newRow("E-20 not found")
        << false << named("apps/v1 D a/y 1") << withReferences(kControlled) << ErrorCode::NotFound
        << kControlled;
    QTest::newRow("E-20 found, but no controller")
        << true << named("v1 E a/e 1") << withReferences(both) << ErrorCode::InvalidArgument
        << both;
}

void tst_ObjectChanges::removeOwner()
{
    QFETCH(const bool, controls);
    QFETCH(const Object, owner);
    QFETCH(const QByteArray, before);
    Object changed = object(before);
    const Status status = controls ? removeControllerReference(owner, &changed)
                                   : removeOwnerReference(owner, &changed);
    QTEST(status.error().code(), "error");
    QTEST(referencesOf(changed), "references");
}

void tst_ObjectChanges::readOwner() // E-21
{
    const Object two = object(withReferences(
        R"([{"kind":"E","name":"e","uid":"9"},{"kind":"D","name":"x","uid":"1","controller":true},{"kind":"D","name":"z","uid":"3","controller":true}])"));
    QCOMPARE(controllerOf(two)[QLatin1StringView("name")].toString(), QStringLiteral("x"));
    QVERIFY(isControlledBy(named("v1 Other b/other 1"), two)); // the uid alone
    QVERIFY(!isControlledBy(named("apps/v1 D a/x 2"), two));
    QVERIFY(!isControlledBy(named("apps/v1 E a/e 9"), two));
    QVERIFY(controllerOf(object("{}")).isMissing());
    QVERIFY(!isControlledBy(Object(), object("{}")));
}

void tst_ObjectChanges::finalizers_data()
{
    QTest::addColumn<char>("change"); // + or -
    QTest::addColumn<QByteArray>("metadata");
    QTest::addColumn<bool>("isChanged");
    QTest::addColumn<QByteArray>("finalizers");
    const auto row = [](const char *name, char change, const char *metadata, bool isChanged,
                         const char *finalizers) {
        QTest::newRow(name) << change << QByteArray(metadata) << isChanged
                            << QByteArray(finalizers);
    };
    row("E-22 absent: appended", '+', R"({"finalizers":["g"]})", true, R"(["g","f"])");
    row("E-22 no list", '+', "{}", true, R"(["f"])");
    row("E-22 null list", '+', R"({"finalizers":null})", true, R"(["f"])");
    row("E-22 there", '+', R"({"finalizers":["f","g"]})", false, R"(["f","g"])");
    row("B54 none is added while it is being deleted", '+',
        R"({"deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["g"]})", false, R"(["g"])");
    row("T101 E-23 every equal entry", '-', R"({"finalizers":["f","g","f"]})", true, R"(["g"])");
    row("E-23 the last one", '-', R"({"finalizers":["f"]})", true, "[]");
    row("E-23 not there", '-', R"({"finalizers":["g"]})", false, R"(["g"])");
    row("E-23 no list", '-', "{}", false, "");
    row("E-23 while it is being deleted", '-',
        R"({"deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["g","f"]})", true, R"(["g"])");
}

void tst_ObjectChanges::finalizers()
{
    QFETCH(const char, change);
    QFETCH(const QByteArray, metadata);
    Object changed = object(R"({"metadata":)" + metadata + '}');
    const QString f = QStringLiteral("f");
    QTEST(change == '+' ? addFinalizer(&changed, f) : removeFinalizer(&changed, f), "isChanged");
    QTEST(changed[QLatin1StringView("metadata")][QLatin1StringView("finalizers")].toJson(),
        "finalizers");
    QFETCH(const QByteArray, finalizers);
    QCOMPARE(containsFinalizer(changed, f), finalizers.contains("\"f\""));
    Object none;
    QVERIFY(!addFinalizer(&none, f));
    QVERIFY(!removeFinalizer(&none, f));
}

void tst_ObjectChanges::registry_data() // E-24
{
    QTest::addColumn<QByteArray>("metadata");
    QTest::addColumn<QString>("ran"); // which clean-ups
    QTest::addColumn<bool>("isUpdated");
    QTest::addColumn<bool>("isStatusUpdated");
    QTest::addColumn<QString>("error");
    QTest::addColumn<QByteArray>("finalizers");
    const QByteArray deleted = R"({"deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":)";
    QTest::newRow("E-24 lives: the missing ones are added, nothing runs")
        << QByteArray(R"({"finalizers":["other","good"]})") << QString() << true << false
        << QString() << QByteArray(R"(["other","good","bad","worse","status"])");
    QTest::newRow("E-24 lives and has all")
        << QByteArray(R"({"finalizers":["good","bad","worse","status"]})") << QString() << false
        << false << QString() << QByteArray(R"(["good","bad","worse","status"])");
    QTest::newRow("E-24 being deleted: success removes")
        << deleted + R"(["good","other"]})" << QStringLiteral("good ") << true << false << QString()
        << QByteArray(R"(["other"])");
    QTest::newRow("E-24 an error keeps it, others still run, errors are gathered")
        << deleted + R"(["bad","worse","good"]})" << QStringLiteral("good bad worse ") << true
        << false << QStringLiteral("bad: no; worse: never") << QByteArray(R"(["bad","worse"])");
    QTest::newRow("E-24 the status changed")
        << deleted + R"(["status"]})" << QStringLiteral("status ") << true << true << QString()
        << QByteArray("[]");
    QTest::newRow("E-24 none of ours is there") << deleted + R"(["other"]})" << QString() << false
                                                << false << QString() << QByteArray(R"(["other"])");
}

void tst_ObjectChanges::registry()
{
    QFETCH(const QByteArray, metadata);
    QString ran;
    FinalizerRegistry registry;
    const auto add = [&](const char *name, const char *error) {
        const QString finalizer = QString::fromLatin1(name);
        const Status added = registry.add(finalizer, [&ran, finalizer, error](Object *object) {
            ran += finalizer + QLatin1Char(' ');
            if (finalizer == QStringLiteral("status"))
                setStatusCondition(
                    object, {QStringLiteral("Clean"), QStringLiteral("True"), {}, {}});
            return *error ? Status(ErrorCode::Timeout, QString::fromLatin1(error)) : Status();
        });
        return added.isOk();
    };
    QVERIFY(add("good", "") && add("bad", "no") && add("worse", "never") && add("status", ""));
    QVERIFY(!add("good", "")); // twice
    Object changed = object(R"({"metadata":)" + metadata + '}');
    const FinalizerRegistry::Outcome outcome = registry.finalize(&changed);
    QTEST(ran, "ran");
    QTEST(outcome.isUpdated, "isUpdated");
    QTEST(outcome.isStatusUpdated, "isStatusUpdated");
    QTEST(outcome.status.error().message(), "error");
    QTEST(changed[QLatin1StringView("metadata")][QLatin1StringView("finalizers")].toJson(),
        "finalizers");
}

QTEST_GUILESS_MAIN(tst_ObjectChanges)
#include "tst_objectchanges.moc"
