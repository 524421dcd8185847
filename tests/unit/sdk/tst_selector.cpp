#include <davit/selector.h>

#include <QTest>

using namespace davit;

namespace {

Object labelled(const QByteArray &labels)
{
    Object made;
    const Status status = Object::fromJson("{\"metadata\":{\"labels\":" + labels + "}}", &made);
    if (!status.isOk())
        qFatal("%s", qUtf8Printable(status.error().message()));
    return made;
}

} // namespace

class tst_Selector : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void labels_data();
    void labels();
    void labelErrors_data();
    void labelErrors();
    void structured_data();
    void structured();
    void fields_data();
    void fields();
    void fieldErrors_data();
    void fieldErrors();
    void failedParseLeavesTheSelector();
};

void tst_Selector::labels_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QByteArray>("labels");
    QTest::addColumn<bool>("matches");
    QTest::addColumn<QString>("printed");
    const auto row = [](const char *name, const char *text, const char *labels, bool matches,
                         const char *printed) {
        QTest::newRow(name) << QString::fromUtf8(text) << QByteArray(labels) << matches
                            << QString::fromUtf8(printed);
    };
    row("9.7 empty", "", "{}", true, "");
    row("9.7 only spaces", " \t\n", R"({"a":"1"})", true, "");
    row("9.7 = equal", "a=1", R"({"a":"1"})", true, "a=1");
    row("9.7 = other", "a=1", R"({"a":"2"})", false, "a=1");
    row("9.7 = absent", "a=1", "{}", false, "a=1");
    row("9.7 ==", "a==1", R"({"a":"1"})", true, "a=1");
    row("9.7 != other", "a!=1", R"({"a":"2"})", true, "a!=1");
    row("9.7 != equal", "a!=1", R"({"a":"1"})", false, "a!=1");
    row("T99 != absent", "a!=1", "{}", true, "a!=1");
    row("T99 > absent", "a>1", "{}", false, "a>1");
    row("9.7 in", "a in (x,y)", R"({"a":"y"})", true, "a in (x,y)");
    row("9.7 in, not there", "a in (x,y)", "{}", false, "a in (x,y)");
    row("9.7 notin, absent", "a notin (x,y)", "{}", true, "a notin (x,y)");
    row("9.7 notin, other", "a notin (x,y)", R"({"a":"z"})", true, "a notin (x,y)");
    row("9.7 notin, in it", "a notin (x,y)", R"({"a":"x"})", false, "a notin (x,y)");
    row("9.7 exists", "a", R"({"a":""})", true, "a");
    row("9.7 exists, absent", "a", "{}", false, "a");
    row("9.7 !exists", "!a", "{}", true, "!a");
    row("9.7 !exists, there", "! a", R"({"a":""})", false, "!a");
    row("9.7 > greater", "a>5", R"({"a":"6"})", true, "a>5");
    row("9.7 > strictly", "a>5", R"({"a":"5"})", false, "a>5");
    row("9.7 < less", "a<5", R"({"a":"4"})", true, "a<5");
    row("9.7 < by number, not text", "a<10", R"({"a":"9"})", true, "a<10");
    row("9.7 > no number", "a>5", R"({"a":"six"})", false, "a>5");
    row("9.7 > beyond 64 bits", "a>5", R"({"a":"99999999999999999999"})", false, "a>5");
    row("9.7 in () is the empty value", "a in ()", R"({"a":""})", true, "a in ()");
    row("9.7 in () is not absence", "a in ()", "{}", false, "a in ()");
    row("9.7 k= is the empty value", "a=", R"({"a":""})", true, "a=");
    row("9.7 k= then a comma", "a=,b=2", R"({"a":"","b":"2"})", true, "a=,b=2");
    row("9.7 in (x,) has the empty value", "a in (x,)", R"({"a":""})", true, "a in (,x)");
    row("E-43 comma is AND", "a=1,b=2", R"({"a":"1","b":"2"})", true, "a=1,b=2");
    row("E-43 comma is AND, half", "a=1,b=2", R"({"a":"1"})", false, "a=1,b=2");
    row("E-43 white space is free", "  a\t=  1 ,\n b  in ( y , x ) ", R"({"a":"1","b":"x"})", true,
        "a=1,b in (x,y)");
    row("E-43 printed by key", "c,b=2,!a", R"({"c":"","b":"2"})", true, "!a,b=2,c");
    row("E-43 set values printed sorted, once", "a in (z,b,z)", R"({"a":"z"})", true, "a in (b,z)");
    row("E-43 prefix", "app.kubernetes.io/name=web", R"({"app.kubernetes.io/name":"web"})", true,
        "app.kubernetes.io/name=web");
    const QByteArray longest(63, 'a');
    row("E-43 63 letters", longest, "{}", false, longest);
    row("E-43 inner signs of a name", "a-b_c.d=x-y_z.w", R"({"a-b_c.d":"x-y_z.w"})", true,
        "a-b_c.d=x-y_z.w");
    row("a label called in", "in in (in)", R"({"in":"in"})", true, "in in (in)");
    row("a value called notin", "a=notin", R"({"a":"notin"})", true, "a=notin");
    row("twice the same term", "a=1,a==1", R"({"a":"1"})", true, "a=1");
}

