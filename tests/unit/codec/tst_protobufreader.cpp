// Objects in protobuf become what they are in JSON. The samples are of all kinds, written by the
// types of Kubernetes themselves (runtime/codec/schema). C-25, C-28.
#include "protobufparts.h"

#include <codec/kubernetesschema.h>
#include <davit/priv/poolaccess.h>

#include <QtCore/qfile.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <QtTest>

using namespace davit;
using namespace protobuf;
using codec::KubernetesSchema;

namespace {

const Gvk kConfigMap{{}, QStringLiteral("v1"), QStringLiteral("ConfigMap")};

struct Sample
{
    Gvk gvk;
    QByteArray message;
    QByteArray json;
};

std::vector<Sample> samples()
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/protobuf/samples"));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no samples");
    const QByteArray plain = qUncompress(file.readAll());
    std::vector<Sample> all;
    qsizetype at = 0;
    const auto part = [&] {
        const auto size = qsizetype(qFromBigEndian<quint32>(plain.constData() + at));
        at += 4 + size;
        return plain.mid(at - size, size);
    };
    while (at < plain.size()) {
        const QByteArray apiVersion = part();
        const QByteArray kind = part();
        const QByteArray message = part();
        all.push_back(
            {gvkFrom(QString::fromLatin1(apiVersion), QString::fromLatin1(kind)), message, part()});
    }
    return all;
}

QJsonObject parsed(const QByteArray &json)
{
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(json, &error);
    if (error.error != QJsonParseError::NoError)
        qFatal("%s", qPrintable(error.errorString()));
    return document.object();
}

priv::DecodeOptions keeping(const Gvk &gvk)
{
    priv::DecodeOptions options;
    options.managedFields = priv::ManagedFields::Keep;
    options.impliedGvk = &gvk;
    return options;
}

Error decode(priv::ObjectDecoder &decoder, const Gvk &gvk, const QByteArray &message,
    Object *object, const priv::DecodeOptions &options)
{
    const KubernetesSchema &schema = KubernetesSchema::builtIn();
    return decoder.decodeProtobuf(
        message, schema.messages(), std::uint16_t(schema.messageOf(gvk)), options, object);
}

QByteArray json(const QByteArray &message)
{
    priv::ObjectDecoder decoder;
    Object object;
    const Error error = decode(decoder, kConfigMap, message, &object, keeping(kConfigMap));
    return error.isError() ? error.message().toUtf8() : object.toJson();
}

// What everything but the difference may say in a failed comparison.
QByteArray firstDifference(const QJsonValue &a, const QJsonValue &b, const QByteArray &path = {})
{
    if (a == b)
        return {};
    if (a.isObject() && b.isObject()) {
        QStringList names = a.toObject().keys() + b.toObject().keys();
        for (const QString &name : names) {
            const QByteArray inner = firstDifference(
                a.toObject().value(name), b.toObject().value(name), path + '.' + name.toUtf8());
            if (!inner.isEmpty())
                return inner;
        }
    }
    if (a.isArray() && b.isArray() && a.toArray().size() == b.toArray().size())
        for (qsizetype i = 0; i < a.toArray().size(); ++i) {
            const QByteArray inner = firstDifference(
                a.toArray().at(i), b.toArray().at(i), path + '.' + QByteArray::number(i));
            if (!inner.isEmpty())
                return inner;
        }
    const auto text = [](const QJsonValue &value) {
        return value.isUndefined() ? QByteArray("nothing")
                                   : QJsonDocument(QJsonObject{{QStringLiteral("is"), value}})
                                         .toJson(QJsonDocument::Compact)
                                         .left(200);
    };
    return path + ": " + text(a) + " instead of " + text(b);
}

} // namespace

class tst_ProtobufReader : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void kinds_data();
    void kinds();
    void members_data();
    void members();
    void faults_data();
    void faults();
    void everyCut();
    void managedFields();
    void metadataOnly();
    void similar_data();
    void similar();
    void otherSelection();
    void samePooledParts();
};

void tst_ProtobufReader::kinds_data()
{
    QTest::addColumn<Gvk>("gvk");
    for (const Gvk &gvk : KubernetesSchema::builtIn().kinds())
        QTest::newRow(qPrintable(toString(gvk))) << gvk;
}

