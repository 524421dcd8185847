// What went wrong, as a value: a code, one sentence that names object and operation, and what the
// server said about waiting and about the single causes. Source of the API codes: Kubernetes API
// conventions, "Response Status Kind"; BEHAVIOURS.md C-14 to C-17. Test: tst_error.
#pragma once

#include <QtCore/qlist.h>
#include <QtCore/qshareddata.h>
#include <QtCore/qstring.h>
#include <chrono>
#include <davit/global.h>

DAVIT_BEGIN_NAMESPACE
class ErrorPrivate;

// (r) = worth trying again later, (t) = terminal: the same call fails the same way. New codes are
// appended.
enum class ErrorCode : quint16 {
    Unset = 0, // no error
    NotFound, // (t) 404
    AlreadyExists, // (t) 409 to a create
    Conflict, // (r) 409: re-read the object first
    Expired, // (t) 410: the version or continue token is too old; list anew
    BadRequest, // (t) 400
    Unauthorized, // (t) 401, after a refresh of the credential
    Forbidden, // (t) 403: the server's RBAC says no
    MethodNotAllowed, // (t) 405
    NotAcceptable, // (t) 406
    UnsupportedMediaType, // (t) 415
    Invalid, // (t) 422: the object breaks a rule of its kind
    TooManyRequests, // (r) 429: wait for retryAfter()
    RequestEntityTooLarge, // (t) 413
    InternalError, // (r) 500
    ServiceUnavailable, // (r) 503
    Timeout, // (r) 504, or the server did not answer within the deadline
    ServerTimeout, // (r) the server asks to try again
    ResourceVersionTooLarge, // (r) the server has not seen that version yet
    Unknown, // (t) another status
    ConnectionRefused, // (r) nothing listens there
    ConnectionLost, // (r) the connection broke before a whole answer came; reads only
    OutcomeUnknown, // (r) a write was sent and the connection broke: read the object before you try
                    // again
    TlsFailure, // (t) certificate or handshake
    Canceled, // (t) the caller or the shutdown ended it
    MalformedReply, // (r) the server's bytes are not what the protocol says
    InvalidArgument, // (t) the call itself is wrong; nothing was sent
    InvalidConfiguration, // (t) kubeconfig, flag, metadata or config file
    MissingRbac, // (t) the plugin's metadata does not ask for this right; nothing was sent
    UndeclaredResource, // (t) the plugin's metadata does not name this kind
    KindNotServed, // (r) the cluster does not know the kind (yet)
    PluginFault, // (r) a plugin threw or did not return; kept for later, no call answers it now
    NotSynced, // (r) the cache has not seen its first full list; kept for later, as PluginFault
    Unsupported, // (t) this build or server cannot do it
    AlreadyOwned, // (t) the object has a controller, another one
    StaleCache // (r) the cache did not get as fresh as was asked for within the time given
};

// One of the server's reasons in detail (Status.details.causes).
// ABI: frozen
struct ErrorCause
{
    QString field; // ".data.a", "spec.replicas"; may be empty
    QString reason; // "FieldManagerConflict", "FieldValueInvalid", "DisruptionBudget"
    QString message;
};
// The manager that a FieldManagerConflict names ("kubectl"); empty for other causes (E-32).
// [thread-safe]
DAVIT_EXPORT QString conflictingManager(const ErrorCause &cause);

class DAVIT_EXPORT Error
{
public:
    // No error.
    Error() noexcept;
    // `message` is one sentence without a full stop, naming object and operation: "get Secret
    // team-a/key: not found".
    Error(ErrorCode code, const QString &message);
    Error(const Error &other) noexcept;
    Error(Error &&other) noexcept;
    Error &operator=(const Error &other) noexcept;
    Error &operator=(Error &&other) noexcept;
    ~Error();

    // Unset when there is no error. [thread-safe]
    ErrorCode code() const noexcept;
    bool isError() const noexcept { return code() != ErrorCode::Unset; }
    // The sentence; never holds a token, certificate or Secret content. [thread-safe]
    QString message() const;
    // True for the codes marked (r), and whenever the server named a delay. [thread-safe]
    bool isRetryable() const noexcept;
    // The server's delay (Retry-After or details.retryAfterSeconds); a negative value when it named
    // none. [thread-safe]
    std::chrono::milliseconds retryAfter() const noexcept;
    // The HTTP status, or 0 when no answer came. [thread-safe]
    int httpStatus() const noexcept;
    // The Status reason as the server wrote it ("AlreadyExists"), or empty. [thread-safe]
    QString reason() const;
    // The server's whole Status object as JSON, or empty. [thread-safe]
    QByteArray statusJson() const;
    // Its causes, in the server's order; empty when it named none. [thread-safe]
    QList<ErrorCause> causes() const;

    // Copies with one part set. [thread-safe]
    Error withRetryAfter(std::chrono::milliseconds delay) const;
    Error withHttpStatus(int status) const;
    Error withReason(const QString &reason) const;
    Error withStatusJson(const QByteArray &json) const;
    // The same error with "what: " in front of the sentence.
    Error withContext(const QString &what) const;

private:
    QExplicitlySharedDataPointer<ErrorPrivate> d;
};

// "NotFound"; for logs and metrics labels. [thread-safe]
DAVIT_EXPORT QLatin1StringView errorCodeName(ErrorCode code) noexcept;

// Which refusal it is, as apimachinery's predicates say it (C-16): by the reason, and by the HTTP
// status where the reason is no known one; TooManyRequests and RequestEntityTooLarge by either.
// False for no error. [thread-safe]
inline bool isNotFound(const Error &error)
{
    return error.code() == ErrorCode::NotFound;
}
inline bool isAlreadyExists(const Error &error)
{
    return error.code() == ErrorCode::AlreadyExists;
}
inline bool isConflict(const Error &error)
{
    return error.code() == ErrorCode::Conflict;
}
inline bool isInvalid(const Error &error)
{
    return error.code() == ErrorCode::Invalid;
}
inline bool isBadRequest(const Error &error)
{
    return error.code() == ErrorCode::BadRequest;
}
inline bool isUnauthorized(const Error &error)
{
    return error.code() == ErrorCode::Unauthorized;
}
inline bool isForbidden(const Error &error)
{
    return error.code() == ErrorCode::Forbidden;
}
inline bool isMethodNotSupported(const Error &error)
{
    return error.code() == ErrorCode::MethodNotAllowed;
}
inline bool isNotAcceptable(const Error &error)
{
    return error.code() == ErrorCode::NotAcceptable;
}
inline bool isUnsupportedMediaType(const Error &error)
{
    return error.code() == ErrorCode::UnsupportedMediaType;
}
inline bool isResourceExpired(const Error &error)
{
    return error.code() == ErrorCode::Expired;
}
inline bool isInternalError(const Error &error)
{
    return error.code() == ErrorCode::InternalError;
}
inline bool isServiceUnavailable(const Error &error)
{
    return error.code() == ErrorCode::ServiceUnavailable;
}
inline bool isTimeout(const Error &error)
{
    return error.code() == ErrorCode::Timeout;
}
inline bool isServerTimeout(const Error &error)
{
    return error.code() == ErrorCode::ServerTimeout;
}
inline bool isTooManyRequests(const Error &error)
{
    return error.code() == ErrorCode::TooManyRequests || error.httpStatus() == 429;
}
inline bool isRequestEntityTooLarge(const Error &error)
{
    return error.code() == ErrorCode::RequestEntityTooLarge || error.httpStatus() == 413;
}
DAVIT_END_NAMESPACE
