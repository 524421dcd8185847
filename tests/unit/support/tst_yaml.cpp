#include <support/json.h>
#include <support/yaml.h>

#include <QTest>

using namespace davit::support;
using namespace Qt::Literals::StringLiterals;

class tst_Yaml : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void scalars_data();
    void scalars();
    void documents_data();
    void documents();
    void faults_data();
    void faults();
    void tooManyAliases();
    void manyKeys();
    void sameKeys_data();
    void sameKeys();
    void jsonDepth_data();
    void jsonDepth();
};

// Each expectation is what kubectl 1.37.2 makes of the value.
// NOLINTNEXTLINE(readability-function-size): a table
void tst_Yaml::scalars_data()
{
    QTest::addColumn<QByteArray>("yaml");
    QTest::addColumn<QByteArray>("json");
    const auto row = [](const char *yaml, const char *json) {
        QTest::addRow("%s", yaml) << QByteArray(yaml) << QByteArray(json);
    };
    row("yes", "true");
    row("y", "true");
    row("on", "true");
    row("TRUE", "true");
    row("tRUE", "\"tRUE\"");
    row("No", "false");
    row("n", "false");
    row("OFF", "false");
    row("~", "null");
    row("Null", "null");
    row("nULL", "\"nULL\"");
    row("0x1f", "31");
    row("0o17", "15");
    row("017", "15");
    row("08", "8");
    row("0b11", "3");
    row("0777_7", "4095");
    row("1_000", "1000");
    row("1__0", "10");
    row("_1", "\"_1\"");
    row("+1", "1");
    row("-0", "0");
    row("-7", "-7");
    row("9223372036854775807", "9223372036854775807");
    row("-9223372036854775808", "-9223372036854775808");
    row("18446744073709551615", "18446744073709551615");
    row("1.0", "1");
    row("1.10", "1.1");
    row(".5", "0.5");
    row("-.5", "-0.5");
    row("5.", "5");
    row("1e3", "1000");
    row("1.0e+2", "100");
    row("1e400", "\"1e400\"");
    row("0.1e", "\"0.1e\"");
    row("0x", "\"0x\"");
    row("0b2", "\"0b2\"");
    row("0o8", "\"0o8\"");
    row("=", "\"=\"");
    row("2001-01-01", "\"2001-01-01\"");
    row("12:30:45", "\"12:30:45\"");
    row("\"yes\"", "\"yes\"");
    row("'1'", "\"1\"");
    row("'null'", "\"null\"");
    row("!!str 1", "\"1\"");
    row("!!str true", "\"true\"");
    row("!!int \"3\"", "3");
    row("!!float 3", "3");
    row("!!binary aGk=", "\"hi\"");
    row("plain words", "\"plain words\"");
    row("\"\\u00e9\\n\"", "\"é\\n\"");
    row("{1: a}", "{\"1\":\"a\"}");
    row("{true: b}", "{\"true\":\"b\"}");
    row("{a: 1, a: 2}", "{\"a\":2}");
    row("{<<: {q: 1}, r: 2}", "{\"q\":1,\"r\":2}");
    row("{<<: {q: 1}, q: 2}", "{\"q\":2}");
    row("[]", "[]");
    row("{}", "{}");
}

void tst_Yaml::scalars()
{
    QFETCH(const QByteArray, yaml);
    const auto result = yamlToJson("v: " + yaml + "\n");
    QCOMPARE(result.error, QString());
    QCOMPARE(result.documents.size(), 1);
    QByteArray json = result.documents[0];
    QVERIFY(json.startsWith("{\"v\":") && json.endsWith('}'));
    json = json.mid(5, json.size() - 6);
    QTEST(json, "json");
}

