#include <davit/result.h>

#include <QTest>

using namespace davit;
using namespace std::chrono_literals;

class tst_Error : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void retryable_data();
    void retryable();
    void everyCodeHasAName();
    void noError();
    void withLeavesTheOriginal();
    void causes_data();
    void causes();
    void predicates_data();
    void predicates();
    void statusAndResult();
};

// A row each: what error.h says by (r) and (t).
void tst_Error::retryable_data()
{
    QTest::addColumn<int>("code");
    QTest::addColumn<bool>("isRetryable");
    const struct
    {
        const char *name;
        ErrorCode code;
        bool isRetryable;
    } kRows[] = {{"404", ErrorCode::NotFound, false}, {"409 update", ErrorCode::Conflict, true},
        {"409 create", ErrorCode::AlreadyExists, false}, {"410", ErrorCode::Expired, false},
        {"400", ErrorCode::BadRequest, false}, {"401", ErrorCode::Unauthorized, false},
        {"403", ErrorCode::Forbidden, false}, {"405", ErrorCode::MethodNotAllowed, false},
        {"406", ErrorCode::NotAcceptable, false}, {"413", ErrorCode::RequestEntityTooLarge, false},
        {"415", ErrorCode::UnsupportedMediaType, false}, {"422", ErrorCode::Invalid, false},
        {"429", ErrorCode::TooManyRequests, true}, {"500", ErrorCode::InternalError, true},
        {"asks to try again", ErrorCode::ServerTimeout, true},
        {"version too large", ErrorCode::ResourceVersionTooLarge, true},
        {"another status", ErrorCode::Unknown, false},
        {"wrong bytes", ErrorCode::MalformedReply, true},
        {"wrong call", ErrorCode::InvalidArgument, false},
        {"wrong configuration", ErrorCode::InvalidConfiguration, false},
        {"not synced", ErrorCode::NotSynced, true}, {"unsupported", ErrorCode::Unsupported, false},
        {"503", ErrorCode::ServiceUnavailable, true}, {"504", ErrorCode::Timeout, true},
        {"refused", ErrorCode::ConnectionRefused, true}, {"cut", ErrorCode::ConnectionLost, true},
        {"write then cut", ErrorCode::OutcomeUnknown, true},
        {"certificate", ErrorCode::TlsFailure, false}, {"cancelled", ErrorCode::Canceled, false},
        {"missing Rbac", ErrorCode::MissingRbac, false},
        {"undeclared", ErrorCode::UndeclaredResource, false},
        {"kind not served", ErrorCode::KindNotServed, true},
        {"plugin threw", ErrorCode::PluginFault, true},
        {"owned by another", ErrorCode::AlreadyOwned, false},
        {"cache behind", ErrorCode::StaleCache, true}, {"none", ErrorCode::Unset, false}};
    QSet<int> codes;
    for (const auto &row : kRows) {
        QTest::newRow(row.name) << int(row.code) << row.isRetryable;
        codes.insert(int(row.code));
    }
    QCOMPARE(codes.size(), int(ErrorCode::StaleCache) + 1);
}

void tst_Error::retryable()
{
    QFETCH(const int, code);
    const Error error(ErrorCode(code), QStringLiteral("get v1 Secret a/b: no"));
    QTEST(error.isRetryable(), "isRetryable");
    // A delay named by the server makes anything worth a retry, but no error is none.
    QCOMPARE(error.withRetryAfter(2s).isRetryable(), error.isError());
}

void tst_Error::everyCodeHasAName()
{
    QSet<QLatin1StringView> names;
    for (int code = 0; code <= int(ErrorCode::StaleCache); ++code)
        names.insert(errorCodeName(ErrorCode(code)));
    QCOMPARE(names.size(), int(ErrorCode::StaleCache) + 1);
    QCOMPARE(errorCodeName(ErrorCode::Conflict), QLatin1StringView("Conflict"));
    QCOMPARE(errorCodeName(ErrorCode(9999)), QLatin1StringView("Unknown"));
}

void tst_Error::noError()
{
    const Error none;
    QVERIFY(!none.isError());
    QCOMPARE(none.message(), QString());
    QCOMPARE(none.retryAfter(), -1ms);
    QCOMPARE(none.httpStatus(), 0);
    QCOMPARE(none.statusJson(), QByteArray());
    QVERIFY(!none.withHttpStatus(500).isError());
}

void tst_Error::withLeavesTheOriginal()
{
    const Error plain(ErrorCode::Invalid, QStringLiteral("spec.size: too big"));
    const Error full = plain.withHttpStatus(422)
                           .withReason(QStringLiteral("Invalid"))
                           .withRetryAfter(3s)
                           .withStatusJson("{}")
                           .withContext(QStringLiteral("create v1 Pod a/b"));
    QCOMPARE(full.message(), QStringLiteral("create v1 Pod a/b: spec.size: too big"));
    QCOMPARE(full.code(), ErrorCode::Invalid);
    QCOMPARE(full.httpStatus(), 422);
    QCOMPARE(full.reason(), QStringLiteral("Invalid"));
    QCOMPARE(full.retryAfter(), 3000ms);
    QCOMPARE(full.statusJson(), QByteArray("{}"));
    QCOMPARE(plain.message(), QStringLiteral("spec.size: too big"));
    QCOMPARE(plain.httpStatus(), 0);
}

