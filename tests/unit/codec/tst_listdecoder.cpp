#include "codec/listdecoder.h"

#include <QFile>
#include <QTest>

using namespace davit;
using codec::ListDecoder;
using codec::ListMeta;

namespace {

const Gvk kWidget{QStringLiteral("demo.example"), QStringLiteral("v1"), QStringLiteral("Widget")};

QByteArray caseFile(const char *name)
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/") + QLatin1String(name));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no such case: %s", name);
    return file.readAll();
}

QByteArray item(const char *name)
{
    return QByteArray("{\"metadata\":{\"name\":\"") + name
        + "\",\"namespace\":\"n\"},\"s\":\"]}\\\"\\\\\"}";
}

struct Outcome
{
    QStringList names;
    ErrorCode error;
    QString message;
    QString resourceVersion;
    QStringList notes;
    bool operator==(const Outcome &other) const
    {
        return names == other.names && error == other.error && message == other.message
            && resourceVersion == other.resourceVersion && notes == other.notes;
    }
};

Outcome decoded(const QByteArrayList &chunks)
{
    ListDecoder decoder(kWidget, {});
    Outcome outcome;
    for (const QByteArray &chunk : chunks)
        for (const Object &object : decoder.feed(chunk))
            outcome.names.append(object.name());
    const Error error = decoder.finish();
    outcome.error = error.code();
    outcome.message = error.message();
    outcome.resourceVersion = decoder.meta().resourceVersion;
    outcome.notes = decoder.badItemNotes();
    if (decoder.badItems() != outcome.notes.size())
        outcome.notes.append(QStringLiteral("badItems() differs"));
    return outcome;
}

} // namespace

class tst_ListDecoder : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void lists_data();
    void lists();
    void everySplit_data() { lists_data(); }
    void everySplit();
    void meta();
    void impliedKind();
    void tooLarge_data();
    void tooLarge();
    void manyBadItems();
};

