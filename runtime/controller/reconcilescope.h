// What one reconcile sees of its surroundings: the state behind ReconcileContext. Lives during the
// call. Test: tst_controller, context.
#pragma once

#include <davit/priv/backends.h>

#include <workqueue/priorityqueue.h>

namespace davit::controller {

class ReconcileScope final : public priv::ReconcileState
{
public:
    // `client` and `isStopping` are borrowed and outlive the scope. `deadline` on monotonic(), or
    // negative.
    ReconcileScope(const workqueue::WorkItem &item, const QString &controller, const Logger &log,
        priv::ClientBackend &client, std::chrono::nanoseconds deadline,
        const std::atomic<bool> &isStopping);

    bool isStopping() const noexcept override { return m_isStopping.load(); }
    std::chrono::nanoseconds deadline() const noexcept override { return m_deadline; }
    Logger log() const override { return m_log; }
    QString traceId() const override { return m_traceId; }
    QStringList causes() const override;
    priv::ClientBackend &client() const override { return m_client; }

private:
    const std::vector<workqueue::Cause> m_causes;
    const QString m_traceId;
    const Logger m_log;
    priv::ClientBackend &m_client;
    const std::chrono::nanoseconds m_deadline;
    const std::atomic<bool> &m_isStopping;
};

} // namespace davit::controller
