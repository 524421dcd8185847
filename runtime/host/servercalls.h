// Single requests to an API server, waited for: what "davit check" and "davit get" ask with. What
// the server asks to ask again is asked again (retryingtransport.h), as long as the question may
// take in all; what the server or the network says then is the answer. Test: tst_check,
// tst_checkserver.
#pragma once

#include "exitcodes.h"

#include <davit/error.h>
#include <support/strand.h>
#include <transport/qnamtransport.h>

#include <QtCore/qthreadpool.h>
#include <functional>
#include <memory>
#include <mutex>

namespace davit::host {

struct ServerAnswer
{
    Error error; // set: no whole answer came
    int httpStatus = 0;
    QByteArray body; // of a refusal 1 MiB at most
    bool isCut = false; // of a refusal: it was longer
    bool isCertificateRefused = false; // ours, or that we have none, by TLS
    // "403 Forbidden: pods is forbidden: …", or the error's sentence; empty after a success.
    QString fault;

    // It is there, and not well.
    bool isOfSickServer() const { return httpStatus >= 500 || httpStatus == 429; }
    bool isGood() const { return !error.isError() && httpStatus >= 200 && httpStatus < 300; }
};

// A space for each control character: what a server says must not steer a terminal. [thread-safe]
QString withoutControls(QString text);

class ServerCalls
{
public:
    // False: no more is wanted, the request ends.
    using Take = std::function<bool(const QByteArray &bytes)>;

    explicit ServerCalls(const transport::ClusterConfig &config);
    ~ServerCalls();
    Q_DISABLE_COPY_MOVE(ServerCalls)

    // Blocks until the answer is there. The server has 10 s for its head and as long for the rest,
    // and 90 s for all tries. [host-thread]
    ServerAnswer get(const QByteArray &target);
    ServerAnswer post(const QByteArray &target, const QByteArray &json);
    // The pieces of a good body go to `take` as they come, on another thread, and not into the
    // answer. A watch goes on until the server ends it. [host-thread]
    ServerAnswer stream(const QByteArray &target, const Take &take);
    // "its answer (HTTP 200) is no SelfSubjectReview; look at …", of one that is not `wanted`.
    // [thread-safe]
    QString strangeAnswer(const ServerAnswer &answer, const QString &wanted) const;
    QString serverName() const { return m_transport->serverName(); }
    // Of the last answer. [thread-safe]
    transport::PeerFacts peer() const;

private:
    ServerAnswer ask(const transport::Request &request, const Take &take = {});

    QThreadPool m_pool;
    support::Strand m_strand;
    mutable std::mutex m_mutex;
    transport::PeerFacts m_peer; // GUARDED_BY(m_mutex)
    std::unique_ptr<transport::Transport> m_transport;
};

// What a command that asked one thing ends with. [thread-safe]
QueryExit exitOf(const ServerAnswer &answer);

} // namespace davit::host
