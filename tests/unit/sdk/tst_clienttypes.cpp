#include <davit/clienttypes.h>

#include <QTest>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>

using namespace davit;
using namespace std::chrono_literals;

namespace {

Object object(const QByteArray &json)
{
    Object made;
    const Status status = Object::fromJson(json, &made);
    if (!status.isOk())
        qFatal("%s", qUtf8Printable(status.error().message()));
    return made;
}

} // namespace

class tst_ClientTypes : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void difference_data();
    void difference();
    void impossible();
    void replies();
    void patches();
    void options();
};

void tst_ClientTypes::difference_data()
{
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    QTest::addColumn<bool>("withLock");
    QTest::addColumn<QByteArray>("patch");
    const auto row = [](const char *name, const char *before, const char *after, bool withLock,
                         const char *patch) {
        QTest::newRow(name) << QByteArray(before) << QByteArray(after) << withLock
                            << QByteArray(patch);
    };
    row("E-28 equal", R"({"a":{"b":1}})", R"({"a":{"b":1}})", false, "{}");
    row("E-28 member set", R"({"a":1})", R"({"a":2})", false, R"({"a":2})");
    row("E-28 member added deep", R"({"a":{"b":1}})", R"({"a":{"b":1,"c":{"d":2}}})", false,
        R"({"a":{"c":{"d":2}}})");
    row("E-28 null deletes", R"({"a":{"b":1,"c":2}})", R"({"a":{"b":1}})", false,
        R"({"a":{"c":null}})");
    row("E-28 lists are whole", R"({"l":[1,2,3]})", R"({"l":[1,2,4]})", false, R"({"l":[1,2,4]})");
    row("E-28 list to object", R"({"l":[1]})", R"({"l":{"a":1}})", false, R"({"l":{"a":1}})");
    row("E-28 big integers", R"({"n":9007199254740993})", R"({"n":9007199254740995})", false,
        R"({"n":9007199254740995})");
    row("E-28 annotation with dots and slash", R"({"metadata":{"annotations":{"x.dev/a":"1"}}})",
        R"({"metadata":{"annotations":{"x.dev/a":"2"}}})", false,
        R"({"metadata":{"annotations":{"x.dev/a":"2"}}})");
    row("E-28 the order of members is no difference", R"({"a":{"b":1,"c":[{"d":1,"e":2}]}})",
        R"({"a":{"c":[{"e":2,"d":1}],"b":1}})", false, "{}");
    row("E-29 lock carries before's version",
        R"({"metadata":{"resourceVersion":"7"},"data":{"a":"1"}})",
        R"({"metadata":{"resourceVersion":"9"},"data":{"a":"2"}})", true,
        R"({"metadata":{"resourceVersion":"7"},"data":{"a":"2"}})");
    row("E-29 lock alone", R"({"metadata":{"resourceVersion":"7"}})",
        R"({"metadata":{"resourceVersion":"7"}})", true, R"({"metadata":{"resourceVersion":"7"}})");
}

void tst_ClientTypes::difference()
{
    QFETCH(const QByteArray, before);
    QFETCH(const QByteArray, after);
    QFETCH(const bool, withLock);
    QFETCH(const QByteArray, patch);
    const Patch made = Patch::difference(object(before), object(after), withLock);
    QCOMPARE(made.type(), PatchType::Merge);
    QCOMPARE(
        QJsonDocument::fromJson(made.body()).object(), QJsonDocument::fromJson(patch).object());
    if (patch.contains("900719925474099"))
        QCOMPARE(made.body(), patch); // exact, where QJson would round
}

void tst_ClientTypes::impossible()
{
    const Object some = object(R"({"a":1})");
    QCOMPARE(Patch::difference(some, some, true).type(), PatchType::Unset); // E-29: no version
    QCOMPARE(Patch::difference(Object(), some).type(), PatchType::Unset);
    QCOMPARE(Patch::difference(some, Object()).type(), PatchType::Unset);
}