void tst_Selector::labels()
{
    QFETCH(const QString, text);
    QFETCH(const QByteArray, labels);
    LabelSelector selector;
    const Status status = LabelSelector::parse(text, &selector);
    QVERIFY2(status.isOk(), qPrintable(status.error().message()));
    QTEST(selector.matches(labelled(labels)), "matches");
    QTEST(selector.toString(), "printed");
    QCOMPARE(selector.isEmpty(), selector.toString().isEmpty());
    LabelSelector again;
    QVERIFY(LabelSelector::parse(selector.toString(), &again).isOk());
    QCOMPARE(again.toString(), selector.toString());
}

void tst_Selector::labelErrors_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("fault");
    const auto row = [](const char *name, const QString &text, const char *fault) {
        QTest::newRow(name) << text << QString::fromLatin1(fault);
    };
    const auto text = [](const char *t) { return QString::fromLatin1(t); };
    row("E-43 trailing comma", text("a=1,"), "found the end where '!' or a label name is expected");
    row("E-43 leading comma", text(",a"), "found ',' where '!' or a label name is expected");
    row("E-43 two commas", text("a,,b"), "found ',' where '!' or a label name is expected");
    row("E-43 no closing parenthesis", text("a in (x"),
        "found the end where ',' or ')' is expected");
    row("E-43 no opening parenthesis", text("a in x"), "found 'x' where '(' is expected");
    row("E-43 two operators", text("a=!1"), "found '!' where a value is expected");
    row("E-43 three equals", text("a===1"), "found '=' where a value is expected");
    row("E-43 two values", text("a=1 2"), "found '2' where ',' or the end is expected");
    row("E-43 two words", text("a b"),
        "found 'b' where '=', '==', '!=', 'in', 'notin', '<' or '>' is expected");
    row("E-43 ! before a comparison", text("!a=1"), "found '=' where ',' or the end is expected");
    row("E-43 only !", text("!"), "found the end where a label name is expected");
    row("E-43 parenthesis alone", text("()"), "found '(' where '!' or a label name is expected");
    row("E-43 list without commas", text("a in (x y)"), "found 'y' where ',' or ')' is expected");
    row("E-43 bound no integer", text("a>1.5"), "label a: \"1.5\" is no whole number");
    row("E-43 bound empty", text("a>"), "label a: \"\" is no whole number");
    row("E-43 bound no number", text("a<b"), "label a: \"b\" is no whole number");
    row("E-43 negative bound", text("a>-3"), "label a: \"-3\" is no label value");
    row("E-43 name of 64 letters", QString(64, u'a'),
        "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" is no label name");
    row("E-43 name begins with a dash", text("-a"), "\"-a\" is no label name");
    row("E-43 two slashes", text("a/b/c"), "\"a/b/c\" is no label name");
    row("E-43 empty prefix", text("/a"), "\"/a\" is no label name");
    row("E-43 upper case prefix", text("A.io/a"), "\"A.io/a\" is no label name");
    row("E-43 prefix of 254", QString(254, u'a') + text("/b=1"), "is no label name");
    row("E-43 value begins with a dot", text("a=.x"), "label a: \".x\" is no label value");
    row("E-43 value with a slash", text("a=x/y"), "label a: \"x/y\" is no label value");
    row("E-43 value of 64 letters", text("a=") + QString(64, u'b'), "is no label value");
    row("name beyond ASCII", QStringLiteral("ä=1"), "is no label name");
}

