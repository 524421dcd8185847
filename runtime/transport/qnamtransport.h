// A transport over QNetworkAccessManager: HTTP/1.1, one io thread, connections by channel, the
// identity of one ClusterConfig. Contract beside transport.h:
//   - a write goes out once; when its connection breaks the caller hears OutcomeUnknown.
//   - redirects are not followed, cookies not kept, other credentials than the configured ones
//   never sent.
//   - Timeout: a deadline of the request passed. A watch that is silent for its limit ends so.
//   - a 401 makes a token file be read again; if it changed, the request is repeated once (B03).
//   - client certificate and CA files are looked at again every 10 s while there are requests, and
//   each 5 min without any; new
//   contents serve new exchanges (C-42, C-43, B64). Calls and lists that run go on; watches end
//   with ConnectionLost when the client certificate changed, so that none stays under the old one.
//   - a peer that vanished is noticed by TCP keep-alive within 45 s (B11).
// Source: measured with Qt 6.4.2; BEHAVIOURS.md. Tests: tests/integration/transport.
#pragma once

#include "clusterconfig.h"
#include "transport.h"
#include "transportcounts.h"

#include <support/timesource.h>

#include <QtCore/qdatetime.h>
#include <QtNetwork/qsslcertificate.h>
#include <functional>

namespace davit::transport {

class IoThread;
class TransportCore;

// What an answer, or TLS without one, tells about its two ends beside the body. Null where it is
// not known.
struct PeerFacts
{
    QDateTime serverDate; // of its Date header
    QSslCertificate serverCertificate;
    QSslCertificate clientCertificate;
    bool isClientCertificateRefused = false; // or its lack; by TLS
    QDateTime credentialEnds; // of the token: what the exec plugin said, or exp of a JSON web token
};
using PeerListener = std::function<void(const PeerFacts &)>;

struct TransportOptions
{
    // Empty: "davit/<version> (<os>/<arch>)".
    QByteArray userAgent;
    // Null: the system's. Borrowed; outlives the transport.
    support::TimeSource *time = nullptr;
    // A request is going to wait so long for the rate limit of its ClusterConfig. [thread-safe]
    std::function<void(const Request &, std::chrono::nanoseconds)> onWait = {};
    // The same for the back-off of its ClusterConfig. [thread-safe]
    std::function<void(const Request &, std::chrono::nanoseconds)> onBackoff = {};
    // Called with the head of each answer, and where one side does not take the other's
    // certificate, before the sink hears of it. [io-thread]
    PeerListener onPeer = {};
    // An exec program has ended. [io-thread]
    std::function<void(const ExecRun &)> onExecRun = {};
    // Why the certificate or CA files that the configuration names are not taken up as they are
    // now; what was read before is used. Told once they were so for two looks, since a swap takes a
    // moment. [io-thread]
    std::function<void(const QString &fault)> onReloadFault = {};
    std::function<void(const CaReload &)> onCaReload = {}; // [io-thread]
    ManagerListener managers = {};
};

class QnamTransport final : public Transport
{
public:
    QnamTransport(const ClusterConfig &config, const TransportOptions &options);
    // Exchanges that still run end with Canceled; waits for the io thread. No call of start() may
    // be under way.
    ~QnamTransport() override;
    Q_DISABLE_COPY_MOVE(QnamTransport)

    std::unique_ptr<Exchange> start(
        const Request &request, support::Executor &executor, ResponseSink &sink) override;
    QString serverName() const override { return m_serverName; }

private:
    const QString m_serverName;
    const std::shared_ptr<IoThread> m_io;
    std::unique_ptr<TransportCore> m_core; // lives in the io thread
};

// A config that cannot work (see tlsConfiguration) yields a transport whose exchanges all end with
// that error. [thread-safe]
std::unique_ptr<Transport> makeQnamTransport(
    const ClusterConfig &config, const TransportOptions &options = {});
// The same under the config's rate limit and back-off, behind a RetryingTransport: what the runtime
// uses.
// [thread-safe]
std::unique_ptr<Transport> makeTransport(
    const ClusterConfig &config, const TransportOptions &options = {});

} // namespace davit::transport
