#include <davit/predicate.h>

#include <QTest>

using namespace davit;

namespace {

Object object(const QByteArray &metadata)
{
    Object made;
    const Status status = Object::fromJson("{\"metadata\":" + metadata + '}', &made);
    if (!status.isOk())
        qFatal("%s", qUtf8Printable(status.error().message()));
    return made;
}

ObjectEvent eventOf(EventType type, const Object &before, const Object &after)
{
    return {type, false, false, {}, before, after};
}

Predicate odd()
{
    return Predicate::from([](const ObjectEvent &e) { return e.object.generation() % 2 == 1; });
}

Predicate webOnly()
{
    LabelSelector web;
    if (!LabelSelector::parse(u"app=web", &web).isOk())
        qFatal("the selector of the test is wrong");
    return predicates::matching(web);
}

} // namespace
Q_DECLARE_METATYPE(Predicate)

class tst_Predicate : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void table_data();
    void table();
    void nullStates();
    void nothingFilters();
};

void tst_Predicate::table_data()
{
    QTest::addColumn<Predicate>("predicate");
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    QTest::addColumn<QString>("passes"); // of c(reate) u(pdate) d(elete) g(eneric)
    using namespace predicates;
    const auto row = [](const char *name, const Predicate &predicate, const char *before,
                         const char *after, const char *passes) {
        QTest::newRow(name) << predicate << QByteArray(before) << QByteArray(after)
                            << QString::fromLatin1(passes);
    };
    const char *plain = R"({"resourceVersion":"1","generation":1})";
    row("10.3 RV differs", resourceVersionChanged(), plain,
        R"({"resourceVersion":"2","generation":1})", "cudg");
    row("10.3 RV equal (resync)", resourceVersionChanged(), plain, plain, "cdg");
    row("10.3 generation differs", generationChanged(), plain,
        R"({"resourceVersion":"2","generation":2})", "cudg");
    row("10.3 B41 status only", generationChanged(), plain,
        R"({"resourceVersion":"2","generation":1})", "cdg");
    row("10.3 no generation at all", generationChanged(), R"({"resourceVersion":"1"})",
        R"({"resourceVersion":"2"})", "cdg");
    row("10.3 label value", labelsChanged(), R"({"labels":{"a":"1"}})", R"({"labels":{"a":"2"}})",
        "cudg");
    row("10.3 label removed", labelsChanged(), R"({"labels":{"a":"1"}})", R"({})", "cudg");
    row("10.3 label renamed", labelsChanged(), R"({"labels":{"a":"1"}})", R"({"labels":{"b":"1"}})",
        "cudg");
    row("10.3 labels in another order", labelsChanged(), R"({"labels":{"a":"1","b":"2"}})",
        R"({"labels":{"b":"2","a":"1"}})", "cdg");
    row("10.3 no labels and empty labels", labelsChanged(), R"({"labels":{}})", R"({})", "cdg");
    row("10.3 annotation", annotationsChanged(), R"({"annotations":{"a":""}})",
        R"({"annotations":{"a":"x"}})", "cudg");
    row("10.3 annotation asks not for labels", annotationsChanged(), R"({"labels":{"a":""}})",
        R"({"labels":{"a":"x"}})", "cdg");
    row("10.3 function sees the new one, true", odd(), R"({"generation":2})", R"({"generation":3})",
        "cudg");
    row("10.3 function sees the new one, false", odd(), R"({"generation":3})",
        R"({"generation":4})", "");
    row("10.3 selector matches", webOnly(), R"({})", R"({"labels":{"app":"web"}})", "cudg");
    row("10.3 selector: was, is no more", webOnly(), R"({"labels":{"app":"web"}})", R"({})", "");
    const char *a1 = R"({"generation":1,"labels":{"a":"1"}})";
    const char *a2 = R"({"generation":1,"labels":{"a":"2"}})";
    row("T106 generation or labels", generationChanged() || labelsChanged(), a1, a2, "cudg");
    row("T106 generation and labels", generationChanged() && labelsChanged(), a1, a2, "cdg");
    row("not", !generationChanged(), a1, a2, "u");
    row("null predicate", Predicate(), a1, a1, "cudg");
    row("and with null", Predicate() && generationChanged(), a1, a2, "cdg");
}

void tst_Predicate::table()
{
    QFETCH(const Predicate, predicate);
    QFETCH(const QByteArray, before);
    QFETCH(const QByteArray, after);
    const Object from = object(before);
    const Object to = object(after);
    QString passes;
    if (predicate.accepts(eventOf(EventType::Added, {}, to)))
        passes += u'c';
    if (predicate.accepts(eventOf(EventType::Updated, from, to)))
        passes += u'u';
    if (predicate.accepts(eventOf(EventType::Deleted, {}, to)))
        passes += u'd';
    if (predicate.accepts(eventOf(EventType::Generic, {}, to)))
        passes += u'g';
    QTEST(passes, "passes");
}

// M-7
void tst_Predicate::nullStates()
{
    const Predicate changed = predicates::generationChanged();
    const Object some = object("{\"generation\":1}");
    QTest::ignoreMessage(
        QtWarningMsg, "generationChanged: an update without both states was dropped");
    QVERIFY(!changed.accepts(eventOf(EventType::Updated, {}, some)));
    QTest::ignoreMessage(
        QtWarningMsg, "generationChanged: an update without both states was dropped");
    QVERIFY(!changed.accepts(eventOf(EventType::Updated, some, {})));
}

void tst_Predicate::nothingFilters()
{
    QVERIFY(Predicate(nullptr).accepts(eventOf(EventType::Added, {}, {})));
}

QTEST_GUILESS_MAIN(tst_Predicate)
#include "tst_predicate.moc"