void tst_Selector::labelErrors()
{
    QFETCH(const QString, text);
    QFETCH(const QString, fault);
    LabelSelector selector;
    const Status status = LabelSelector::parse(text, &selector);
    QVERIFY(!status.isOk());
    QCOMPARE(status.error().code(), ErrorCode::InvalidArgument);
    const QString message = status.error().message();
    QVERIFY2(message.startsWith(QStringLiteral("label selector \"%1\": ").arg(text))
            && message.endsWith(fault),
        qPrintable(message));
}

void tst_Selector::structured_data()
{
    QTest::addColumn<QByteArray>("selectorJson"); // of an object's spec.selector
    QTest::addColumn<QByteArray>("labels");
    QTest::addColumn<bool>("matches");
    QTest::addColumn<QString>("printed"); // or the error
    const auto row = [](const char *name, const char *json, const char *labels, bool matches,
                         const char *printed) {
        QTest::newRow(name) << QByteArray(json) << QByteArray(labels) << matches
                            << QString::fromLatin1(printed);
    };
    row("E-44 missing", "{}", "{}", false, "<nothing>");
    row("E-44 null", R"({"selector":null})", R"({"a":"1"})", false, "<nothing>");
    row("E-44 empty", R"({"selector":{}})", R"({"a":"1"})", true, "");
    row("E-44 matchLabels", R"({"selector":{"matchLabels":{"b":"2","a":"1"}}})",
        R"({"a":"1","b":"2"})", true, "a=1,b=2");
    row("E-44 both are ANDed",
        R"({"selector":{"matchLabels":{"a":"1"},"matchExpressions":[{"key":"b","operator":"Exists"}]}})",
        R"({"a":"1"})", false, "a=1,b");
    row("E-44 In",
        R"({"selector":{"matchExpressions":[{"key":"a","operator":"In","values":["y","x"]}]}})",
        R"({"a":"x"})", true, "a in (x,y)");
    row("E-44 NotIn",
        R"({"selector":{"matchExpressions":[{"key":"a","operator":"NotIn","values":["x"]}]}})",
        "{}", true, "a notin (x)");
    row("E-44 DoesNotExist",
        R"({"selector":{"matchExpressions":[{"key":"a","operator":"DoesNotExist","values":[]}]}})",
        R"({"a":"x"})", false, "!a");
    row("E-44 In without values",
        R"({"selector":{"matchExpressions":[{"key":"a","operator":"In"}]}})", "{}", false,
        "error: label selector: label a: in and notin need values");
    row("E-44 Exists with values",
        R"({"selector":{"matchExpressions":[{"key":"a","operator":"Exists","values":["x"]}]}})",
        "{}", false, "error: label selector: label a: Exists and DoesNotExist take no values");
    row("E-44 unknown operator",
        R"({"selector":{"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]}})", "{}",
        false, "error: label selector: \"Gt\" is no operator");
    row("E-44 no object", R"({"selector":"a=1"})", "{}", false,
        "error: label selector: it is no object");
}

void tst_Selector::structured()
{
    QFETCH(const QByteArray, selectorJson);
    QFETCH(const QByteArray, labels);
    QFETCH(const QString, printed);
    Object holder;
    QVERIFY(Object::fromJson(selectorJson, &holder).isOk());
    LabelSelector selector;
    const Status status
        = LabelSelector::fromValue(holder[QLatin1StringView("selector")], &selector);
    if (!status.isOk()) {
        QCOMPARE(QStringLiteral("error: ") + status.error().message(), printed);
        return;
    }
    QTEST(selector.matches(labelled(labels)), "matches");
    QCOMPARE(selector.toString(), printed);
}

