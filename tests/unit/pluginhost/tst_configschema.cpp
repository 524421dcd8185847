#include "pluginhost/configschema.h"

#include <QTest>
#include <QtCore/qjsondocument.h>

using namespace davit;
using namespace davit::pluginhost;

namespace {

QJsonObject parsed(const QByteArray &json)
{
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(json, &error);
    if (error.error != QJsonParseError::NoError)
        qFatal("%s", qUtf8Printable(error.errorString()));
    return document.object();
}

} // namespace

class tst_ConfigSchema : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void applies_data();
    void applies();
    void wrongSchemas_data();
    void wrongSchemas();
};

// NOLINTNEXTLINE(readability-function-size): a table
void tst_ConfigSchema::applies_data()
{
    QTest::addColumn<QByteArray>("schema");
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<QByteArray>("filled"); // or empty
    QTest::addColumn<QString>("fault");
    const auto good
        = [](const char *name, const char *schema, const char *config, const char *filled) {
              QTest::newRow(name) << QByteArray(schema) << QByteArray(config) << QByteArray(filled)
                                  << QString();
          };
    const auto bad
        = [](const char *name, const char *schema, const char *config, const char *fault) {
              QTest::newRow(name) << QByteArray(schema) << QByteArray(config) << QByteArray()
                                  << QString::fromLatin1(fault);
          };
    good("empty schema takes anything", "{}", R"({"a":[1,{"b":null}]})", R"({"a":[1,{"b":null}]})");
    good("default is filled in", R"({"properties":{"n":{"type":"integer","default":3}}})", "{}",
        R"({"n":3})");
    good("default yields to a value", R"({"properties":{"n":{"default":3}}})", R"({"n":4})",
        R"({"n":4})");
    good("defaults at depth",
        R"({"properties":{"o":{"default":{},"properties":{"x":{"default":"y"}}}}})", "{}",
        R"({"o":{"x":"y"}})");
    good("defaults in a list",
        R"({"properties":{"l":{"items":{"properties":{"x":{"default":1}}}}}})",
        R"({"l":[{},{"x":2}]})", R"({"l":[{"x":1},{"x":2}]})");
    good("required met by a default", R"({"required":["n"],"properties":{"n":{"default":1}}})",
        "{}", R"({"n":1})");
    good("one of two types", R"({"properties":{"p":{"type":["string","integer"]}}})",
        R"({"p":8080})", R"({"p":8080})");
    good("whole number as integer", R"({"properties":{"n":{"type":"integer"}}})", R"({"n":2.0})",
        R"({"n":2})");
    good("others are allowed unless said", R"({"properties":{}})", R"({"x":1})", R"({"x":1})");
    good("bounds are inclusive", R"({"properties":{"n":{"minimum":1,"maximum":1}}})", R"({"n":1})",
        R"({"n":1})");
    good("pattern is a search", R"({"properties":{"s":{"pattern":"b"}}})", R"({"s":"abc"})",
        R"({"s":"abc"})");
    bad("wrong type", R"({"properties":{"n":{"type":"integer"}}})", R"({"n":"3"})",
        "n must be of type integer, not \"3\"");
    bad("fraction as integer", R"({"properties":{"n":{"type":"integer"}}})", R"({"n":1.5})",
        "n must be of type integer, not 1.5");
    bad("null is no string", R"({"properties":{"s":{"type":"string"}}})", R"({"s":null})",
        "s must be of type string, not null");
    bad("missing", R"({"required":["a"]})", "{}", "a is missing");
    bad("missing at depth", R"({"properties":{"o":{"required":["a"]}}})", R"({"o":{}})",
        "o.a is missing");
    bad("not known", R"({"additionalProperties":false,"properties":{"a":{}}})", R"({"b":1})",
        "b is not a known member");
    bad("enum", R"({"properties":{"m":{"enum":["on","off"]}}})", R"({"m":"of"})",
        "m must be one of [\"on\",\"off\"], not \"of\"");
    bad("too small", R"({"properties":{"n":{"minimum":1}}})", R"({"n":0})",
        "n must be at least 1, not 0");
    bad("too big", R"({"properties":{"n":{"maximum":9}}})", R"({"n":10})",
        "n must be at most 9, not 10");
    bad("pattern", R"({"properties":{"s":{"pattern":"^[a-z]+$"}}})", R"({"s":"A"})",
        "s must match ^[a-z]+$, not \"A\"");
    bad("in a list", R"({"properties":{"l":{"items":{"type":"string"}}}})", R"({"l":["a",2]})",
        "l[1] must be of type string, not 2");
    bad("a default that breaks its own rule",
        R"({"properties":{"n":{"type":"string","default":3}}})", "{}",
        "n must be of type string, not 3");
    bad("the top itself", R"({"type":"array"})", "{}",
        "the configuration must be of type array, not {}");
}

void tst_ConfigSchema::applies()
{
    QFETCH(const QByteArray, schema);
    QFETCH(const QByteArray, config);
    QFETCH(const QByteArray, filled);
    const QJsonObject untouched{{QStringLiteral("untouched"), true}};
    QJsonObject result = untouched;
    QVERIFY(ConfigSchema::check(parsed(schema)).isOk());
    const Status status = ConfigSchema::apply(parsed(schema), parsed(config), &result);
    QTEST(status.error().message(), "fault");
    QCOMPARE(result, status.isOk() ? parsed(filled) : untouched);
}

void tst_ConfigSchema::wrongSchemas_data()
{
    QTest::addColumn<QByteArray>("schema");
    QTest::addColumn<QString>("fault");
    const auto row = [](const char *name, const char *schema, const char *fault) {
        QTest::newRow(name) << QByteArray(schema) << QString::fromLatin1(fault);
    };
    row("unknown keyword", R"({"anyOf":[]})", "anyOf: the keyword is not supported");
    row("unknown keyword at depth", R"({"properties":{"a":{"items":{"format":"ipv4"}}}})",
        "properties.a.items.format: the keyword is not supported");
    row("unknown type", R"({"type":"text"})", "type: \"text\" is no type");
    row("type is a number", R"({"type":1})", "type must be a type name or a list of them");
    row("required no list", R"({"required":"a"})", "required must be a list");
    row("minimum no number", R"({"minimum":"1"})", "minimum must be a number");
    row("pattern broken", R"({"pattern":"("})", "pattern must be a regular expression");
    row("property no object", R"({"properties":{"a":1}})", "properties.a must be an object");
    row("additional schema", R"({"additionalProperties":{}})",
        "additionalProperties must be true or false");
}

void tst_ConfigSchema::wrongSchemas()
{
    QFETCH(const QByteArray, schema);
    const Status status = ConfigSchema::check(parsed(schema));
    QCOMPARE(status.error().code(), ErrorCode::InvalidConfiguration);
    QTEST(status.error().message(), "fault");
}

QTEST_GUILESS_MAIN(tst_ConfigSchema)
#include "tst_configschema.moc"
