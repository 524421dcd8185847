#include <support/bracketscanner.h>

#include <QTest>
#include <random>

using davit::support::BracketScanner;

namespace {

// The same, byte by byte.
qsizetype expectedEnd(const QByteArray &text)
{
    int depth = 0;
    bool isInString = false;
    for (qsizetype i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (isInString) {
            if (c == '\\')
                ++i;
            isInString = c != '"';
        } else if (c == '"') {
            isInString = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return -1;
}

qsizetype scannedEnd(const QByteArray &text, qsizetype pieceBytes)
{
    BracketScanner scanner;
    const char *p = text.constData();
    const char *const end = p + text.size();
    while (p < end && !scanner.isDone())
        p = scanner.feed(p, p + std::min<qsizetype>(pieceBytes, end - p));
    return scanner.isDone() ? p - text.constData() : -1;
}

} // namespace

class tst_BracketScanner : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void ends_data();
    void ends();
    void randomText();
};

void tst_BracketScanner::ends_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("empty object") << QByteArray("{}");
    QTest::newRow("nested") << QByteArray("{\"a\":[{\"b\":[[]]}]},1");
    QTest::newRow("brackets in a string") << QByteArray("{\"}]\":\"}{\"}}");
    QTest::newRow("escaped quote") << QByteArray(R"({"a":"\"}"}})");
    QTest::newRow("escaped backslash at the end of a string") << QByteArray(R"({"a":"\\"}})");
    QTest::newRow("many backslashes") << "{\"a\":\"" + QByteArray(127, '\\') + "\"}\"}}";
    QTest::newRow("bytes that differ in bit 5")
        << QByteArray("{\"a\":\"\x5b\x7b\xdb\xfb\x5d\x7d\"}}");
    QTest::newRow("cut in a string") << QByteArray("{\"a\":\"}");
    QTest::newRow("cut") << QByteArray("{\"a\":[1,2]");
    for (int size : {55, 56, 57, 58, 119, 120, 121, 122})
        QTest::addRow("string of %d bytes", size) << "{\"a\":\"" + QByteArray(size, 'x') + "\"}}";
}

void tst_BracketScanner::ends()
{
    QFETCH(const QByteArray, text);
    const qsizetype expected = expectedEnd(text);
    for (qsizetype piece = 1; piece <= text.size(); ++piece)
        QCOMPARE(scannedEnd(text, piece), expected);
}

void tst_BracketScanner::randomText()
{
    constexpr char kBytes[] = "{}[]\"\"\\a";
    for (unsigned seed = 1; seed <= 3000; ++seed) {
        std::mt19937 random(seed);
        QByteArray text(1, '{');
        bool isInString = false;
        for (unsigned left = random() % 400; left > 0; --left) {
            const char c = kBytes[random() % (sizeof kBytes - 1)];
            if (c == '\\' && isInString)
                text += '\\' + QByteArray(1, kBytes[random() % (sizeof kBytes - 1)]);
            else if (c != '\\')
                text += c;
            isInString = isInString != (c == '"');
        }
        const qsizetype piece = 1 + qsizetype(random() % 150);
        QVERIFY2(scannedEnd(text, piece) == expectedEnd(text), text.constData());
    }
}

QTEST_GUILESS_MAIN(tst_BracketScanner)
#include "tst_bracketscanner.moc"
