#include "protobufparts.h"

#include <codec/protobufenvelope.h>

#include <QtTest>

using namespace davit;
using namespace protobuf;

class tst_ProtobufEnvelope : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void opens();
    void refuses_data();
    void refuses();
    void ofCut();
    void statusToJson_data();
    void statusToJson();
};

void tst_ProtobufEnvelope::opens()
{
    codec::ProtobufEnvelope opened;
    const QByteArray bytes = envelope("apps/v1", "Deployment", "message");
    QVERIFY(codec::openEnvelope(bytes, &opened));
    QCOMPARE(toString(opened.gvk), QStringLiteral("apps/v1 Deployment"));
    QCOMPARE(opened.message.toByteArray(), QByteArray("message"));
}

void tst_ProtobufEnvelope::refuses_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("nothing") << QByteArray();
    QTest::newRow("JSON") << QByteArray("{}");
    QTest::newRow("another magic") << QByteArray("k8s\1", 4);
    QTest::newRow("a cut") << envelope("v1", "Pod", "message").chopped(5);
}

void tst_ProtobufEnvelope::refuses()
{
    QFETCH(const QByteArray, bytes);
    codec::ProtobufEnvelope opened;
    QVERIFY(!codec::openEnvelope(bytes, &opened));
}

// As much as is there is told, and never more.
void tst_ProtobufEnvelope::ofCut()
{
    const QByteArray whole = configMap("settings", "7");
    QCOMPARE(codec::describeMessage(whole), QStringLiteral("n/settings"));
    for (qsizetype size = 0; size <= whole.size(); ++size) {
        const QByteArray cut(whole.constData(), size);
        const QString text = codec::describeMessage(cut);
        QVERIFY2(text == QStringLiteral("an object without a name")
                || QStringLiteral("n/settings").endsWith(text)
                || QStringLiteral("settings").startsWith(text),
            qPrintable(text));
        QVERIFY(QStringLiteral("7").startsWith(codec::textOfCut(codec::fieldOfCut(cut, 1), 6)));
    }
    QCOMPARE(
        codec::textOfCut(bytes(1, "a") + number(2, 1) + bytes(3, "c"), 3), QStringLiteral("c"));
    QCOMPARE(codec::textOfCut(bytes(1, "a"), 2), QString());
}

void tst_ProtobufEnvelope::statusToJson_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QByteArray>("json");
    const QByteArray status = bytes(2, "Failure") + bytes(3, "no such pod") + bytes(4, "NotFound")
        + bytes(5, bytes(1, "a") + bytes(3, "pods")) + number(6, 404);
    QTest::newRow("a Status") << envelope("v1", "Status", bytes(1, {}) + status)
                              << QByteArray(
                                     R"({"apiVersion":"v1","kind":"Status","metadata":{},)"
                                     R"("status":"Failure","message":"no such pod",)"
                                     R"("reason":"NotFound","details":{"name":"a","kind":"pods"},)"
                                     R"("code":404})");
    QTest::newRow("a newer Status")
        << envelope("v1", "Status", status + bytes(90, "new"))
        << QByteArray(R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                      R"("message":"no such pod","reason":"NotFound","code":404})");
    QTest::newRow("another kind") << envelope("v1", "Pod", {}) << envelope("v1", "Pod", {});
    QTest::newRow("a Status that cannot be read")
        << envelope("v1", "Status", "\xff")
        << QByteArray(R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"",)"
                      R"("reason":""})");
    QTest::newRow("JSON") << QByteArray("{}") << QByteArray("{}");
    QTest::newRow("nothing") << QByteArray() << QByteArray();
}

void tst_ProtobufEnvelope::statusToJson()
{
    QFETCH(const QByteArray, body);
    QFETCH(const QByteArray, json);
    QCOMPARE(codec::statusToJson(body), json);
}

QTEST_GUILESS_MAIN(tst_ProtobufEnvelope)
#include "tst_protobufenvelope.moc"