// NOLINTNEXTLINE(readability-function-size): a table
void tst_ListDecoder::lists_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QStringList>("names");
    QTest::addColumn<QString>("error"); // behind "list of demo.example/v1 Widget: "
    QTest::addColumn<QString>("resourceVersion");
    QTest::addColumn<QStringList>("notes");
    const auto row
        = [](const char *name, const QByteArray &json, const QStringList &names,
              const char *error = "", const char *version = "5", const QStringList &notes = {}) {
              QTest::newRow(name) << json << names << QString::fromLatin1(error)
                                  << QString::fromLatin1(version) << notes;
          };
    using L = QStringList;
    const QByteArray head
        = R"({"kind":"WidgetList","apiVersion":"demo.example/v1","metadata":{"resourceVersion":"5"},"items":)";
    const QString a = QStringLiteral("a");
    const QString b = QStringLiteral("b");
    const char *const notValid = "the reply is not valid JSON";
    const char *const cut = "the reply was cut";
    row("B22 pretty list", caseFile("B22-list.json"),
        L{QStringLiteral("good-1"), QStringLiteral("bad"), QStringLiteral("good-2")}, "", "200");
    row("empty", head + "[]}", L{});
    row("null items", head + "null}", L{});
    row("two items", head + '[' + item("a") + ',' + item("b") + "]}\n", L{a, b});
    row("items first",
        "{\"items\":[" + item("a")
            + "],\"metadata\":{\"resourceVersion\":\"5\"},\"kind\":\"WidgetList\"}",
        L{a});
    row("white space and unknown members",
        "\n { \"x\" : [ {\"items\":[1]} ] , \"items\" : [ " + item("a") + " , " + item("b")
            + " ] , \"y\" : -1.5e3 , \"z\" : \"]}\\\"\" , \"metadata\" : "
              "{\"resourceVersion\":\"5\"} } \n",
        L{a, b});
    row("B22 lone surrogate",
        head + "[" + item("a") + R"(,{"metadata":{"name":"c","namespace":"n"},"s":"\udc00"},)"
            + item("b") + "]}",
        L{a, b}, "", "5", L{QStringLiteral("n/c: byte 52: a lone surrogate")});
    row("B22 bytes that are not UTF-8",
        head + "[{\"metadata\":{\"name\":\"\xff\"}}," + item("b") + "]}", L{b}, "", "5",
        L{QStringLiteral("\uFFFD: byte 21: bytes that are not UTF-8")});
    row("B22 items that are no objects", head + "[1,\"x\",null,[{}]," + item("b") + "]}", L{b}, "",
        "5",
        L{QStringLiteral("unknown: byte 0: no JSON object"),
            QStringLiteral("unknown: byte 0: no JSON object"),
            QStringLiteral("unknown: byte 0: no JSON object"),
            QStringLiteral("unknown: byte 0: no JSON object")});
    row("B22 no metadata", head + "[{}," + item("b") + "]}", L{b}, "", "5",
        L{QStringLiteral("an item without metadata")});
    row("R-19 table",
        R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"5"},"columnDefinitions":[],"rows":[{"cells":[1]}]})",
        L{}, "the server sent a Table");
    row("no list", R"({"kind":"Widget","metadata":{"resourceVersion":"5"},"spec":{}})", L{},
        "the reply is no list");
    row("items is an object", head + "{}}", L{}, "the reply is no list");
    row("metadata is a string", R"({"metadata":"x","items":[]})", L{}, "the reply is no list", "");
    row("nothing", "", L{}, cut, "");
    row("cut behind an item", head + "[" + item("a"), L{a}, cut);
    row("cut inside an item", head + "[" + item("a") + item("b").left(20), L{a}, notValid);
    row("cut before the end", head + "[" + item("a") + "]", L{a}, cut);
    row("HTML", "<html>", L{}, notValid, "");
    row("array", "[]", L{}, notValid, "");
    row("text behind", head + "[]} x", L{}, notValid);
    row("two lists", head + "[]}{}", L{}, notValid);
    row("trailing comma", head + "[],}", L{}, notValid);
    row("trailing comma in items", head + "[" + item("a") + ",]}", L{a}, notValid);
    row("no comma between items", head + "[" + item("a") + ' ' + item("b") + "]}", L{a}, notValid);
    row("no colon", "{\"items\"[]}", L{}, notValid, "");
    row("no value", "{\"items\":,\"a\":1}", L{}, notValid, "");
}

void tst_ListDecoder::lists()
{
    QFETCH(const QByteArray, json);
    QFETCH(const QString, error);
    const Outcome outcome = decoded({json});
    QTEST(outcome.names, "names");
    const QString context = QStringLiteral("list of demo.example/v1 Widget: ");
    QCOMPARE(outcome.message, error.isEmpty() ? QString() : context + error);
    QTEST(outcome.resourceVersion, "resourceVersion");
    QTEST(outcome.notes, "notes");
    if (error.endsWith(QLatin1String("Table")))
        QCOMPARE(outcome.error, ErrorCode::Unsupported);
    else
        QCOMPARE(outcome.error, error.isEmpty() ? ErrorCode::Unset : ErrorCode::MalformedReply);
}

void tst_ListDecoder::everySplit()
{
    QFETCH(const QByteArray, json);
    const Outcome whole = decoded({json});
    for (qsizetype at = 0; at <= json.size(); ++at)
        QVERIFY2(decoded({json.left(at), json.mid(at)}) == whole, QByteArray::number(at));
    QByteArrayList bytes;
    for (const char byte : json)
        bytes.append(QByteArray(1, byte));
    QVERIFY(decoded(bytes) == whole);
}

void tst_ListDecoder::meta()
{
    ListDecoder decoder(kWidget, {});
    QVERIFY(
        decoder
            .feed(
                R"({"metadata":{"continue":"tok\u0065n","remainingItemCount":17,"resourceVersion":"9"},)"
                R"("items":[],"kind":"WidgetList","apiVersion":"demo.example/v1"})")
            .empty());
    QVERIFY(!decoder.finish().isError());
    const ListMeta &meta = decoder.meta();
    QCOMPARE(meta.continueToken, QStringLiteral("token"));
    QCOMPARE(meta.remainingItemCount, 17);
    QCOMPARE(meta.resourceVersion, QStringLiteral("9"));
    QCOMPARE(meta.kind, QStringLiteral("WidgetList"));
    QCOMPARE(meta.apiVersion, QStringLiteral("demo.example/v1"));
    QCOMPARE(ListDecoder(kWidget, {}).meta().remainingItemCount, -1);
}