void tst_ProtobufReader::kinds()
{
    QFETCH(const Gvk, gvk);
    static const std::vector<Sample> all = samples();
    int seen = 0;
    for (const Sample &sample : all) {
        if (sample.gvk != gvk)
            continue;
        ++seen;
        priv::ObjectDecoder decoder;
        Object object;
        const Error error = decode(decoder, gvk, sample.message, &object, keeping(gvk));
        QVERIFY2(!error.isError(), qPrintable(error.message()));
        QCOMPARE(firstDifference(parsed(object.toJson()), parsed(sample.json)), QByteArray());
        QVERIFY(priv::isIntact(object));
    }
    QCOMPARE(seen, gvk.kind == QStringLiteral("Status") ? 0 : 2);
}

void tst_ProtobufReader::members_data()
{
    QTest::addColumn<QByteArray>("message");
    QTest::addColumn<QByteArray>("object"); // behind apiVersion and kind
    const QByteArray meta = bytes(1, {});
    QTest::newRow("nothing") << QByteArray() << QByteArray(R"("metadata":{})");
    QTest::newRow("an empty value in a map")
        << meta + bytes(2, bytes(1, "a")) << QByteArray(R"("metadata":{},"data":{"a":""})");
    QTest::newRow("an entry without a key")
        << meta + bytes(2, bytes(2, "v")) << QByteArray(R"("metadata":{},"data":{"":"v"})");
    QTest::newRow("a key twice: the last one counts")
        << meta + bytes(2, bytes(1, "a") + bytes(2, "1")) + bytes(2, bytes(1, "a") + bytes(2, "2"))
        << QByteArray(R"("metadata":{},"data":{"a":"2"})");
    QTest::newRow("bytes are base64")
        << meta + bytes(3, bytes(1, "a") + bytes(2, QByteArray("\0\xff", 2)))
        << QByteArray(R"("metadata":{},"binaryData":{"a":"AP8="})");
    QTest::newRow("false that was said")
        << meta + number(4, 0) << QByteArray(R"("metadata":{},"immutable":false)");
    QTest::newRow("text beyond ASCII") << bytes(1,
        bytes(1,
            "gr\xc3\xb6\xc3\x9f"
            "er"))
                                       << QByteArray("\"metadata\":{\"name\":\"gr\xc3\xb6\xc3\x9f"
                                                     "er\"}");
    QTest::newRow("times") << bytes(
        1, bytes(8, number(1, 1700000000)) + bytes(9, number(1, 0) + number(2, 5)))
                           << QByteArray(
                                  R"("metadata":{"creationTimestamp":"2023-11-14T22:13:20Z",)"
                                  R"("deletionTimestamp":"1970-01-01T00:00:00Z"})");
    QTest::newRow("a time before 1970")
        << bytes(1, bytes(8, number(1, quint64(-1))))
        << QByteArray(R"("metadata":{"creationTimestamp":"1969-12-31T23:59:59Z"})");
    QTest::newRow("a negative number")
        << bytes(1, number(7, quint64(-5))) << QByteArray(R"("metadata":{"generation":-5})");
    QTest::newRow("members that are written without being sent")
        << bytes(1, bytes(13, bytes(3, "o")))
        << QByteArray(R"("metadata":{"ownerReferences":[{"kind":"","name":"o","uid":"",)"
                      R"("apiVersion":""}]})");
}

void tst_ProtobufReader::members()
{
    QFETCH(const QByteArray, message);
    QFETCH(const QByteArray, object);
    QCOMPARE(json(message), R"({"apiVersion":"v1","kind":"ConfigMap",)" + object + '}');
}