void tst_Selector::fields_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QByteArray>("object");
    QTest::addColumn<bool>("matches");
    QTest::addColumn<QString>("printed");
    const auto row = [](const char *name, const char *text, const char *object, bool matches,
                         const char *printed) {
        QTest::newRow(name) << QString::fromUtf8(text) << QByteArray(object) << matches
                            << QString::fromUtf8(printed);
    };
    const char *pod = R"({"metadata":{"name":"x"},"status":{"phase":"Failed"},
        "spec":{"n":3,"on":false,"tls":"a,b=c\\d"}})";
    row("E-45 empty", "", pod, true, "");
    row("E-45 =", "metadata.name=x", pod, true, "metadata.name=x");
    row("E-45 ==", "metadata.name==x", pod, true, "metadata.name=x");
    row("E-45 = other", "metadata.name=y", pod, false, "metadata.name=y");
    row("E-45 !=", "status.phase!=Failed", pod, false, "status.phase!=Failed");
    row("E-45 absent is empty", "spec.nodeName=", pod, true, "spec.nodeName=");
    row("E-45 absent is not x", "spec.nodeName!=x", pod, true, "spec.nodeName!=x");
    row("E-45 a term twice, printed once", "metadata.name=x,metadata.name=x", pod, true,
        "metadata.name=x");
    row("E-45 AND, printed sorted", "status.phase=Failed,metadata.name=x", pod, true,
        "metadata.name=x,status.phase=Failed");
    row("E-45 empty terms are skipped", ",metadata.name=x,,", pod, true, "metadata.name=x");
    row("E-45 escapes", R"(spec.tls=a\,b\=c\\d)", pod, true, R"(spec.tls=a\,b\=c\\d)");
    row("numbers compare as text", "spec.n=3", pod, true, "spec.n=3");
    row("booleans compare as text", "spec.on=false", pod, true, "spec.on=false");
    row("a path through a string", "metadata.name.x=", pod, true, "metadata.name.x=");
}

void tst_Selector::fields()
{
    QFETCH(const QString, text);
    QFETCH(const QByteArray, object);
    FieldSelector selector;
    const Status status = FieldSelector::parse(text, &selector);
    QVERIFY2(status.isOk(), qPrintable(status.error().message()));
    Object parsed;
    QVERIFY(Object::fromJson(object, &parsed).isOk());
    QTEST(selector.matches(parsed), "matches");
    QTEST(selector.toString(), "printed");
    FieldSelector again;
    QVERIFY(FieldSelector::parse(selector.toString(), &again).isOk());
    QCOMPARE(again.toString(), selector.toString());
}

void tst_Selector::fieldErrors_data()
{
    QTest::addColumn<QString>("text");
    QTest::newRow("E-45 no operator") << QStringLiteral("metadata.name");
    QTest::newRow("E-45 other escape") << QStringLiteral("a=\\n");
    QTest::newRow("E-45 backslash at the end") << QStringLiteral("a=b\\");
    QTest::newRow("E-45 bare equals in the value") << QStringLiteral("a=b=c");
    QTest::newRow("no field") << QStringLiteral("=x");
    QTest::newRow("no field, negated") << QStringLiteral("!=x");
}

void tst_Selector::fieldErrors()
{
    QFETCH(const QString, text);
    FieldSelector selector;
    const Status status = FieldSelector::parse(text, &selector);
    QCOMPARE(status.error().code(), ErrorCode::InvalidArgument);
    QCOMPARE(status.error().message(),
        QStringLiteral("field selector \"%1\": cannot understand \"%1\"").arg(text));
}

void tst_Selector::failedParseLeavesTheSelector()
{
    LabelSelector selector;
    QVERIFY(LabelSelector::parse(u"a=1", &selector).isOk());
    QVERIFY(!LabelSelector::parse(u"a in", &selector).isOk());
    QCOMPARE(selector.toString(), QStringLiteral("a=1"));
}

QTEST_GUILESS_MAIN(tst_Selector)
#include "tst_selector.moc"
