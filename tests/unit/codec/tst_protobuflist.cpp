#include "protobufparts.h"

#include <codec/protobuflist.h>

#include <QtTest>

using namespace davit;
using namespace protobuf;
using codec::KubernetesSchema;
using codec::ProtobufListDecoder;

namespace {

const Gvk kConfigMap{{}, QStringLiteral("v1"), QStringLiteral("ConfigMap")};

struct Outcome
{
    QStringList names;
    QString error;
    QStringList notes;
    bool needsJson = false;
};

Outcome decoded(const QByteArrayList &chunks, const codec::Limits &limits = {})
{
    ProtobufListDecoder decoder(KubernetesSchema::builtIn(), kConfigMap, {}, limits);
    Outcome outcome;
    for (const QByteArray &chunk : chunks)
        for (const Object &object : decoder.feed(chunk))
            outcome.names.append(object.name());
    outcome.error = decoder.finish().message();
    outcome.notes = decoder.badItemNotes();
    outcome.needsJson = decoder.needsJson();
    return outcome;
}

QStringList L(std::initializer_list<const char *> texts)
{
    QStringList list;
    for (const char *text : texts)
        list += QString::fromUtf8(text);
    return list;
}

} // namespace

class tst_ProtobufList : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void lists_data();
    void lists();
    void everySplit_data() { lists_data(); }
    void everySplit();
    void everyCut();
    void meta();
    void impliedKind();
    void tooLarge_data();
    void tooLarge();
};

// NOLINTNEXTLINE(readability-function-size): a table
void tst_ProtobufList::lists_data()
{
    QTest::addColumn<QByteArray>("reply");
    QTest::addColumn<QStringList>("names");
    QTest::addColumn<QString>("error");
    QTest::addColumn<QStringList>("notes");
    const auto row = [](const char *name, const QByteArray &reply, const QStringList &names,
                         const char *error = "", const QStringList &notes = {}) {
        QTest::newRow(name) << reply << names << QString::fromLatin1(error) << notes;
    };
    const QByteArray a = configMap("a", "1");
    const QByteArray b = configMap("b", "2");
    row("none", configMapList({}), {});
    row("two", configMapList({a, b}), L({"a", "b"}));
    row("a large one",
        configMapList(
            {configMap("c", "1", bytes(2, bytes(1, "k") + bytes(2, QByteArray(1000, 'x'))))}),
        L({"c"}));
    row("one is bad: it alone is left out (B22)", configMapList({a, bytes(1, number(1, 1)), b}),
        L({"a", "b"}), "",
        L({"an object without a name: byte 2: a field has another wire type than its kind"}));
    row("one is cut", configMapList({a, configMap("x", "1") + QByteArray("\x12\x7f"), b}),
        L({"a", "b"}), "", L({"n/x: byte 40: a field is cut or is no protobuf"}));
    row("an empty item", configMapList({QByteArray()}), L({""}));
    row("nothing", {}, {}, "list of v1 ConfigMap: the reply was cut");
    row("JSON", "{\"kind\":\"ConfigMapList\"}", {},
        "list of v1 ConfigMap: the reply is not valid protobuf");
    row("another list", configMapList({}, {}, "SecretList"), {},
        "list of v1 ConfigMap: the reply is a SecretList of v1");
    row("no list", envelope("v1", "ConfigMap", {}), {},
        "list of v1 ConfigMap: the reply is a ConfigMap of v1");
    row("an envelope without its list",
        QByteArray("k8s\0", 4) + bytes(1, bytes(1, "v1") + bytes(2, "ConfigMapList")), {},
        "list of v1 ConfigMap: the reply is no list");
    row("an empty list of its kind", envelope("v1", "ConfigMapList", {}), {});
    row("two lists", envelope("v1", "ConfigMapList", {}) + bytes(2, {}), {},
        "list of v1 ConfigMap: the reply is not valid protobuf");
    row("an item that is longer than the list",
        QByteArray("k8s\0", 4) + bytes(2, QByteArray("\x12\x7f")), {},
        "list of v1 ConfigMap: the reply is not valid protobuf");
    row("an item with a field that is not known", configMapList({a, a + bytes(20, {}), b}),
        L({"a"}), "list of v1 ConfigMap: the reply has what davit does not know of it in protobuf");
    row("a list with a field that is not known", configMapList({a}, bytes(3, {})), L({"a"}),
        "list of v1 ConfigMap: the reply has what davit does not know of it in protobuf");
    row("text that is not UTF-8, which the server's JSON mends",
        configMapList({a, bytes(1, bytes(1, "\xff"))}), L({"a"}),
        "list of v1 ConfigMap: the reply has what davit does not know of it in protobuf");
    row("a number in a list", configMapList({a}, number(3, 1)), L({"a"}),
        "list of v1 ConfigMap: the reply has what davit does not know of it in protobuf");
    row("eight bytes in a list", configMapList({a}, varint(3 << 3 | 1) + QByteArray(8, '\0')),
        L({"a"}), "list of v1 ConfigMap: the reply has what davit does not know of it in protobuf");
    row("a newer envelope",
        configMapList({a}) + number(9, 1) + varint(10 << 3 | 1) + QByteArray(8, '\0')
            + varint(11 << 3 | 5) + QByteArray(4, '\0'),
        L({"a"}));
}

