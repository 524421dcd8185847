#include "codec/statusdecoder.h"

#include <davit/object.h>

#include <QFile>
#include <QTest>

using namespace davit;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

const QString kOperation = QStringLiteral("get Secret team-a/key");

QByteArray failure(const QByteArray &rest)
{
    return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)" + rest + '}';
}

} // namespace

class tst_StatusDecoder : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void generic_data();
    void generic();
    void genericCarriesTheBody();
    void genericDetails_data();
    void genericDetails();
    void secretsAreRedacted_data();
    void secretsAreRedacted();
    void reasons_data();
    void reasons();
    void delays_data();
    void delays();
    void prettyBody();
    void events_data();
    void events();
};

void tst_StatusDecoder::generic_data()
{
    QTest::addColumn<QByteArray>("method");
    QTest::addColumn<int>("httpStatus");
    QTest::addColumn<ErrorCode>("code");
    const auto row = [](const char *name, const char *method, int status, ErrorCode code) {
        QTest::newRow(name) << QByteArray(method) << status << code;
    };
    row("C-14 400", "GET", 400, ErrorCode::BadRequest);
    row("C-14 401", "GET", 401, ErrorCode::Unauthorized);
    row("C-14 403", "GET", 403, ErrorCode::Forbidden);
    row("C-14 404", "GET", 404, ErrorCode::NotFound);
    row("C-14 405", "GET", 405, ErrorCode::MethodNotAllowed);
    row("C-14 406", "GET", 406, ErrorCode::NotAcceptable);
    row("C-14 409 POST", "POST", 409, ErrorCode::AlreadyExists);
    row("C-14 409 PUT", "PUT", 409, ErrorCode::Conflict);
    row("C-14 415", "PATCH", 415, ErrorCode::UnsupportedMediaType);
    row("C-14 422", "POST", 422, ErrorCode::Invalid);
    row("C-14 429", "GET", 429, ErrorCode::TooManyRequests);
    row("C-14 503", "GET", 503, ErrorCode::ServiceUnavailable);
    row("C-14 504", "GET", 504, ErrorCode::Timeout);
    row("C-14 500", "GET", 500, ErrorCode::InternalError);
    row("C-14 502", "GET", 502, ErrorCode::InternalError);
    row("C-14 599", "GET", 599, ErrorCode::InternalError);
    row("C-14 418", "GET", 418, ErrorCode::Unknown);
    row("C-14 302", "GET", 302, ErrorCode::Unknown);
    row("C-16 410 by code", "GET", 410, ErrorCode::Expired);
    row("C-16 413 by code", "POST", 413, ErrorCode::RequestEntityTooLarge);
}

void tst_StatusDecoder::generic()
{
    QFETCH(const QByteArray, method);
    QFETCH(const int, httpStatus);
    // No Status: nothing, HTML, other JSON, a Status that says Success.
    const QByteArrayList bodies{"", "<html>upstream connect error</html>", "[1,2]", "{\"a\":1}",
        R"({"kind":"Status","status":"Success"})", "{\"kind\":\"Status\",\"status\":\"Fail"};
    for (const QByteArray &body : bodies) {
        const Error error = codec::errorFromReply(kOperation, method, httpStatus, body, -1ms);
        QTEST(error.code(), "code");
        QCOMPARE(error.httpStatus(), httpStatus);
        QVERIFY(error.message().startsWith(kOperation + QLatin1String(": ")));
        QVERIFY(error.retryAfter() < 0ms);
    }
}

void tst_StatusDecoder::genericCarriesTheBody()
{
    const QByteArray body = "<html>\n upstream  connect error" + QByteArray(5000, 'x');
    const Error error = codec::errorFromReply(kOperation, "GET", 503, body, -1ms);
    QVERIFY(error.message().startsWith(
        kOperation + QLatin1String(": the server answered 503: <html> upstream connect error")));
    QVERIFY(error.message().size() < 300);
    Object status;
    QVERIFY(Object::fromJson(error.statusJson(), &status).isOk());
    const Value cause = status[QLatin1StringView("details")][QLatin1StringView("causes")].at(0);
    QCOMPARE(
        cause[QLatin1StringView("reason")].toString(), QStringLiteral("UnexpectedServerResponse"));
    QCOMPARE(cause[QLatin1StringView("message")].toUtf8(), body.left(2048));
    const Error forbidden
        = codec::errorFromReply(kOperation, "GET", 403, "denied by the proxy\n", -1ms);
    QCOMPARE(forbidden.message(), kOperation + QLatin1String(": denied by the proxy"));
}

void tst_StatusDecoder::genericDetails_data() // C-15
{
    QTest::addColumn<QByteArray>("target");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("name");
    const auto row = [](const char *target, const char *kind, const char *name) {
        QTest::newRow(*target ? target : "not said")
            << QByteArray(target) << QString::fromLatin1(kind) << QString::fromLatin1(name);
    };
    row("", "", "");
    row("/version", "", "");
    row("/api/v1/namespaces/a/pods/x/eviction?timeout=30s", "pods", "x");
    row("/apis/apps/v1/namespaces/a/deployments?limit=1", "deployments", "");
    row("/apis/apps/v1/deployments", "deployments", "");
    row("/api/v1/nodes/n%2E1", "nodes", "n.1");
    row("/api/v1/namespaces", "namespaces", "");
    row("/api/v1/namespaces/a", "namespaces", "a");
    row("/api/v1/namespaces/a/status", "namespaces", "a");
}

