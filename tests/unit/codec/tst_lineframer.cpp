#include "codec/lineframer.h"

#include <QTest>

using davit::codec::LineFramer;

class tst_LineFramer : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void frames_data();
    void frames();
    void everySplit();
    void longLines_data();
    void longLines();
    void largeLineInSmallPieces();
};

void tst_LineFramer::frames_data()
{
    QTest::addColumn<QByteArrayList>("chunks"); // as the socket hands them over
    QTest::addColumn<QByteArrayList>("frames"); // whole lines, newline removed
    QTest::addColumn<qsizetype>("pendingBytes"); // kept for the next chunk
    using L = QByteArrayList;
    QTest::newRow("nothing") << L{} << L{} << qsizetype(0);
    QTest::newRow("empty chunk") << L{"", ""} << L{} << qsizetype(0);
    QTest::newRow("one frame in one chunk") << L{"{}\n"} << L{"{}"} << qsizetype(0);
    QTest::newRow("frame cut in two") << L{"{\"a\"", ":1}\n"} << L{"{\"a\":1}"} << qsizetype(0);
    QTest::newRow("newline alone") << L{"{}", "\n"} << L{"{}"} << qsizetype(0);
    QTest::newRow("cut inside a UTF-8 letter")
        << L{"\"\xc3", "\xa9\"\n"} << L{"\"\xc3\xa9\""} << qsizetype(0);
    QTest::newRow("two frames in one chunk") << L{"1\n2\n"} << L{"1", "2"} << qsizetype(0);
    QTest::newRow("tail, then whole, then tail")
        << L{"1\n2", "3\n4\n5"} << L{"1", "23", "4"} << qsizetype(1);
    QTest::newRow("tail without newline") << L{"{}\n{\"a\""} << L{"{}"} << qsizetype(4);
    QTest::newRow("empty keep-alive lines") << L{"\n\n{}\n", "\n"} << L{"{}"} << qsizetype(0);
    QTest::newRow("keep-alive lines that end in CRLF")
        << L{"\r\n{}\r\n\r", "\n \t\n"} << L{"{}\r"} << qsizetype(0);
    QTest::newRow("zero bytes are bytes")
        << L{QByteArray("a\0b\n", 4)} << L{QByteArray("a\0b", 3)} << qsizetype(0);
}

void tst_LineFramer::frames()
{
    QFETCH(const QByteArrayList, chunks);
    LineFramer framer;
    QByteArrayList seen;
    for (const QByteArray &chunk : chunks)
        seen += framer.feed(chunk);
    QTEST(seen, "frames");
    QTEST(framer.pendingBytes(), "pendingBytes");
    QCOMPARE(framer.isInsideLine(), framer.pendingBytes() > 0);
    QVERIFY(framer.skippedLines().isEmpty());
}

void tst_LineFramer::everySplit()
{
    const QByteArray stream = "{\"a\":1}\n\n{\"b\":\"\xe2\x82\xac\"}\n3\n";
    const QByteArrayList expected{"{\"a\":1}", "{\"b\":\"\xe2\x82\xac\"}", "3"};
    for (qsizetype first = 0; first <= stream.size(); ++first) {
        for (qsizetype second = first; second <= stream.size(); ++second) {
            LineFramer framer;
            QByteArrayList seen;
            for (const QByteArray &chunk :
                {stream.left(first), stream.mid(first, second - first), stream.mid(second)}) {
                for (const QByteArray &line : framer.feed(chunk))
                    seen += QByteArray(line.constData(), line.size()); // outlives the chunk
            }
            QCOMPARE(seen, expected);
            QVERIFY(!framer.isInsideLine());
        }
    }
}

void tst_LineFramer::longLines_data()
{
    QTest::addColumn<QByteArrayList>("chunks");
    QTest::addColumn<QByteArrayList>("frames");
    QTest::addColumn<QByteArrayList>("skipped"); // "place:bytes:head"
    QTest::addColumn<bool>("isInsideLine");
    using L = QByteArrayList;
    QTest::newRow("B20 at the limit") << L{"12345678\n"} << L{"12345678"} << L{} << false;
    QTest::newRow("B20 one more, next line is fine")
        << L{"123456789\nab\n"} << L{"ab"} << L{"0:9:123456789"} << false;
    QTest::newRow("B20 over chunks")
        << L{"a\n12345", "67890", "12\nb\n"} << L{"a", "b"} << L{"0:12:123456789012"} << false;
    QTest::newRow("B20 ends inside it") << L{"12345", "67890"} << L{} << L{} << true;
    QTest::newRow("B20 two of them, between others")
        << L{"a\n1234567890\nb\n123456789\nc\n"} << L{"a", "b", "c"}
        << L{"1:10:1234567890", "2:9:123456789"} << false;
}

void tst_LineFramer::longLines()
{
    QFETCH(const QByteArrayList, chunks);
    LineFramer framer(8);
    QByteArrayList seen;
    QByteArrayList skipped;
    for (const QByteArray &chunk : chunks) {
        for (const QByteArray &line : framer.feed(chunk))
            seen += QByteArray(line.constData(), line.size());
        for (const davit::codec::SkippedLine &line : framer.skippedLines())
            skipped += QByteArray::number(line.before) + ':' + QByteArray::number(line.bytes) + ':'
                + line.head;
    }
    QTEST(seen, "frames");
    QTEST(skipped, "skipped");
    QTEST(framer.isInsideLine(), "isInsideLine");
}

// B20: 16 MiB in pieces of one KiB. Quadratic copying would move 128 GiB and run into the time
// limit.
void tst_LineFramer::largeLineInSmallPieces()
{
    LineFramer framer;
    const QByteArray piece(1024, 'x');
    for (int i = 0; i < 16 * 1024 - 1; ++i)
        QVERIFY(framer.feed(piece).isEmpty());
    const QByteArrayList lines = framer.feed("\n");
    QCOMPARE(lines.size(), 1);
    QCOMPARE(lines.first().size(), 1024 * (16 * 1024 - 1));
}

QTEST_GUILESS_MAIN(tst_LineFramer)
#include "tst_lineframer.moc"