void tst_ProtobufReader::faults_data()
{
    QTest::addColumn<QByteArray>("message");
    QTest::addColumn<QByteArray>("fault");
    QTest::newRow("a field that is not known")
        << bytes(1, {}) + bytes(9, {})
        << QByteArray("byte 2: a field that this version of davit does not know");
    QTest::newRow("within a message") << bytes(
        1, bytes(16, {})) << QByteArray("byte 2: a field that this version of davit does not know");
    QTest::newRow("a field beyond all") << number(5000, 1)
                                        << QByteArray("byte 0: a field that this version of davit "
                                                      "does not know");
    QTest::newRow("a map's entry with more")
        << bytes(2, number(3, 1)) << QByteArray("byte 2: a map's entry with a third field");
    QTest::newRow("a time with more")
        << bytes(1, bytes(8, number(3, 1))) << QByteArray("byte 4: a time with a third field");
    QTest::newRow("a number where a text is") << bytes(
        1, number(1, 1)) << QByteArray("byte 2: a field has another wire type than its kind");
    QTest::newRow("a message in two parts")
        << bytes(1, {}) + bytes(1, {}) << QByteArray("byte 0: a field that was sent in parts");
    QTest::newRow("text twice") << bytes(1, bytes(1, "a") + bytes(1, "b"))
                                << QByteArray("byte 2: a field that was sent in parts");
    QTest::newRow("fields in another order")
        << bytes(2, bytes(2, "v") + bytes(1, "k")) + bytes(1, {})
        << QByteArray("byte 8: fields that are not in the order of their numbers");
    QTest::newRow("a map in two parts")
        << bytes(2, bytes(1, "a")) + bytes(3, bytes(1, "b")) + bytes(2, bytes(1, "b"))
        << QByteArray("byte 10: fields that are not in the order of their numbers");
    QTest::newRow("a field that is cut") << bytes(1, {}) + QByteArray("\x12\x05x")
                                         << QByteArray("byte 2: a field is cut or is no "
                                                       "protobuf");
    QTest::newRow("a group") << QByteArray("\x0b")
                             << QByteArray("byte 0: a field is cut or is no protobuf");
    QTest::newRow("field 0") << QByteArray("\x02\x00", 2)
                             << QByteArray("byte 0: a field is cut or is no protobuf");
    QTest::newRow("a varint without end")
        << QByteArray(12, '\xff') << QByteArray("byte 0: a field is cut or is no protobuf");
    QTest::newRow("no UTF-8") << bytes(1, bytes(1, "\xff"))
                              << QByteArray("byte 4: bytes that are not UTF-8");
    QTest::newRow("no UTF-8 in a key")
        << bytes(2, bytes(1, "\xc3")) << QByteArray("byte 4: bytes that are not UTF-8");
    QTest::newRow("a time after the year 9999")
        << bytes(1, bytes(8, number(1, 253402300800)))
        << QByteArray("byte 4: a time beyond the years 0 to 9999");
}

void tst_ProtobufReader::faults()
{
    QFETCH(const QByteArray, message);
    QFETCH(const QByteArray, fault);
    QCOMPARE(json(message), fault);
    priv::ObjectDecoder decoder;
    Object object;
    const bool isUnknown = fault.contains("not know") || fault.contains("third field")
        || fault.contains("not UTF-8") || fault.contains("years") || fault.contains("in parts")
        || fault.contains("the order");
    QCOMPARE(decode(decoder, kConfigMap, message, &object, keeping(kConfigMap)).code(),
        isUnknown ? ErrorCode::Unsupported : ErrorCode::MalformedReply);
    // The next one is not touched by it.
    QVERIFY(
        !decode(decoder, kConfigMap, configMap("a", "1"), &object, keeping(kConfigMap)).isError());
    QCOMPARE(object.name(), QStringLiteral("a"));
}

// Nothing is read beyond the end, and no cut is taken for a whole, but where a field ends.
void tst_ProtobufReader::everyCut()
{
    const std::vector<Sample> all = samples();
    for (const Sample &sample : all) {
        if (sample.gvk.kind != QStringLiteral("Pod") && sample.gvk.kind != QStringLiteral("Event"))
            continue;
        priv::ObjectDecoder decoder;
        int good = 0;
        for (qsizetype size = 0; size < sample.message.size(); ++size) {
            Object object;
            const QByteArray cut(sample.message.constData(), size); // of its own, for ASan
            if (!decode(decoder, sample.gvk, cut, &object, keeping(sample.gvk)).isError())
                ++good;
        }
        QVERIFY2(good <= 20, qPrintable(QString::number(good)));
    }
}