void tst_StatusDecoder::genericDetails()
{
    QFETCH(const QByteArray, target);
    const Error error = codec::errorFromReply(kOperation, "GET", 503, "busy", 1500ms, target);
    Object status;
    QVERIFY(Object::fromJson(error.statusJson(), &status).isOk());
    const Value details = status[QLatin1StringView("details")];
    QTEST(details[QLatin1StringView("kind")].toString(), "kind");
    QTEST(details[QLatin1StringView("name")].toString(), "name");
    QCOMPARE(details[QLatin1StringView("retryAfterSeconds")].toInt(), 2);
    QCOMPARE(error.retryAfter(), 1500ms);
}

void tst_StatusDecoder::secretsAreRedacted_data() // of servers that repeat the request
{
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("message"); // that and more
    const QByteArray echo = "you sent: Authorization: Bearer token-4711-x Accept: */*";
    const QString told = QStringLiteral("you sent: Authorization: Bearer <redacted> Accept: */*");
    QTest::newRow("a Status") << failure("\"code\":400,\"message\":\"" + echo + '"') << told;
    QTest::newRow("a Status with an escaped text")
        << failure("\"code\":400,\"message\":\"Authorization: Bearer\\n\\u0074oken-4711-x\"")
        << QStringLiteral("Authorization: Bearer <redacted>");
    QTest::newRow("a cause") << failure(
        R"("code":400,"message":"no","details":{"retryAfterSeconds":3,"causes":[{"message":")"
        + echo + "\"}]}") << QStringLiteral("no");
    QTest::newRow("text") << echo << told;
    QTest::newRow("basic authentication in text")
        << QByteArray("Authorization: Basic token-4711-x") << QStringLiteral("Basic <redacted>");
    QTest::newRow("cut in the middle of it")
        << QByteArray(2048 - 14, 'x') + " Bearer token-4711-x" << QStringLiteral("xxx");
}

void tst_StatusDecoder::secretsAreRedacted()
{
    QFETCH(const QByteArray, body);
    QFETCH(const QString, message);
    const auto check = [&](const Error &error) {
        QVERIFY2(error.message().contains(message), qPrintable(error.message()));
        QVERIFY2(!error.message().contains(QStringLiteral("token")), qPrintable(error.message()));
        QVERIFY2(!error.statusJson().contains("token"), error.statusJson().constData());
        Object status;
        QVERIFY(Object::fromJson(error.statusJson(), &status).isOk());
        QCOMPARE(status[QLatin1StringView("kind")].toString(), QStringLiteral("Status"));
    };
    check(codec::errorFromReply(kOperation, "GET", 400, body, -1ms));
    if (body.startsWith('{'))
        check(codec::errorFromStatus(kOperation, body));
}

void tst_StatusDecoder::reasons_data()
{
    QTest::addColumn<int>("httpStatus");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<ErrorCode>("code");
    const auto row = [](const char *name, int http, const QByteArray &rest, ErrorCode code) {
        QTest::newRow(name) << http << failure("\"message\":\"the words\"," + rest) << code;
    };
    row("C-16 reason before code", 500, R"("reason":"NotFound","code":500)", ErrorCode::NotFound);
    row("C-16 unknown reason, code counts", 404, R"("reason":"Mystery","code":404)",
        ErrorCode::NotFound);
    row("C-16 no reason, code counts", 409, R"("code":409)", ErrorCode::Conflict);
    row("C-16 no code, HTTP status counts", 422, R"("reason":"")", ErrorCode::Invalid);
    row("C-16 429 whatever the reason", 429, R"("reason":"Mystery","code":429)",
        ErrorCode::TooManyRequests);
    row("C-16 413 whatever the reason", 413, R"("reason":"Invalid","code":413)",
        ErrorCode::RequestEntityTooLarge);
    row("C-16 AlreadyExists by reason", 409, R"("reason":"AlreadyExists","code":409)",
        ErrorCode::AlreadyExists);
    row("C-16 Expired by reason", 410, R"("reason":"Expired","code":410)", ErrorCode::Expired);
    row("Gone", 410, R"("reason":"Gone","code":410)", ErrorCode::Expired);
    row("C-16 ServerTimeout by reason", 500, R"("reason":"ServerTimeout","code":500)",
        ErrorCode::ServerTimeout);
    row("T4, R-16 by cause", 504,
        R"("reason":"Timeout","code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"x"}]})",
        ErrorCode::ResourceVersionTooLarge);
    row("T4, R-16 by the cause's message", 504,
        R"("reason":"Timeout","code":504,"details":{"causes":[{"message":"Too large resource version"}]})",
        ErrorCode::ResourceVersionTooLarge);
    row("plain Timeout", 504, R"("reason":"Timeout","code":504)", ErrorCode::Timeout);
    QTest::newRow("T4, R-16 by message")
        << 504
        << failure(
               R"("message":"Too large resource version: 9, current: 5","reason":"Timeout","code":504)")
        << ErrorCode::ResourceVersionTooLarge;
}

