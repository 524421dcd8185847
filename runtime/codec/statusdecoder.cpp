// Status objects to errors.
#include "statusdecoder.h"

#include <davit/object.h>
#include <davit/objectbuilder.h>
#include <observability/redaction.h>

#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <utility>

namespace davit::codec {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr qsizetype kMaxBodyBytes = 2048; // of an answer that is no Status, kept in the error
constexpr qsizetype kMaxBodyInMessage = 200;

struct Reason
{
    QLatin1StringView name;
    ErrorCode code;
};
constexpr Reason kReasons[] = {
    {QLatin1StringView("NotFound"), ErrorCode::NotFound},
    {QLatin1StringView("AlreadyExists"), ErrorCode::AlreadyExists},
    {QLatin1StringView("Conflict"), ErrorCode::Conflict},
    {QLatin1StringView("Expired"), ErrorCode::Expired},
    {QLatin1StringView("Gone"), ErrorCode::Expired},
    {QLatin1StringView("BadRequest"), ErrorCode::BadRequest},
    {QLatin1StringView("Unauthorized"), ErrorCode::Unauthorized},
    {QLatin1StringView("Forbidden"), ErrorCode::Forbidden},
    {QLatin1StringView("MethodNotAllowed"), ErrorCode::MethodNotAllowed},
    {QLatin1StringView("NotAcceptable"), ErrorCode::NotAcceptable},
    {QLatin1StringView("UnsupportedMediaType"), ErrorCode::UnsupportedMediaType},
    {QLatin1StringView("Invalid"), ErrorCode::Invalid},
    {QLatin1StringView("TooManyRequests"), ErrorCode::TooManyRequests},
    {QLatin1StringView("RequestEntityTooLarge"), ErrorCode::RequestEntityTooLarge},
    {QLatin1StringView("InternalError"), ErrorCode::InternalError},
    {QLatin1StringView("ServiceUnavailable"), ErrorCode::ServiceUnavailable},
    {QLatin1StringView("Timeout"), ErrorCode::Timeout},
    {QLatin1StringView("ServerTimeout"), ErrorCode::ServerTimeout},
};

// C-14 and, for 410 and 413, C-16.
ErrorCode codeFromHttp(int status, bool isPost)
{
    switch (status) {
    case 400:
        return ErrorCode::BadRequest;
    case 401:
        return ErrorCode::Unauthorized;
    case 403:
        return ErrorCode::Forbidden;
    case 404:
        return ErrorCode::NotFound;
    case 405:
        return ErrorCode::MethodNotAllowed;
    case 406:
        return ErrorCode::NotAcceptable;
    case 409:
        return isPost ? ErrorCode::AlreadyExists : ErrorCode::Conflict;
    case 410:
        return ErrorCode::Expired;
    case 413:
        return ErrorCode::RequestEntityTooLarge;
    case 415:
        return ErrorCode::UnsupportedMediaType;
    case 422:
        return ErrorCode::Invalid;
    case 429:
        return ErrorCode::TooManyRequests;
    case 503:
        return ErrorCode::ServiceUnavailable;
    case 504:
        return ErrorCode::Timeout;
    default:
        return status >= 500 ? ErrorCode::InternalError : ErrorCode::Unknown;
    }
}

Value member(const Object &object, const char *name)
{
    return object[QLatin1StringView(name)];
}

// Some servers leave kind and apiVersion out (B12).
bool isStatus(const Object &object)
{
    const Value kind = member(object, "kind");
    if (kind.isString() && !kind.equals(QLatin1StringView("")))
        return kind.equals(QLatin1StringView("Status"));
    return member(object, "status").equals(QLatin1StringView("Failure"));
}

//
bool saysVersionTooLarge(const Object &status)
{
    const QLatin1StringView sentence("Too large resource version");
    const bool isTimeout = member(status, "reason").equals(QLatin1StringView("Timeout"));
    const Value causes = member(status, "details")[QLatin1StringView("causes")];
    for (qsizetype i = 0; i < causes.size(); ++i) {
        const Value cause = causes.at(i);
        if (cause[QLatin1StringView("reason")].equals(QLatin1StringView("ResourceVersionTooLarge"))
            || (isTimeout && cause[QLatin1StringView("message")].equals(sentence)))
            return true;
    }
    return isTimeout && member(status, "message").toString().contains(sentence);
}

ErrorCode codeFromStatus(const Object &status, int code)
{
    if (saysVersionTooLarge(status))
        return ErrorCode::ResourceVersionTooLarge;
    if (code == 429 || code == 413) // these count whatever the reason says (C-16)
        return codeFromHttp(code, false);
    const Value reason = member(status, "reason");
    for (const Reason &known : kReasons)
        if (reason.equals(known.name))
            return known.code;
    return codeFromHttp(code, false);
}

// Some proxies repeat the request in what they answer.
QJsonValue withoutSecrets(const QJsonValue &value)
{
    if (value.isString())
        return observability::redacted(value.toString());
    if (value.isArray()) {
        QJsonArray items;
        for (const QJsonValue &item : value.toArray())
            items.append(withoutSecrets(item));
        return items;
    }
    if (!value.isObject())
        return value;
    const QJsonObject before = value.toObject();
    QJsonObject members;
    for (auto i = before.begin(); i != before.end(); ++i)
        members.insert(i.key(), withoutSecrets(i.value()));
    return members;
}

// As it is where it holds no secret; empty where Qt cannot read it, who knows what it holds then.
QByteArray statusJson(const Object &status)
{
    const QByteArray json = status.toJson();
    const QJsonValue value(QJsonDocument::fromJson(json).object());
    const QJsonValue safe = withoutSecrets(value);
    if (safe != value)
        return QJsonDocument(safe.toObject()).toJson(QJsonDocument::Compact);
    return value.toObject().isEmpty() ? QByteArray() : json;
}

Error errorFrom(const QString &operation, const Object &status, int httpStatus)
{
    const auto said = int(member(status, "code").toInt());
    const int code = said != 0 ? said : httpStatus;
    const QString reason = observability::redacted(member(status, "reason").toString());
    QString message = observability::redacted(member(status, "message").toString());
    if (message.isEmpty())
        message = reason.isEmpty() ? QStringLiteral("the server gave no reason") : reason;
    Error error = Error(codeFromStatus(status, code), operation + QLatin1String(": ") + message)
                      .withHttpStatus(httpStatus != 0 ? httpStatus : code)
                      .withReason(reason)
                      .withStatusJson(statusJson(status));
    const qint64 wait = member(status, "details")[QLatin1StringView("retryAfterSeconds")].toInt();
    if (wait > 0 || error.code() == ErrorCode::ServerTimeout) // C-17
        error = error.withRetryAfter(seconds(wait));
    return error;
}

// "deployments" and "web" of "/apis/apps/v1/namespaces/a/deployments/web/scale?timeout=30s".
std::pair<QString, QString> addressOf(const QByteArray &target)
{
    const QByteArrayList parts = target.split('?').value(0).split('/'); // "" is the first
    qsizetype at = parts.value(1) == "api" ? 3 : parts.value(1) == "apis" ? 4 : parts.size();
    const QByteArray below = parts.value(at + 2);
    if (parts.value(at) == "namespaces" && !below.isEmpty() && below != "status"
        && below != "finalize")
        at += 2;
    const auto text = [&parts](qsizetype index) {
        return QString::fromUtf8(QByteArray::fromPercentEncoding(parts.value(index)));
    };
    return {text(at), text(at + 1)};
}

// An answer without a Status (C-14, C-15).
Error genericError(const QString &operation, ErrorCode code, int httpStatus, QByteArrayView body,
    milliseconds retryAfter, const QByteArray &target)
{
    // Cut last: half a secret looks like none.
    const QString safe = observability::redacted(
        QString::fromUtf8(body.first(qMin(body.size(), 2 * kMaxBodyBytes))));
    const QString text = QString::fromUtf8(safe.toUtf8().left(kMaxBodyBytes));
    const QString shown = text.simplified().left(kMaxBodyInMessage);
    QString message = QStringLiteral("the server answered %1").arg(httpStatus);
    if (code == ErrorCode::Forbidden && !shown.isEmpty())
        message = shown;
    else if (!shown.isEmpty())
        message += QLatin1String(": ") + shown;
    const QString reason = code == ErrorCode::Unknown ? QString() : errorCodeName(code).toString();
    ObjectBuilder status(Gvk{{}, QStringLiteral("v1"), QStringLiteral("Status")}, {});
    status.remove({QStringLiteral("metadata")})
        .set({QStringLiteral("status")}, QStringLiteral("Failure"))
        .set({QStringLiteral("code")}, httpStatus)
        .set({QStringLiteral("reason")}, reason)
        .set({QStringLiteral("message")}, message)
        .set({QStringLiteral("details"), QStringLiteral("causes")},
            QVariantList{
                QVariantMap{{QStringLiteral("reason"), QStringLiteral("UnexpectedServerResponse")},
                    {QStringLiteral("message"), text}}});
    const QString details = QStringLiteral("details");
    const auto [resource, name] = addressOf(target);
    if (!resource.isEmpty())
        status.set({details, QStringLiteral("kind")}, resource); // as servers call it
    if (!name.isEmpty())
        status.set({details, QStringLiteral("name")}, name);
    if (retryAfter > milliseconds::zero())
        status.set({details, QStringLiteral("retryAfterSeconds")},
            int(std::chrono::ceil<seconds>(retryAfter).count()));
    return Error(code, operation + QLatin1String(": ") + message)
        .withHttpStatus(httpStatus)
        .withReason(reason)
        .withStatusJson(status.toJson());
}

} // namespace

Error errorFromReply(const QString &operation, const QByteArray &method, int httpStatus,
    QByteArrayView body, milliseconds retryAfter, const QByteArray &target)
{
    Object status;
    Error error;
    if (Object::fromJson(body, &status).isOk() && isStatus(status)
        && !member(status, "status").equals(QLatin1StringView("Success")))
        error = errorFrom(operation, status, httpStatus);
    else
        error = genericError(operation, codeFromHttp(httpStatus, method == "POST"), httpStatus,
            body, retryAfter, target);
    if (retryAfter > error.retryAfter())
        error = error.withRetryAfter(retryAfter);
    return error;
}

Error errorFromStatus(const QString &operation, QByteArrayView statusJson)
{
    Object status;
    const Status parsed = Object::fromJson(statusJson, &status);
    if (parsed.isOk() && isStatus(status))
        return errorFrom(operation, status, 0);
    const QString what = parsed.isOk()
        ? QStringLiteral("an object that is no Status")
        : QStringLiteral("a Status that cannot be read (%1)").arg(parsed.error().message());
    return Error(ErrorCode::InternalError, operation + QLatin1String(": the server sent ") + what);
}

} // namespace davit::codec