void tst_ProtobufReader::managedFields()
{
    const QByteArray manager = bytes(1, "kubectl") + bytes(2, "Update") + bytes(3, "v1")
        + bytes(4, {}) + bytes(6, "FieldsV1") + bytes(7, bytes(1, R"({"f:data":{}})"));
    const QByteArray message = bytes(1, bytes(1, "a") + bytes(17, manager));
    QVERIFY(json(message).contains(R"("fieldsV1":{"f:data":{}})"));
    priv::DecodeOptions options = keeping(kConfigMap);
    options.managedFields = priv::ManagedFields::Drop;
    priv::ObjectDecoder decoder;
    Object object;
    // Not even looked at.
    for (const QByteArray &bad : {message, bytes(1, bytes(1, "a") + bytes(17, "\xff\xff"))}) {
        QVERIFY(!decode(decoder, kConfigMap, bad, &object, options).isError());
        QCOMPARE(object.toJson(),
            QByteArray(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})"));
    }
}

void tst_ProtobufReader::metadataOnly()
{
    priv::DecodeOptions options = keeping(kConfigMap);
    options.depth = priv::Depth::MetadataOnly;
    priv::ObjectDecoder decoder;
    Object object;
    QVERIFY(!decode(decoder, kConfigMap, configMap("a", "1"), &object, options).isError());
    QCOMPARE(object.name(), QStringLiteral("a"));
    QVERIFY(!object.toJson().contains("data\":{\"key"));
}

void tst_ProtobufReader::similar_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < 20; ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

// A decoder that remembers says the same as one that does not, whatever came before.
void tst_ProtobufReader::similar()
{
    QFETCH(const int, seed);
    QRandomGenerator random{quint32(seed)};
    std::vector<Sample> pods;
    for (Sample &sample : samples())
        if (sample.gvk.kind == QStringLiteral("Pod")
            || sample.gvk.kind == QStringLiteral("Service"))
            pods.push_back(std::move(sample));
    QCOMPARE(pods.size(), std::size_t(4));
    priv::ObjectDecoder remembering;
    for (int i = 0; i < 60; ++i) {
        const Sample &sample = pods[random.bounded(quint32(pods.size()))];
        QByteArray message = sample.message;
        for (int flips = random.bounded(3); flips > 0; --flips)
            message[random.bounded(quint32(message.size()))] = char(random.bounded(256));
        Object a;
        Object b;
        priv::ObjectDecoder fresh;
        const Error error = decode(remembering, sample.gvk, message, &a, keeping(sample.gvk));
        QCOMPARE(
            error.message(), decode(fresh, sample.gvk, message, &b, keeping(sample.gvk)).message());
        QCOMPARE(a.isNull() ? QByteArray() : a.toJson(), b.isNull() ? QByteArray() : b.toJson());
        if (!a.isNull())
            QCOMPARE(priv::PoolAccess::peek(a), priv::PoolAccess::peek(b));
    }
}

// What is remembered of a message that was read in another way is not taken.
void tst_ProtobufReader::otherSelection()
{
    const QByteArray manager = bytes(1, "kubectl") + bytes(2, "Update") + bytes(3, "v1");
    const QByteArray message = bytes(1, metadata("a", "n", "1", bytes(17, manager)));
    priv::DecodeOptions dropping = keeping(kConfigMap);
    dropping.managedFields = priv::ManagedFields::Drop;
    priv::ObjectDecoder decoder;
    for (int i = 0; i < 4; ++i) {
        const bool isKept = i % 2 == 0;
        Object object;
        QVERIFY(
            !decode(decoder, kConfigMap, message, &object, isKept ? keeping(kConfigMap) : dropping)
                 .isError());
        QCOMPARE(object.toJson().contains("managedFields"), isKept);
    }
}

// Both forms share what they have in common.
void tst_ProtobufReader::samePooledParts()
{
    const QByteArray data = bytes(2, bytes(1, "a-long-key") + bytes(2, "a value of some length"));
    priv::ObjectDecoder decoder;
    Object wire;
    QVERIFY(!decode(decoder, kConfigMap, configMap("a", "1", data), &wire, keeping(kConfigMap))
                 .isError());
    Object text;
    QVERIFY(!decoder.decode(wire.toJson(), keeping(kConfigMap), &text).isError());
    QCOMPARE(priv::PoolAccess::peek(text), priv::PoolAccess::peek(wire));
}

QTEST_GUILESS_MAIN(tst_ProtobufReader)
#include "tst_protobufreader.moc"
