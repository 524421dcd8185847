// Where the bearer token of a request comes from. Contract:
//   - token() is asked for each request and is cheap while the cached value is fresh.
//   - renew() drops the cached value after a 401 and says whether another one was found, so that
//   the request may be repeated once (case B03).
//   - a source that is unreadable or empty for a moment keeps its old token (C-46).
// Test: tst_credential.
#pragma once

#include "clusterconfig.h"

#include <support/timesource.h>

#include <memory>

namespace davit::transport {

class Credential
{
public:
    virtual ~Credential() = default;
    // Empty: anonymous, or the client certificate is the proof. [io-thread]
    virtual Result<QByteArray> token() = 0;
    // True when token() has now another value than `refused`. [io-thread]
    virtual bool renew(const QByteArray &refused) = 0;
};

// `time` is borrowed and outlives the credential.
std::unique_ptr<Credential> makeCredential(
    const ClusterConfig &config, const support::TimeSource &time);

} // namespace davit::transport