void tst_ClientTypes::replies()
{
    QVERIFY(!ObjectReply().isOk());
    QVERIFY(!ObjectReply().error().isError());
    const ObjectReply bad(Error(ErrorCode::NotFound, QStringLiteral("gone")));
    QVERIFY(!bad.isOk());
    QVERIFY(bad.object().isNull());
    const ObjectReply good(object(R"({"a":1})"));
    QVERIFY(good.isOk());
    QCOMPARE(good.object().toJson(), QByteArray(R"({"a":1})"));
    const ListReply page({object("{}")}, QStringLiteral("5"), QString(), -1);
    QVERIFY(page.isOk());
    QCOMPARE(page.objects().size(), 1);
    QCOMPARE(page.remainingItemCount(), qint64(-1));
    QCOMPARE(ListReply().remainingItemCount(), qint64(-1));
    QVERIFY(!ListReply(Error(ErrorCode::Expired, QStringLiteral("too old"))).isOk());
    QVERIFY(!BodyReply().isOk());
    QCOMPARE(BodyReply(QByteArray("ok")).body(), QByteArray("ok"));
    QVERIFY(!BodyReply(Error(ErrorCode::NotFound, QStringLiteral("gone"))).isOk());
}

void tst_ClientTypes::patches()
{
    QCOMPARE(Patch::merge("m").type(), PatchType::Merge);
    QCOMPARE(Patch::json("j").type(), PatchType::Json);
    QCOMPARE(Patch::apply("a").type(), PatchType::Apply);
    QCOMPARE(Patch::strategicMerge("s").type(), PatchType::StrategicMerge);
    QCOMPARE(Patch::json("j").body(), QByteArray("j"));
}

void tst_ClientTypes::options()
{
    const RequestOptions none;
    QCOMPARE(none.timeout(), 30000ms);
    QCOMPARE(none.limit(), qint64(0));
    QCOMPARE(none.propagation(), Propagation::Unset);
    RequestOptions changed = none;
    changed.inNamespace(QStringLiteral("a"))
        .labelSelector(QStringLiteral("b"))
        .fieldSelector(QStringLiteral("c"))
        .limit(500)
        .continueToken(QStringLiteral("d"))
        .resourceVersion(QStringLiteral("e"))
        .subresource(QStringLiteral("f"))
        .fieldManager(QStringLiteral("g"))
        .force()
        .dryRun()
        .propagation(Propagation::Foreground)
        .preconditionUid(QStringLiteral("h"))
        .preconditionResourceVersion(QStringLiteral("i"))
        .timeout(2s)
        .fieldValidation(FieldValidation::Strict)
        .gracePeriod(5s)
        .payload(Payload::Metadata)
        .resourceVersionMatch(ResourceVersionMatch::Exact);
    QCOMPARE((QStringList{changed.namespaceName(), changed.labelSelector(), changed.fieldSelector(),
                  changed.continueToken(), changed.resourceVersion(), changed.subresource(),
                  changed.fieldManager(), changed.preconditionUid(),
                  changed.preconditionResourceVersion()})
                 .join(QString()),
        QStringLiteral("abcdefghi"));
    QCOMPARE(changed.limit(), qint64(500));
    QVERIFY(changed.isForced());
    QVERIFY(changed.isDryRun());
    QCOMPARE(changed.propagation(), Propagation::Foreground);
    QCOMPARE(changed.timeout(), 2000ms);
    QCOMPARE(changed.fieldValidation(), FieldValidation::Strict);
    QCOMPARE(changed.gracePeriod(), 5s);
    QCOMPARE(changed.payload(), Payload::Metadata);
    QCOMPARE(changed.resourceVersionMatch(), ResourceVersionMatch::Exact);
    QCOMPARE(none.resourceVersionMatch(), ResourceVersionMatch::Unset);
    QVERIFY(none.gracePeriod().count() < 0);
    QVERIFY(!none.isForced());
    QCOMPARE(none.namespaceName(), QString());
}

QTEST_GUILESS_MAIN(tst_ClientTypes)
#include "tst_clienttypes.moc"
