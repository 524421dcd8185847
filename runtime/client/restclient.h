// Sends single requests and gathers their answers. Contract:
//   - Each call ends exactly once: its Done runs on the client's executor, with the body of a
//   success or with an Error whose sentence opens with the operation.
//   - A call ends by its deadline at the latest: Timeout for reads, OutcomeUnknown for writes,
//   which may have been done.
//   - Nothing is repeated here; what may be repeated, the transport repeats (C-7 to C-11).
//   - The server's warnings are logged once a text (C-18).
// Source: BEHAVIOURS.md. Test: tst_pluginclient.
#pragma once

#include <support/timesource.h>
#include <transport/serverwarnings.h>
#include <transport/transport.h>

namespace davit::client {

struct Call
{
    QString operation; // "create ConfigMap team-a/x": opens each error's sentence
    transport::Request request;
    std::chrono::milliseconds timeout{30'000}; // for the whole call
    // When set, the body of a success goes there piece by piece instead of into the reply.
    std::function<void(const QByteArray &)> onBody;
    // When set, asked on the executor before the call is sent and each kCancelLook while it runs:
    // "true" ends it with Canceled. For a caller who can say so, but tells nobody: a QFuture.
    std::function<bool()> isCanceled = {};
};

struct RawReply
{
    Error error; // unset on success
    int httpStatus = 0; // 0 when no answer came
    QByteArray body; // of a success without Call::onBody
};

class RestClient
{
public:
    using Done = std::function<void(const RawReply &)>;
    using CallId = quint64;
    static constexpr std::chrono::milliseconds kCancelLook{50};
    static constexpr qsizetype kMaxBodyBytes = qsizetype(64) << 20; // of a gathered body

    // All are borrowed; they outlive the client and the works it posted. Without `warnings` the
    // server's are told to nobody.
    RestClient(transport::Transport &transport, support::Executor &executor,
        support::TimeSource &time, std::shared_ptr<transport::ServerWarnings> warnings = nullptr);
    // close().
    ~RestClient();
    Q_DISABLE_COPY_MOVE(RestClient)

    // Never calls `done` from inside. [thread-safe]
    CallId send(Call call, Done done);
    // Ends a call with Canceled; no effect when it has ended. [thread-safe]
    void cancel(CallId id);
    // Ends every call with Canceled, and those to come. [thread-safe]
    void close();
    // Where done functions run.
    support::Executor &executor() const { return m_executor; }
    QString serverName() const { return m_transport.serverName(); }

private:
    class Core;

    transport::Transport &m_transport;
    support::Executor &m_executor;
    std::atomic<CallId> m_lastId{0};
    const std::shared_ptr<Core> m_core; // confined to the executor
};

} // namespace davit::client
