#include "transport/httpheaders.h"

#include <QTest>

using namespace davit::transport;
using namespace Qt::Literals::StringLiterals;

class tst_HttpHeaders : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void retryAfterForms_data();
    void retryAfterForms();
    void warnings_data();
    void warnings();
    void c30_userAgent();
};

void tst_HttpHeaders::retryAfterForms_data()
{
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<qint64>("milliseconds"); // at 2026-10-21T07:28:00Z
    QTest::newRow("seconds") << "3"_ba << qint64(3000);
    QTest::newRow("zero") << "0"_ba << qint64(0);
    QTest::newRow("blanks") << " 12 "_ba << qint64(12000);
    QTest::newRow("B25 date in the future") << "Wed, 21 Oct 2026 07:28:10 GMT"_ba << qint64(10000);
    QTest::newRow("B25 date in the past") << "Wed, 21 Oct 2026 07:00:00 GMT"_ba << qint64(0);
    QTest::newRow("negative") << "-5"_ba << qint64(-1);
    QTest::newRow("a word") << "soon"_ba << qint64(-1);
    QTest::newRow("empty") << ""_ba << qint64(-1);
    QTest::newRow("too large for a number") << "99999999999999"_ba << qint64(-1);
}

void tst_HttpHeaders::retryAfterForms()
{
    QFETCH(const QByteArray, value);
    const std::chrono::seconds now(1792567680);
    QTEST(qint64(retryAfter(value, now).count()), "milliseconds");
}

void tst_HttpHeaders::warnings_data()
{
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QList<QByteArray>>("texts");
    using L = QList<QByteArray>;
    QTest::newRow("C-18 one") << "299 - \"v1 is deprecated\""_ba << L{"v1 is deprecated"};
    QTest::newRow("C-18 two, a comma inside")
        << "299 - \"a, b\", 299 api \"c\""_ba << L{"a, b", "c"};
    QTest::newRow("C-18 escaped quote") << "299 - \"say \\\"x\\\"\""_ba << L{"say \"x\""};
    QTest::newRow("C-18 another code") << "199 - \"no\", 299 - \"yes\""_ba << L{"yes"};
    QTest::newRow("with a date") << "299 - \"a\" \"Wed, 21 Oct 2026 07:28:00 GMT\", 299 - \"b\""_ba
                                 << L{"a", "b"};
    QTest::newRow("no closing quote") << "299 - \"a"_ba << L{};
    QTest::newRow("no quote") << "299 - a"_ba << L{};
    QTest::newRow("empty") << ""_ba << L{};
}

void tst_HttpHeaders::warnings()
{
    QFETCH(const QByteArray, value);
    QTEST(warningTexts(value), "texts");
}

void tst_HttpHeaders::c30_userAgent() // one for all who ask, with Go's words
{
    const QByteArray host = hostUserAgent();
    QVERIFY2(host.startsWith("davit/"), host);
    QVERIFY2(host.contains(" (linux/") && host.endsWith(')'), host);
    QVERIFY2(!host.contains("x86_64"), host);
    QCOMPARE(hostUserAgent("replicator/1.2.0"), host + " replicator/1.2.0");
}

QTEST_GUILESS_MAIN(tst_HttpHeaders)
#include "tst_httpheaders.moc"
