#include <davit/error.h>
#include <davit/object.h>
#include <davit/status.h>

#include <QtCore/qbytearray.h>
#include <array>

DAVIT_BEGIN_NAMESPACE

class ErrorPrivate : public QSharedData
{
public:
    ErrorCode code = ErrorCode::Unset;
    QString message;
    std::chrono::milliseconds retryAfter{-1};
    int httpStatus = 0;
    QString reason;
    QByteArray statusJson;
};

Error::Error() noexcept = default;

Error::Error(ErrorCode code, const QString &message) : d(new ErrorPrivate)
{
    d->code = code;
    d->message = message;
}

Error::Error(const Error &other) noexcept = default;
Error::Error(Error &&other) noexcept = default;
Error &Error::operator=(const Error &other) noexcept = default;
Error &Error::operator=(Error &&other) noexcept = default;
Error::~Error() = default;

ErrorCode Error::code() const noexcept
{
    return d ? d->code : ErrorCode::Unset;
}

QString Error::message() const
{
    return d ? d->message : QString();
}

bool Error::isRetryable() const noexcept
{
    switch (code()) {
    case ErrorCode::Conflict:
    case ErrorCode::TooManyRequests:
    case ErrorCode::InternalError:
    case ErrorCode::ServiceUnavailable:
    case ErrorCode::Timeout:
    case ErrorCode::ServerTimeout:
    case ErrorCode::ResourceVersionTooLarge:
    case ErrorCode::ConnectionRefused:
    case ErrorCode::ConnectionLost:
    case ErrorCode::OutcomeUnknown:
    case ErrorCode::MalformedReply:
    case ErrorCode::KindNotServed:
    case ErrorCode::PluginFault:
    case ErrorCode::NotSynced:
    case ErrorCode::StaleCache:
        return true;
    default:
        return isError() && d->retryAfter.count() >= 0;
    }
}

std::chrono::milliseconds Error::retryAfter() const noexcept
{
    return d ? d->retryAfter : std::chrono::milliseconds(-1);
}

int Error::httpStatus() const noexcept
{
    return d ? d->httpStatus : 0;
}

QString Error::reason() const
{
    return d ? d->reason : QString();
}

QByteArray Error::statusJson() const
{
    return d ? d->statusJson : QByteArray();
}

QList<ErrorCause> Error::causes() const
{
    Object status;
    if (!d || d->statusJson.isEmpty() || !Object::fromJson(d->statusJson, &status).isOk())
        return {};
    const Value list = status[QLatin1StringView("details")][QLatin1StringView("causes")];
    QList<ErrorCause> causes;
    for (qsizetype i = 0; i < list.size(); ++i) {
        const Value cause = list.at(i);
        causes.append({cause[QLatin1StringView("field")].toString(),
            cause[QLatin1StringView("reason")].toString(),
            cause[QLatin1StringView("message")].toString()});
    }
    return causes;
}

// The server writes: conflict with "kubectl" using v1.
QString conflictingManager(const ErrorCause &cause)
{
    const QLatin1StringView opening("conflict with \"");
    if (cause.reason != QLatin1StringView("FieldManagerConflict")
        || !cause.message.startsWith(opening))
        return {};
    QString manager;
    for (qsizetype i = opening.size(); i < cause.message.size(); ++i) {
        QChar c = cause.message[i];
        if (c == QLatin1Char('"'))
            return manager;
        if (c == QLatin1Char('\\') && i + 1 < cause.message.size())
            c = cause.message[++i];
        manager += c;
    }
    return {};
}

namespace {
template <typename Change>
QExplicitlySharedDataPointer<ErrorPrivate> changed(
    const QExplicitlySharedDataPointer<ErrorPrivate> &d, Change change)
{
    QExplicitlySharedDataPointer<ErrorPrivate> copy(d ? new ErrorPrivate(*d) : new ErrorPrivate);
    change(*copy);
    return copy;
}
} // namespace

Error Error::withRetryAfter(std::chrono::milliseconds delay) const
{
    Error copy;
    copy.d = changed(d, [&](ErrorPrivate &e) { e.retryAfter = delay; });
    return copy;
}

Error Error::withHttpStatus(int status) const
{
    Error copy;
    copy.d = changed(d, [&](ErrorPrivate &e) { e.httpStatus = status; });
    return copy;
}

Error Error::withReason(const QString &reason) const
{
    Error copy;
    copy.d = changed(d, [&](ErrorPrivate &e) { e.reason = reason; });
    return copy;
}

Error Error::withStatusJson(const QByteArray &json) const
{
    Error copy;
    copy.d = changed(d, [&](ErrorPrivate &e) { e.statusJson = json; });
    return copy;
}

Error Error::withContext(const QString &what) const
{
    Error copy;
    copy.d = changed(
        d, [&](ErrorPrivate &e) { e.message = what + QLatin1StringView(": ") + e.message; });
    return copy;
}

QLatin1StringView errorCodeName(ErrorCode code) noexcept
{
    static constexpr std::array kNames = {"Unset", "NotFound", "AlreadyExists", "Conflict",
        "Expired", "BadRequest", "Unauthorized", "Forbidden", "MethodNotAllowed", "NotAcceptable",
        "UnsupportedMediaType", "Invalid", "TooManyRequests", "RequestEntityTooLarge",
        "InternalError", "ServiceUnavailable", "Timeout", "ServerTimeout",
        "ResourceVersionTooLarge", "Unknown", "ConnectionRefused", "ConnectionLost",
        "OutcomeUnknown", "TlsFailure", "Canceled", "MalformedReply", "InvalidArgument",
        "InvalidConfiguration", "MissingRbac", "UndeclaredResource", "KindNotServed", "PluginFault",
        "NotSynced", "Unsupported", "AlreadyOwned", "StaleCache"};
    static_assert(kNames.size() == size_t(ErrorCode::StaleCache) + 1);
    return size_t(code) < kNames.size() ? QLatin1StringView(kNames[size_t(code)])
                                        : QLatin1StringView("Unknown");
}

Status::Status() noexcept = default;

Status::Status(const Error &error) : m_error(error) { }

Status::Status(ErrorCode code, const QString &message) : m_error(code, message) { }

Status::Status(const Status &other) noexcept = default;
Status &Status::operator=(const Status &other) noexcept = default;
Status::~Status() = default;

bool Status::isOk() const noexcept
{
    return !m_error.isError();
}

Error Status::error() const noexcept
{
    return m_error;
}

DAVIT_END_NAMESPACE
