// Evictions, tokens, media types and unknown fields.
#include "tst_contract.h"

void tst_Contract::mediaTypes_data()
{
    QTest::addColumn<QByteArray>("contentType");
    QTest::addColumn<QByteArray>("accept");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("reason");
    QTest::newRow("a body in CBOR")
        << QByteArray("application/cbor") << QByteArray("application/json") << 415
        << QStringLiteral("UnsupportedMediaType");
    QTest::newRow("an answer in CBOR alone")
        << QByteArray("application/json") << QByteArray("application/cbor") << 406
        << QStringLiteral("NotAcceptable");
    QTest::newRow("an answer in CBOR or else in JSON")
        << QByteArray("application/json") << QByteArray("application/cbor,application/json") << 201
        << QString();
}

void tst_Contract::mediaTypes() // C-26: CBOR is refused by a server of 1.37 as it is delivered
{
    QFETCH(const QByteArray, contentType);
    QFETCH(const QByteArray, accept);
    const QByteArray space = server().newNamespace("media");
    const QByteArray body = contentType.endsWith("cbor") ? "\xa0" : configMap("a");
    const ApiAnswer answer = apiCall(
        server().address(), "POST", spaced(space, "configmaps"), body, contentType, accept);
    QTEST(answer.code, "code");
    QTEST(answer.reason(), "reason");
}

void tst_Contract::unknownFields_data() // E-34
{
    QTest::addColumn<QByteArray>("query");
    QTest::addColumn<int>("code");
    QTest::newRow("left out") << QByteArray() << 201;
    QTest::newRow("Ignore") << QByteArray("?fieldValidation=Ignore") << 201;
    QTest::newRow("Warn") << QByteArray("?fieldValidation=Warn") << 201;
    QTest::newRow("Strict") << QByteArray("?fieldValidation=Strict") << 400;
}

void tst_Contract::unknownFields()
{
    QFETCH(const QByteArray, query);
    const QByteArray space = server().newNamespace("fields");
    const ApiAnswer answer = server().post(
        spaced(space, "configmaps") + query, configMap("a", R"("dta":{"k":"1"},"data":{"k":"1"})"));
    QTEST(answer.code, "code");
    if (answer.code == 201) {
        QVERIFY(!answer.json().contains(QLatin1String("dta"))); // dropped
        return;
    }
    QCOMPARE(answer.reason(), QStringLiteral("BadRequest"));
    QCOMPARE(answer.message(),
        QStringLiteral("ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict "
                       "decoding error: unknown field \"dta\""));
}

void tst_Contract::evictions()
{
    const QByteArray space = server().newNamespace("evict");
    const QByteArray pods = spaced(space, "pods");
    const QByteArray pod = R"({"metadata":{"name":"p","labels":{"app":"x"}},)"
                           R"("spec":{"containers":[{"name":"c","image":"example/app:1"}]}})";
    const QByteArray eviction
        = R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}})";
    // Without a service account of its own in the namespace the real server makes no Pod.
    server().post(spaced(space, "serviceaccounts"), R"({"metadata":{"name":"default"}})");
    QCOMPARE(server().post(pods + "/p/eviction", eviction).code, 404);
    bool isMade = false; // looked at twice
    QTRY_VERIFY(isMade = isMade || server().post(pods, pod).code == 201);
    QCOMPARE(server().get(pods + "/p/eviction").code, 405);
    const ApiAnswer dry = server().post(pods + "/p/eviction?dryRun=All", eviction);
    QCOMPARE(dry.code, 201);
    QCOMPARE(server().get(pods + "/p").code, 200);
    const ApiAnswer evicted = server().post(pods + "/p/eviction", eviction);
    QCOMPARE(evicted.code, 201);
    QCOMPARE(text(evicted, "kind"), QStringLiteral("Status"));
    QCOMPARE(text(evicted, "status"), QStringLiteral("Success"));
    QVERIFY(server().waitForCode(pods + "/p", 404)); // bound to no node: at once
    const ApiAnswer wrong = server().post(pods + "/q/eviction", eviction);
    QCOMPARE(wrong.code, 400);
}

void tst_Contract::tokens()
{
    const QByteArray space = server().newNamespace("tokens");
    const QByteArray accounts = spaced(space, "serviceaccounts");
    const QByteArray body
        = R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":600}})";
    QCOMPARE(server().post(accounts + "/robot/token", body).code, 404);
    QCOMPARE(server().post(accounts, R"({"metadata":{"name":"robot"}})").code, 201);
    const ApiAnswer made = server().post(accounts + "/robot/token", body);
    QCOMPARE(made.code, 201);
    QCOMPARE(text(made, "kind"), QStringLiteral("TokenRequest"));
    QVERIFY(!text(made, "status.token").isEmpty());
    QVERIFY(!text(made, "status.expirationTimestamp").isEmpty());
}
