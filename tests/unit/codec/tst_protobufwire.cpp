#include "protobufparts.h"

#include <davit/priv/protobufwire.h>

#include <QtTest>

using namespace davit::priv;
using namespace protobuf;

namespace {

std::string_view view(const QByteArray &bytes)
{
    return {bytes.constData(), std::size_t(bytes.size())};
}

// "number:type:value-or-bytes@begin-end" of each field, and how it ended.
QStringList fieldsOf(const QByteArray &message)
{
    QStringList texts;
    WireField field;
    WireCursor cursor(view(message));
    while (cursor.next(&field))
        texts += QStringLiteral("%1:%2:%3@%4-%5")
                     .arg(field.number)
                     .arg(int(field.type))
                     .arg(field.type == WireType::Bytes ? QString::fromLatin1(
                              field.bytes.data(), qsizetype(field.bytes.size()))
                                                        : QString::number(field.value))
                     .arg(field.begin - message.constData())
                     .arg(field.end - message.constData());
    texts += cursor.isGood() ? QStringLiteral("end") : QStringLiteral("wrong");
    return texts;
}

} // namespace

class tst_ProtobufWire : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void fields_data();
    void fields();
    void varints_data();
    void varints();
};

void tst_ProtobufWire::fields_data()
{
    QTest::addColumn<QByteArray>("message");
    QTest::addColumn<QStringList>("fields");
    const auto row = [](const char *name, const QByteArray &message, const QStringList &fields) {
        QTest::newRow(name) << message << fields;
    };
    const QString end = QStringLiteral("end");
    const QString wrong = QStringLiteral("wrong");
    row("empty", {}, {end});
    row("all types",
        number(1, 300) + bytes(2, "ab") + QByteArray("\x19\x01\0\0\0\0\0\0\x80", 9)
            + QByteArray("\x25\xff\xff\xff\xff", 5),
        {QStringLiteral("1:0:300@0-3"), QStringLiteral("2:2:ab@3-7"),
            QStringLiteral("3:1:9223372036854775809@7-16"), QStringLiteral("4:5:4294967295@16-21"),
            end});
    row("the largest number", number(536870911, 1), {QStringLiteral("536870911:0:1@0-6"), end});
    row("a larger one", varint(quint64(1) << 32) + varint(1), {wrong});
    row("number 0", number(0, 1), {wrong});
    row("cut in a tag", QByteArray("\x80"), {wrong});
    row("cut in a number", QByteArray("\x08\x80"), {wrong});
    row("cut in a length", QByteArray("\x0a\x80"), {wrong});
    row("cut in bytes", QByteArray("\x0a\x03xy"), {wrong});
    row("cut in eight bytes", QByteArray("\x09xxxxxxx"), {wrong});
    row("cut in four bytes", QByteArray("\x0dxxx"), {wrong});
    row("a length of 2^63", QByteArray("\x0a") + varint(quint64(1) << 63), {wrong});
    row("a group", QByteArray("\x0b\x0c"), {wrong});
    row("type 7", QByteArray("\x0f"), {wrong});
    row("good ones before", number(1, 1) + QByteArray("\x0b"),
        {QStringLiteral("1:0:1@0-2"), wrong});
}

void tst_ProtobufWire::fields()
{
    QFETCH(const QByteArray, message);
    QFETCH(const QStringList, fields);
    QCOMPARE(fieldsOf(message), fields);
}

void tst_ProtobufWire::varints_data()
{
    QTest::addColumn<quint64>("value");
    for (const quint64 value : {quint64(0), quint64(127), quint64(128), quint64(16383),
             quint64(16384), quint64(1) << 63, ~quint64(0)})
        QTest::addRow("%llu", static_cast<unsigned long long>(value)) << value;
}

void tst_ProtobufWire::varints()
{
    QFETCH(const quint64, value);
    const QByteArray text = varint(value);
    std::uint64_t read = 1;
    QCOMPARE(readVarint(text.constData(), text.constData() + text.size(), &read),
        text.constData() + text.size());
    QCOMPARE(quint64(read), value);
    QCOMPARE(readVarint(text.constData(), text.constData() + text.size() - 1, &read),
        static_cast<const char *>(nullptr));
}

QTEST_GUILESS_MAIN(tst_ProtobufWire)
#include "tst_protobufwire.moc"
