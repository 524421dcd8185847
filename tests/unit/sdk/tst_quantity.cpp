#include <davit/quantity.h>

#include <QTest>
#include <QtCore/qfile.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>

using namespace davit;

class tst_Quantity : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void fromTheField_data();
    void fromTheField();
    void bounds_data();
    void bounds();
    void order_data();
    void order();
    void wrongKeepsTheOld();
};

void tst_Quantity::fromTheField_data() // made by running the real library
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("isGood");
    QTest::addColumn<QString>("exact");
    QTest::addColumn<bool>("fits");
    QTest::addColumn<qlonglong>("whole");
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B51-quantities.ndjson"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    int rows = 0;
    while (!file.atEnd()) {
        const QByteArray line = file.readLine();
        const QJsonObject row = QJsonDocument::fromJson(line).object();
        const QString text = row[QLatin1StringView("in")].toString();
        const QJsonValue whole = row[QLatin1StringView("ceilAwayFromZero")];
        QTest::newRow(qPrintable(QStringLiteral("B51 %1 \"%2\"").arg(++rows).arg(text)))
            << text << row[QLatin1StringView("ok")].toBool()
            << row[QLatin1StringView("exact")].toString() << whole.isDouble()
            << qlonglong(whole.toInteger());
    }
    QCOMPARE(rows, 64);
}

void tst_Quantity::fromTheField()
{
    QFETCH(const QString, text);
    QFETCH(const bool, isGood);
    QFETCH(const bool, fits);
    const Result<Quantity> parsed = Quantity::parse(text);
    QCOMPARE(parsed.isOk(), isGood);
    if (!isGood) {
        QCOMPARE(parsed.error().code(), ErrorCode::InvalidArgument);
        return;
    }
    QTEST(parsed.value().toDecimal(), "exact");
    QCOMPARE(parsed.value().toString(), text); // written back as it came
    QCOMPARE(parsed.value().fitsInt64(), fits);
    if (fits)
        QTEST(qlonglong(parsed.value().toInt64()), "whole");
}

void tst_Quantity::bounds_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("exact"); // empty: refused
    const auto row = [](const char *name, const QString &text, const QString &exact) {
        QTest::newRow(name) << text << exact;
    };
    const auto text = [](const char *latin) { return QString::fromLatin1(latin); };
    row("less than a nano", text("0.1n"), text("0.000000001"));
    row("less than a nano, negative", text("-1e-1000"), text("-0.000000001"));
    row("a nano and a bit", text("1.0000000001"), text("1.000000001"));
    row("nines carry", text("0.9999999999"), text("1"));
    row("an exponent at the limit", text("1e1000"), QLatin1Char('1') + QString(1000, u'0'));
    row("an exponent beyond", text("1e1001"), QString());
    row("an exponent of many digits", QLatin1String("1e") + QString(900, u'9'), QString());
    row("an exponent of zeros", text("1e000003"), text("1000"));
    row("1000 letters", QString(1000, u'1'), QString(1000, u'1'));
    row("1001 letters", QString(1001, u'1'), QString());
    row("a point alone", text("."), QString());
    row("a sign alone", text("-"), QString());
    row("two points", text("1..2"), QString());
    row("a suffix alone", text("Ki"), QString());
    row("an exponent's sign alone", text("1e+"), QString());
    row("binary saturates, negative too", text("-16Ei"), text("-9223372036854775807"));
    row("zeros", text("000.000Ki"), text("0"));
}

void tst_Quantity::bounds()
{
    QFETCH(const QString, text);
    QFETCH(const QString, exact);
    const Result<Quantity> parsed = Quantity::parse(text);
    QCOMPARE(parsed.isOk() ? parsed.value().toDecimal() : QString(), exact);
    if (!parsed.isOk())
        QVERIFY(parsed.error().message().startsWith(QStringLiteral("quantity \"")));
}

void tst_Quantity::order_data()
{
    QTest::addColumn<QString>("a");
    QTest::addColumn<QString>("b");
    QTest::addColumn<int>("order");
    const auto row = [](const char *a, const char *b, int order) {
        QTest::addRow("%s %s", a, b) << QString::fromLatin1(a) << QString::fromLatin1(b) << order;
    };
    row("1000m", "1", 0);
    row("1Ki", "1024", 0);
    row("-0", "0", 0);
    row("129e6", "129M", 0);
    row("0.5Gi", "512Mi", 0);
    row("1", "999m", 1);
    row("1Gi", "1G", 1);
    row("99", "100", -1);
    row("1.01", "1.1", -1);
    row("12", "1.2e2", -1);
    row("-2", "-1", -1);
    row("-1", "1n", -1);
    row("0", "1n", -1);
    row("1E", "1P", 1);
}

void tst_Quantity::order()
{
    QFETCH(const QString, a);
    QFETCH(const QString, b);
    QFETCH(const int, order);
    const Quantity left = Quantity::parse(a).value();
    const Quantity right = Quantity::parse(b).value();
    const auto sign = [](int value) { return value < 0 ? -1 : int(value > 0); };
    QCOMPARE(sign(left.compare(right)), order);
    QCOMPARE(sign(right.compare(left)), -order);
    QCOMPARE(left == right, order == 0);
    QCOMPARE(left != right, order != 0);
    QCOMPARE(left < right, order < 0);
}

void tst_Quantity::wrongKeepsTheOld()
{
    Quantity quantity = Quantity::parse(u"7").value();
    const Quantity copy = quantity;
    QVERIFY(!Quantity::parse(u"7x", &quantity).isOk());
    QCOMPARE(quantity.toString(), QStringLiteral("7"));
    QVERIFY(Quantity::parse(u"-1E400", &quantity).isOk());
    QCOMPARE(quantity.toInt64(), std::numeric_limits<qint64>::min());
    QCOMPARE(copy.toInt64(), qint64(7));
    QCOMPARE(Quantity().toDecimal(), QStringLiteral("0"));
    QCOMPARE(quantity.sign(), -1);
}

QTEST_GUILESS_MAIN(tst_Quantity)
#include "tst_quantity.moc"