void tst_ProtobufList::lists()
{
    QFETCH(const QByteArray, reply);
    QFETCH(const QString, error);
    const Outcome outcome = decoded({reply});
    QTEST(outcome.names, "names");
    QCOMPARE(outcome.error, error);
    QTEST(outcome.notes, "notes");
    QCOMPARE(outcome.needsJson, error.contains(QStringLiteral("not know")));
}

void tst_ProtobufList::everySplit()
{
    QFETCH(const QByteArray, reply);
    QFETCH(const QString, error);
    for (qsizetype at = 0; at <= reply.size(); ++at) {
        const Outcome outcome = decoded({reply.left(at), reply.mid(at)});
        QTEST(outcome.names, "names");
        QCOMPARE(outcome.error, error);
        QTEST(outcome.notes, "notes");
    }
    QByteArrayList single;
    for (const char c : reply)
        single += QByteArray(1, c);
    QTEST(decoded(single).names, "names");
    QCOMPARE(decoded(single).error, error);
}

void tst_ProtobufList::everyCut()
{
    const QByteArray reply = configMapList({configMap("a", "1"), configMap("b", "2")});
    const qsizetype list = reply.size() - bytes(3, {}).size() - bytes(4, {}).size();
    for (qsizetype size = 0; size < list; ++size)
        QVERIFY2(decoded({reply.left(size)}).error.contains(QStringLiteral("cut"))
                || decoded({reply.left(size)}).error.contains(QStringLiteral("no list")),
            qPrintable(QString::number(size)));
}

void tst_ProtobufList::meta()
{
    ProtobufListDecoder decoder(KubernetesSchema::builtIn(), kConfigMap, {});
    decoder.feed(configMapList({configMap("a", "1")}));
    QVERIFY(!decoder.finish().isError());
    QCOMPARE(decoder.meta().apiVersion, QStringLiteral("v1"));
    QCOMPARE(decoder.meta().kind, QStringLiteral("ConfigMapList"));
    QCOMPARE(decoder.meta().resourceVersion, QStringLiteral("10"));
    QCOMPARE(decoder.meta().continueToken, QStringLiteral("c1"));
    QCOMPARE(decoder.meta().remainingItemCount, qint64(5));
    ProtobufListDecoder empty(KubernetesSchema::builtIn(), kConfigMap, {});
    empty.feed(envelope("v1", "ConfigMapList", {}));
    QCOMPARE(empty.meta().remainingItemCount, qint64(-1));
}

void tst_ProtobufList::impliedKind()
{
    ProtobufListDecoder decoder(KubernetesSchema::builtIn(), kConfigMap, {});
    const std::vector<Object> items = decoder.feed(configMapList({configMap("a", "1")}));
    QCOMPARE(items.size(), std::size_t(1));
    QCOMPARE(toString(items.front().gvk()), QStringLiteral("v1 ConfigMap"));
    QCOMPARE(items.front()[QLatin1StringView("data")][QLatin1StringView("key")].toString(),
        QStringLiteral("value"));
}

void tst_ProtobufList::tooLarge_data()
{
    QTest::addColumn<qsizetype>("piece");
    for (const qsizetype piece : {1, 7, 1000, 1000000})
        QTest::addRow("pieces of %lld", static_cast<long long>(piece)) << piece;
}

// B20: named, and what stands beside it is there.
void tst_ProtobufList::tooLarge()
{
    QFETCH(const qsizetype, piece);
    const QByteArray large = configMap(
        "large", "3", bytes(2, bytes(1, "k") + bytes(2, QByteArray(codec::kHeadBytes + 100, 'x'))));
    const QByteArray reply = configMapList({configMap("a", "1"), large, configMap("b", "2")});
    QByteArrayList chunks;
    for (qsizetype at = 0; at < reply.size(); at += piece)
        chunks += reply.mid(at, piece);
    codec::Limits limits;
    limits.maxItemBytes = 1000;
    const Outcome outcome = decoded(chunks, limits);
    QCOMPARE(outcome.names, L({"a", "b"}));
    QCOMPARE(outcome.error, QString());
    QCOMPARE(outcome.notes,
        QStringList{QStringLiteral("n/large: its %1 bytes are more than the limit of 1000 bytes")
                        .arg(large.size())});
}

QTEST_GUILESS_MAIN(tst_ProtobufList)
#include "tst_protobuflist.moc"