void tst_StatusDecoder::reasons()
{
    QFETCH(const int, httpStatus);
    QFETCH(const QByteArray, body);
    const Error error = codec::errorFromReply(kOperation, "PUT", httpStatus, body, -1ms);
    QTEST(error.code(), "code");
    QCOMPARE(error.httpStatus(), httpStatus);
    QCOMPARE(error.statusJson(), body);
}

void tst_StatusDecoder::delays_data()
{
    QTest::addColumn<int>("httpStatus");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<int>("headerMs");
    QTest::addColumn<int>("wantMs"); // -1: the server named none
    const auto row = [](const char *name, int http, const QByteArray &body, int header, int want) {
        QTest::newRow(name) << http << body << header << want;
    };
    row("C-17 details", 429, failure(R"("code":429,"details":{"retryAfterSeconds":3})"), -1, 3000);
    row("C-17 zero in details is none", 429,
        failure(R"("code":429,"details":{"retryAfterSeconds":0})"), -1, -1);
    row("C-17 ServerTimeout, zero", 500, failure(R"("reason":"ServerTimeout","code":500)"), -1, 0);
    row("C-17 ServerTimeout, two", 500,
        failure(R"("reason":"ServerTimeout","code":500,"details":{"retryAfterSeconds":2})"), -1,
        2000);
    row("B25 header alone", 503, "<html>", 4000, 4000);
    row("B25 header above details", 429, failure(R"("code":429,"details":{"retryAfterSeconds":3})"),
        5000, 5000);
    row("B25 details above header", 429, failure(R"("code":429,"details":{"retryAfterSeconds":9})"),
        5000, 9000);
    row("none", 500, failure(R"("code":500)"), -1, -1);
}

void tst_StatusDecoder::delays()
{
    QFETCH(const int, httpStatus);
    QFETCH(const QByteArray, body);
    QFETCH(const int, headerMs);
    QFETCH(const int, wantMs);
    const Error error
        = codec::errorFromReply(kOperation, "GET", httpStatus, body, milliseconds(headerMs));
    QCOMPARE(qMax(int(error.retryAfter().count()), -1), wantMs);
    QVERIFY(wantMs < 0 || error.isRetryable());
}

void tst_StatusDecoder::prettyBody()
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B25-429-pretty.http"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QByteArray reply = file.readAll();
    reply.replace("\r\n", "\n");
    const QByteArray body = reply.mid(reply.indexOf("\n\n") + 2);
    const Error error = codec::errorFromReply(kOperation, "GET", 429, body, 3s);
    QCOMPARE(error.code(), ErrorCode::TooManyRequests);
    QCOMPARE(error.message(), kOperation + QLatin1String(": storage is (re)initializing"));
    QCOMPARE(error.retryAfter(), milliseconds(3000));
}

void tst_StatusDecoder::events_data()
{
    QTest::addColumn<QByteArray>("status");
    QTest::addColumn<ErrorCode>("code");
    QTest::addColumn<QString>("message");
    QTest::newRow("B12 Expired") << failure(
        R"-("message":"too old version: 90 (101)","reason":"Expired","code":410)-")
                                 << ErrorCode::Expired
                                 << QStringLiteral("watch: too old version: 90 (101)");
    QTest::newRow("B12 without kind") << QByteArray(
        R"({"metadata":{},"status":"Failure","message":"PrevKv=nil","reason":"InternalError","code":500})")
                                      << ErrorCode::InternalError
                                      << QStringLiteral("watch: PrevKv=nil");
    QTest::newRow("B12 410 without reason") << failure(R"("message":"gone","code":410)")
                                            << ErrorCode::Expired << QStringLiteral("watch: gone");
    QTest::newRow("B12 no message") << failure(R"("reason":"Timeout")") << ErrorCode::Timeout
                                    << QStringLiteral("watch: Timeout");
    QTest::newRow("B12 null") << QByteArray("null") << ErrorCode::InternalError
                              << QStringLiteral("watch: the server sent a Status that cannot be "
                                                "read (JSON, byte 0: no JSON object)");
    QTest::newRow("B12 another kind")
        << QByteArray(R"({"kind":"Widget","metadata":{}})") << ErrorCode::InternalError
        << QStringLiteral("watch: the server sent an object that is no Status");
}

void tst_StatusDecoder::events()
{
    QFETCH(const QByteArray, status);
    const Error error = codec::errorFromStatus(QStringLiteral("watch"), status);
    QTEST(error.code(), "code");
    QTEST(error.message(), "message");
}

QTEST_GUILESS_MAIN(tst_StatusDecoder)
#include "tst_statusdecoder.moc"
