// A plugin's informer as the runtime sees it: one listener part a namespace that was asked for, one
// mailbox for all. Test: tst_sharedinformerfactory.
#pragma once

#include "viewlister.h"

namespace davit::cache {

class View final : public priv::InformerBackend
{
public:
    // The parts are attached already.
    View(const InformerRequest &request, const QString &viewKey, std::shared_ptr<Mailbox> mailbox,
        std::vector<std::shared_ptr<ViewPart>> parts, priv::FaultSink &faults);
    ~View() override;

    InformerRequest request() const override { return m_request; }
    priv::ListerBackend &lister() const override { return *m_lister; }
    bool hasSynced() const noexcept override { return m_mailbox->hasSynced(); }
    Status addIndex(const QString &name, std::shared_ptr<const IndexFunction> function) override;
    priv::FaultSink &faults() const override { return m_faults; }
    void setReceiver(QObject *receiver) override { m_mailbox->setReceiver(receiver); }
    std::vector<priv::Notification> takeBatch() override { return m_mailbox->take(); }
    void handled(const priv::Notification &n) override { m_mailbox->handled(n); }

private:
    const InformerRequest m_request;
    const QString m_viewKey;
    const std::shared_ptr<Mailbox> m_mailbox;
    const std::vector<std::shared_ptr<ViewPart>> m_parts;
    priv::FaultSink &m_faults;
    priv::ListerBackend *m_lister; // retained
    QStringList m_indexNames; // [plugin-thread]
};

} // namespace davit::cache
