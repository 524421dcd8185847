#include "transport/jsonend.h"

#include <QTest>

using davit::transport::JsonEnd;
using namespace Qt::Literals::StringLiterals;

class tst_JsonEnd : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void complete_data();
    void complete();
};

void tst_JsonEnd::complete_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("isComplete");
    QTest::newRow("nothing") << ""_ba << false;
    QTest::newRow("blanks") << " \n"_ba << false;
    QTest::newRow("object") << "{}\n"_ba << true;
    QTest::newRow("nested") << "{\"a\":[{},[1]]}"_ba << true;
    QTest::newRow("cut after an item") << "{\"items\":[{}"_ba << false;
    QTest::newRow("bracket in a string") << "{\"a\":\"}\""_ba << false;
    QTest::newRow("escaped quote") << "{\"a\":\"\\\"}"_ba << false;
    QTest::newRow("escaped backslash") << "{\"a\":\"\\\\\"}"_ba << true;
}

void tst_JsonEnd::complete()
{
    QFETCH(const QByteArray, text);
    JsonEnd whole;
    whole.feed(text);
    QTEST(whole.isComplete(), "isComplete");
    JsonEnd bytewise;
    for (const char &c : text)
        bytewise.feed(QByteArrayView(&c, 1));
    QTEST(bytewise.isComplete(), "isComplete");
}

QTEST_GUILESS_MAIN(tst_JsonEnd)
#include "tst_jsonend.moc"
