// A plugin's informer as the runtime sees it: one listener part a namespace that was asked for, one
// mailbox for all. A slow handler that many notifications wait for has a line in the log, once a
// minute (I-20). Test: tst_sharedinformerfactory, tst_view.
#pragma once

#include "viewlister.h"

#include <davit/logging.h>
#include <support/timesource.h>

namespace davit::cache {

class View final : public priv::InformerBackend
{
public:
    // The parts are attached already. `time` outlives the view; `log` names the plugin.
    View(const InformerRequest &request, const QString &viewKey, std::shared_ptr<Mailbox> mailbox,
        std::vector<std::shared_ptr<ViewPart>> parts, priv::FaultSink &faults,
        const support::TimeSource &time, const Logger &log, ViewLister::Waits waits = {});
    ~View() override;

    InformerRequest request() const override { return m_request; }
    priv::ListerBackend &lister() const override { return *m_lister; }
    bool hasSynced() const noexcept override { return m_mailbox->hasSynced(); }
    Status addIndex(const QString &name, std::shared_ptr<const IndexFunction> function) override;
    priv::FaultSink &faults() const override { return m_faults; }
    void setReceiver(QObject *receiver) override { m_mailbox->setReceiver(receiver); }
    std::vector<priv::Notification> takeBatch() override;
    void handled(const priv::Notification &n) override;

private:
    void traceSlow(const priv::Notification &n, std::chrono::nanoseconds took);

    const InformerRequest m_request;
    const QString m_viewKey;
    const std::shared_ptr<Mailbox> m_mailbox;
    const std::vector<std::shared_ptr<ViewPart>> m_parts;
    priv::FaultSink &m_faults;
    priv::ListerBackend *m_lister; // retained
    const support::TimeSource &m_time;
    const Logger m_log;
    QStringList m_indexNames; // [plugin-thread], as is all below
    std::chrono::nanoseconds m_begunAt{0}; // of the call that runs
    qsizetype m_inHand = 0; // taken and not handled yet
    std::optional<std::chrono::nanoseconds> m_slowToldAt;
};

} // namespace davit::cache
