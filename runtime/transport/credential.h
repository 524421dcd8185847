// Where the bearer token of a request comes from. Contract:
//   - token() is asked for each request and is cheap while the cached value is fresh.
//   - renew() drops the cached value after a 401 and says whether another one was found, so that
//   the request may be repeated once (case B03).
//   - a source that is unreadable, empty or unusable for a moment keeps its old token (C-46).
// Test: tst_credential.
#pragma once

#include "clusterconfig.h"

#include <support/timesource.h>

#include <functional>
#include <memory>
#include <optional>

namespace davit::transport {

// False for control characters, which would end the header line and begin another. [thread-safe]
bool isHeaderSafe(const QByteArray &text) noexcept;
// What is wrong with a token that is not, to follow its name.
inline constexpr QLatin1StringView kNotHeaderSafe("holds control characters, a token is one line");

// The value of an Authorization header for basic authentication (RFC 7617). [thread-safe]
QByteArray basicAuthorization(const QString &user, const QByteArray &password);
// Impersonate-User, -Uid, -Group and -Extra-<key> with their values, which are more than one for
// groups and extras (C-48). Empty when nobody is impersonated. [thread-safe]
QList<std::pair<QByteArray, QList<QByteArray>>> impersonationHeaders(
    const Impersonation &impersonation);

// Member "exp" of a JSON web token, UTC; nothing for other tokens. [thread-safe]
std::optional<std::chrono::nanoseconds> webTokenExpiry(const QByteArray &token);

class Credential
{
public:
    virtual ~Credential() = default;
    // Calls `ready` when token() can answer: at once, but for a program that must run first.
    // [io-thread]
    virtual void prepare(std::function<void()> ready) { ready(); }
    // What keeps those who prepare() waiting ("exec plugin /opt/x"); empty when nothing does.
    // [io-thread]
    virtual QString awaited() const { return {}; }
    // Empty: anonymous, or the client certificate is the proof. [io-thread]
    virtual Result<QByteArray> token() = 0;
    // True when token() has now another value than `refused`, or will have after prepare().
    // [io-thread]
    virtual bool renew(const QByteArray &refused) = 0;
    // Until when the present token is good, UTC; nothing when that is not known. [io-thread]
    virtual std::optional<std::chrono::nanoseconds> expires() const = 0;
};

// A token, a token file, or nothing; exec plugins are ExecCredential. `time` is borrowed and
// outlives the credential.
std::unique_ptr<Credential> makeCredential(
    const ClusterConfig &config, const support::TimeSource &time);

} // namespace davit::transport