void tst_ListDecoder::impliedKind()
{
    ListDecoder decoder(kWidget, {});
    const std::vector<Object> items = decoder.feed(
        R"({"items":[{"metadata":{"name":"a","managedFields":[]}},{"kind":"Gadget","metadata":{"name":"b"}}]})");
    QCOMPARE(items.size(), std::size_t(2));
    QCOMPARE(items[0].toJson(),
        QByteArray(R"({"apiVersion":"demo.example/v1","kind":"Widget","metadata":{"name":"a"}})"));
    QCOMPARE(items[1].toJson(),
        QByteArray(R"({"apiVersion":"demo.example/v1","kind":"Gadget","metadata":{"name":"b"}})"));
}

void tst_ListDecoder::tooLarge_data()
{
    QTest::addColumn<QByteArray>("before"); // the filler
    QTest::addColumn<QByteArray>("behind");
    QTest::addColumn<int>("filler"); // bytes
    QTest::addColumn<int>("items");
    QTest::addColumn<QStringList>("notes");
    QTest::addColumn<QString>("error");
    using L = QStringList;
    const QByteArray large = R"({"items":[{"metadata":{"name":"b","namespace":"n"},"x":")";
    const QByteArray behind = "\"}," + item("a") + "]}";
    const int filler = 1000 - int(large.size() - 10 + 2);
    QTest::newRow("B20 an item at the limit") << large << behind << filler << 2 << L{} << "";
    QTest::newRow("B20 an item of one more")
        << large << behind << filler + 1 << 1
        << L{QStringLiteral("n/b: its 1001 bytes are more than the limit of 1000 bytes")} << "";
    QTest::newRow("B20 an item of many more")
        << large << behind << filler + 100000 << 1
        << L{QStringLiteral("n/b: its 101000 bytes are more than the limit of 1000 bytes")} << "";
    QTest::newRow("metadata at the limit") << QByteArray(R"({"items":[],"metadata":{"x":")")
                                           << QByteArray("\"}}") << 992 << 0 << L{} << "";
    QTest::newRow("metadata of one more")
        << QByteArray(R"({"items":[],"metadata":{"x":")") << QByteArray("\"}}") << 993 << 0 << L{}
        << "list of demo.example/v1 Widget: metadata: its 1001 bytes are more than the limit of "
           "1000 bytes";
    QTest::newRow("a member that nobody reads") << QByteArray(R"({"items":[],"other":{"x":")")
                                                << QByteArray("\"}}") << 5000 << 0 << L{} << "";
}

void tst_ListDecoder::tooLarge()
{
    QFETCH(const QByteArray, before);
    QFETCH(const QByteArray, behind);
    QFETCH(const int, filler);
    QFETCH(const int, items);
    QFETCH(const QString, error);
    const QByteArray list = before + QByteArray(filler, 'x') + behind;
    for (const qsizetype step : {qsizetype(7), qsizetype(64), list.size()}) {
        ListDecoder decoder(kWidget, {}, davit::codec::Limits{1000, 1000});
        std::size_t seen = 0;
        for (qsizetype at = 0; at < list.size(); at += step)
            seen += decoder.feed(list.mid(at, step)).size();
        QCOMPARE(seen, std::size_t(items));
        QCOMPARE(decoder.finish().message(), error);
        QTEST(decoder.badItemNotes(), "notes");
    }
}

void tst_ListDecoder::manyBadItems()
{
    ListDecoder decoder(kWidget, {});
    QVERIFY(decoder.feed("{\"items\":[" + QByteArray("{},").repeated(1000) + "{}]}").empty());
    QCOMPARE(decoder.badItems(), 1001);
    QCOMPARE(decoder.badItemNotes().size(), 100);
}

QTEST_GUILESS_MAIN(tst_ListDecoder)
#include "tst_listdecoder.moc"