void tst_Yaml::documents_data()
{
    QTest::addColumn<QByteArray>("yaml");
    QTest::addColumn<QByteArrayList>("json");
    using L = QByteArrayList;
    QTest::newRow("one") << QByteArray("a: 1\n") << L{"{\"a\":1}"};
    QTest::newRow("two") << QByteArray("a: 1\n---\nb: x\n") << L{"{\"a\":1}", "{\"b\":\"x\"}"};
    QTest::newRow("empty ones left out")
        << QByteArray("---\n# nothing\n---\na: 1\n---\n") << L{"{\"a\":1}"};
    QTest::newRow("nothing at all") << QByteArray("# only a comment\n") << L{};
    QTest::newRow("JSON is YAML") << QByteArray("{\"a\": [1, \"2\", null]}")
                                  << L{"{\"a\":[1,\"2\",null]}"};
    QTest::newRow("member order kept")
        << QByteArray("z: 1\na: 2\nm: 3\n") << L{"{\"z\":1,\"a\":2,\"m\":3}"};
    QTest::newRow("anchor and alias")
        << QByteArray("a: &x {k: v}\nb: *x\n") << L{"{\"a\":{\"k\":\"v\"},\"b\":{\"k\":\"v\"}}"};
    QTest::newRow("merge of two maps, the first wins")
        << QByteArray("base: &b {k: 1}\nmore: &m {k: 2, l: 3}\nc:\n  <<: [*b, *m]\n  own: 4\n")
        << L{"{\"base\":{\"k\":1},\"more\":{\"k\":2,\"l\":3},\"c\":{\"k\":1,\"l\":3,\"own\":4}}"};
    QTest::newRow("literal and folded blocks")
        << QByteArray("l: |\n  one\n  two\nf: >-\n  one\n  two\n")
        << L{"{\"l\":\"one\\ntwo\\n\",\"f\":\"one two\"}"};
    QTest::newRow("values that are absent")
        << QByteArray("a:\nb:\n- \n- x\n") << L{"{\"a\":null,\"b\":[null,\"x\"]}"};
    QTest::newRow("the mark of UTF-8") << QByteArray("\xef\xbb\xbf"
                                                     "a: 1\n")
                                       << L{"{\"a\":1}"};
    QTest::newRow("windows line ends") << QByteArray("a: 1\r\nb: 2\r\n") << L{"{\"a\":1,\"b\":2}"};
}

void tst_Yaml::documents()
{
    QFETCH(const QByteArray, yaml);
    const auto result = yamlToJson(yaml);
    QCOMPARE(result.error, QString());
    QTEST(QByteArrayList(result.documents), "json");
}

void tst_Yaml::faults_data()
{
    QTest::addColumn<QByteArray>("yaml");
    QTest::addColumn<QString>("start");
    QTest::newRow("tab as indentation") << QByteArray("a:\n\tb: 1\n") << QStringLiteral("line 2: ");
    const QString noText = QStringLiteral("it is not UTF-8 text, save it as UTF-8");
    QTest::newRow("UTF-16") << QByteArray("\xff\xfe"
                                          "a\0:\0 \0"
                                          "1\0",
        10) << noText;
    QTest::newRow("UTF-16 cut off") << QByteArray("\xff\xfe\0", 3) << noText;
    QTest::newRow("Latin-1") << QByteArray("a: \xe9\n") << noText;
    QTest::newRow("NUL") << QByteArray("a: 1\n\0b: 2\n", 11)
                         << QStringLiteral("it holds a NUL character, remove it");
    QTest::newRow("open bracket") << QByteArray("a: 1\nb: [1, 2\n") << QStringLiteral("line ");
    QTest::newRow("unknown alias")
        << QByteArray("a: 1\nb: 2\nc: *no\n") << QStringLiteral("line 3: ");
    QTest::newRow("infinity") << QByteArray("a: 1\nb: .inf\n")
                              << QStringLiteral("line 2: .inf has no form in JSON");
    // yaml-cpp alone would not come back from these.
    QTest::newRow("comma first") << QByteArray(", a\n")
                                 << QStringLiteral("line 1: this starts no value");
    QTest::newRow("comma alone") << QByteArray("a: 1\n---\n,\n") << QStringLiteral("line 3: ");
    QTest::newRow("comma behind a list") << QByteArray("- a\n, b\n") << QStringLiteral("line 2: ");
    QTest::newRow("comma behind a document")
        << QByteArray("a: 1\n---\n- 1\n, {b: [2]}]\n") << QStringLiteral("line 4: ");
    QTest::newRow("null key") << QByteArray("a:\n  ~: b\n")
                              << QStringLiteral("line 2: null is no key");
    QTest::newRow("map as key") << QByteArray("{a: 1}: b\n")
                                << QStringLiteral("line 1: a key must be a scalar");
    QTest::newRow("merge of a text")
        << QByteArray("a:\n  <<: text\n") << QStringLiteral("line 2: << needs a map");
    QTest::newRow("second document") << QByteArray("a: 1\n---\nb: [\n") << QStringLiteral("line ");
}

