// A transport that counts what goes through another one, for the rest_client_* metrics: every
// request of the process, watches and lists included. Contract: as transport.h; a request counts
// once, when its status line comes or when it ends without one (code "<error>", as client-go has
// it); the tries before that count as retries, by the code that led to each. The size of an answer
// counts when all of it came; a watch has none. Source: BEHAVIOURS.md
// C-74, C-75. Test: tst_pluginclient, metrics.
#pragma once

#include <observability/metricsregistry.h>
#include <support/timesource.h>
#include <transport/transport.h>

namespace davit::client {

class MeteredTransport final : public transport::Transport
{
public:
    // All are borrowed and outlive the transport and its exchanges.
    MeteredTransport(transport::Transport &inner, observability::MetricsRegistry &metrics,
        const support::TimeSource &time);
    ~MeteredTransport() override;

    std::unique_ptr<transport::Exchange> start(const transport::Request &request,
        support::Executor &executor, transport::ResponseSink &sink) override;
    QString serverName() const override;

private:
    class Metered;
    void retried(const QByteArray &method, const QString &code);
    void ended(const QByteArray &method, const QString &code, std::chrono::nanoseconds duration);
    void sized(const QByteArray &method, const char *name, const char *help, qint64 bytes);

    transport::Transport &m_inner;
    observability::MetricsRegistry &m_metrics;
    const support::TimeSource &m_time;
    const QString m_host;
};

} // namespace davit::client