void tst_Error::causes_data()
{
    QTest::addColumn<QByteArray>("statusJson");
    QTest::addColumn<QStringList>("causes"); // field|reason|message|manager
    QTest::newRow("no Status") << QByteArray() << QStringList();
    QTest::newRow("no JSON") << QByteArray("<html>") << QStringList();
    QTest::newRow("no details") << QByteArray(R"({"kind":"Status"})") << QStringList();
    QTest::newRow("E-32 managers")
        << QByteArray(R"({"details":{"causes":[
            {"reason":"FieldManagerConflict","message":"conflict with \"kubectl\" using v1","field":".data.a"},
            {"reason":"FieldManagerConflict","message":"conflict with \"a \\\"b\\\"\" with subresource \"status\" using v1","field":".data.b"}]}})")
        << QStringList{
               QStringLiteral(".data.a|FieldManagerConflict|conflict with \"kubectl\" using "
                              "v1|kubectl"),
               QStringLiteral(".data.b|FieldManagerConflict|conflict with \"a \\\"b\\\"\" with "
                              "subresource \"status\" using v1|a \"b\"")};
    QTest::newRow("others name no manager")
        << QByteArray(R"({"details":{"causes":[
            {"reason":"FieldValueInvalid","message":"conflict with \"x\"","field":"spec.size"},
            {"reason":"FieldManagerConflict","message":"conflict with \"x"},
            {"reason":"FieldManagerConflict","message":"odd"}]}})")
        << QStringList{QStringLiteral("spec.size|FieldValueInvalid|conflict with \"x\"|"),
               QStringLiteral("|FieldManagerConflict|conflict with \"x|"),
               QStringLiteral("|FieldManagerConflict|odd|")};
}

void tst_Error::causes()
{
    QFETCH(const QByteArray, statusJson);
    const Error error = Error(ErrorCode::Conflict, QStringLiteral("no")).withStatusJson(statusJson);
    QStringList seen;
    const QList<ErrorCause> causes = error.causes();
    for (const ErrorCause &cause : causes)
        seen += QStringList{cause.field, cause.reason, cause.message, conflictingManager(cause)}
                    .join(QLatin1Char('|'));
    QTEST(seen, "causes");
    QVERIFY(Error().causes().isEmpty());
}

using IsKind = bool (*)(const Error &);
Q_DECLARE_METATYPE(IsKind)

void tst_Error::predicates_data() // C-16
{
    QTest::addColumn<IsKind>("predicate");
    QTest::addColumn<ErrorCode>("code");
    QTest::addColumn<int>("byStatusAlone"); // 0: the HTTP status does not count
    const auto row = [](const char *name, IsKind predicate, ErrorCode code, int status = 0) {
        QTest::newRow(name) << predicate << code << status;
    };
    row("C-16 NotFound", isNotFound, ErrorCode::NotFound);
    row("C-16 AlreadyExists", isAlreadyExists, ErrorCode::AlreadyExists);
    row("C-16 Conflict", isConflict, ErrorCode::Conflict);
    row("C-16 Invalid", isInvalid, ErrorCode::Invalid);
    row("C-16 BadRequest", isBadRequest, ErrorCode::BadRequest);
    row("C-16 Unauthorized", isUnauthorized, ErrorCode::Unauthorized);
    row("C-16 Forbidden", isForbidden, ErrorCode::Forbidden);
    row("C-16 MethodNotSupported", isMethodNotSupported, ErrorCode::MethodNotAllowed);
    row("C-16 NotAcceptable", isNotAcceptable, ErrorCode::NotAcceptable);
    row("C-16 UnsupportedMediaType", isUnsupportedMediaType, ErrorCode::UnsupportedMediaType);
    row("C-16 Expired", isResourceExpired, ErrorCode::Expired);
    row("C-16 InternalError", isInternalError, ErrorCode::InternalError);
    row("C-16 ServiceUnavailable", isServiceUnavailable, ErrorCode::ServiceUnavailable);
    row("C-16 Timeout", isTimeout, ErrorCode::Timeout);
    row("C-16 ServerTimeout", isServerTimeout, ErrorCode::ServerTimeout);
    row("C-16 TooManyRequests", isTooManyRequests, ErrorCode::TooManyRequests, 429);
    row("C-16 RequestEntityTooLarge", isRequestEntityTooLarge, ErrorCode::RequestEntityTooLarge,
        413);
}

void tst_Error::predicates()
{
    QFETCH(const IsKind, predicate);
    QFETCH(const ErrorCode, code);
    QFETCH(const int, byStatusAlone);
    QVERIFY(!predicate(Error()));
    for (int other = 1; other <= int(ErrorCode::StaleCache); ++other)
        QCOMPARE(
            predicate(Error(ErrorCode(other), QStringLiteral("no"))), ErrorCode(other) == code);
    const Error odd(ErrorCode::Unknown, QStringLiteral("no"));
    for (const int status : {400, 404, 409, 413, 422, 429, 500})
        QCOMPARE(predicate(odd.withHttpStatus(status)), status == byStatusAlone);
}

void tst_Error::statusAndResult()
{
    QVERIFY(Status().isOk());
    QVERIFY(Status(Error()).isOk());
    const Status failed(ErrorCode::NotFound, QStringLiteral("gone"));
    QVERIFY(!failed.isOk());
    const Result<int> wrong(failed.error());
    QVERIFY(!wrong.isOk());
    QCOMPARE(wrong.error().message(), QStringLiteral("gone"));
    QCOMPARE(wrong.status().error().code(), ErrorCode::NotFound);
    const Result<int> right(7);
    QCOMPARE(right.value(), 7);
    QVERIFY(right.status().isOk());
}

QTEST_GUILESS_MAIN(tst_Error)
#include "tst_error.moc"