void tst_Yaml::faults()
{
    QFETCH(const QByteArray, yaml);
    QFETCH(const QString, start);
    const auto result = yamlToJson(yaml);
    QVERIFY(!result.isOk());
    QVERIFY2(result.error.startsWith(start), qPrintable(result.error));
    QVERIFY(result.documents.isEmpty());
}

// Nine aliases of nine aliases of … would be 10^9 nodes.
void tst_Yaml::tooManyAliases()
{
    QByteArray yaml = "l0: &l0 [a,a,a,a,a,a,a,a,a,a]\n";
    for (int level = 1; level < 9; ++level) {
        const QByteArray below = "*l" + QByteArray::number(level - 1);
        yaml += "l" + QByteArray::number(level) + ": &l" + QByteArray::number(level) + " ["
            + QByteArrayList(10, below).join(',') + "]\n";
    }
    const auto result = yamlToJson(yaml);
    QVERIFY2(result.error.contains(QLatin1String("too many nodes")), qPrintable(result.error));
}

// Each name is found without a look at all others: quadratic, this row would meet ctest's limit.
void tst_Yaml::manyKeys()
{
    QByteArray yaml;
    for (int i = 0; i < 100'000; ++i)
        yaml += "k" + QByteArray::number(i) + ": " + QByteArray::number(i) + '\n';
    yaml += "k7: last\n";
    const auto result = yamlToJson(yaml);
    QCOMPARE(result.error, QString());
    Json tree;
    QString error;
    QVERIFY2(parseJson(result.documents.value(0), &tree, &error), qPrintable(error));
    QCOMPARE(tree.size(), std::size_t(100'000));
    QCOMPARE(toByteArray(stringMember(tree, "k7")), QByteArray("last"));
    QCOMPARE(tree.back().get<int>(), 99'999);
    QVERIFY(isSameJson(tree, tree));
}

void tst_Yaml::sameKeys_data()
{
    QTest::addColumn<QByteArray>("yaml");
    QTest::addColumn<QString>("error");
    QTest::newRow("twice") << "a: 1\nb: 2\na: 3\n"_ba
                           << u"line 3: the key \"a\" stands twice in one map; remove one"_s;
    QTest::newRow("deep down") << "x: [{y: {1: a, \"1\": b}}]\n"_ba
                               << u"line 1: the key \"1\" stands twice in one map; remove one"_s;
    QTest::newRow("in two maps") << "a: {a: 1}\nb: {a: 2}\n"_ba << QString();
    QTest::newRow("over a merged one") << "b: &b {a: 1}\nc: {<<: *b, a: 2}\n"_ba << QString();
}

void tst_Yaml::sameKeys()
{
    QFETCH(const QByteArray, yaml);
    QTEST(yamlToJson(yaml, SameKeys::AreFaults).error, "error");
    QCOMPARE(yamlToJson(yaml).error, QString());
}

void tst_Yaml::jsonDepth_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("error");
    const QString tooDeep = QStringLiteral("JSON is nested more than 512 deep");
    const auto lists = [](int levels) { return QByteArray(levels, '[') + QByteArray(levels, ']'); };
    const auto maps = [](int levels) {
        return QByteArray(R"({"a":)").repeated(levels) + '1' + QByteArray(levels, '}');
    };
    QTest::newRow("512 lists") << lists(512) << QString();
    QTest::newRow("513 lists") << lists(513) << tooDeep;
    QTest::newRow("512 maps") << maps(512) << QString();
    QTest::newRow("513 maps") << maps(513) << tooDeep;
    QTest::newRow("513 that do not end") << QByteArray(513, '[') << tooDeep;
    QTest::newRow("brackets in a string") << '"' + lists(1000) + '"' << QString();
    QTest::newRow("1000 lists side by side")
        << "[[]" + QByteArray(",[]").repeated(999) + ']' << QString();
}

void tst_Yaml::jsonDepth()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, error);
    Json tree;
    QString fault;
    QCOMPARE(parseJson(text, &tree, &fault), error.isEmpty());
    QCOMPARE(fault, error);
}

QTEST_GUILESS_MAIN(tst_Yaml)
#include "tst_yaml.moc"
