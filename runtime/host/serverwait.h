// Waits until the API server answers, visibly. Contract:
//   - One question at a time (GET /api/v1). A server that is away, too busy or cut off is asked
//   again, 0.8 s to 30 s apart, or as it asks, up to kLongestAskedWait, with one line in the log
//   each time that names server, fault and delay.
//   - A server that refuses (TLS, 401, 403, or no Kubernetes API at all) is an InvalidConfiguration
//   error: waiting does not cure it.
// Test: tst_serverwait.
#pragma once

#include <davit/logging.h>
#include <davit/status.h>
#include <support/backoff.h>
#include <transport/transport.h>

#include <functional>

namespace davit::host {

class ServerWait final : private transport::ResponseSink
{
public:
    using Done = std::function<void(const Status &)>;
    using Waiting = std::function<void(const QString &fault)>;

    // All are borrowed; they outlive this. `source` names where the credentials came from.
    ServerWait(transport::Transport &transport, support::Executor &executor,
        support::TimeSource &time, const QString &source, const Logger &log);
    // Nothing is heard afterwards. On the executor.
    ~ServerWait() override;
    Q_DISABLE_COPY_MOVE(ServerWait)

    // `done` is called once, `waiting` before each wait with a sentence that says why; both on the
    // executor. [host-thread]
    void start(Done done, Waiting waiting = {});

private:
    void ask();
    void onHead(const transport::ResponseHead &head) override;
    void onBytes(const QByteArray &bytes) override;
    void onFinished(const Error &error) override;
    // Empty when waiting may help.
    QString refusal(const Error &error) const;
    void waitAfter(const QString &fault);

    transport::Transport &m_transport;
    support::Executor &m_executor;
    support::TimeSource &m_time;
    const QString m_source;
    const Logger m_log;
    support::Backoff m_backoff;
    Done m_done;
    Waiting m_waiting;
    transport::ResponseHead m_head;
    QByteArray m_body; // the first bytes
    std::unique_ptr<transport::Exchange> m_exchange;
    support::TimeSource::TimerId m_timer = 0;
    std::shared_ptr<bool> m_isAlive;
};

} // namespace davit::host
