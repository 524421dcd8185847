// What stands behind a plugin's HostContext: checks each wish against the metadata, then passes it
// on to the services. Contract:
//   - A kind that the metadata does not name is UndeclaredResource. A view that is narrower than
//   what is declared is fine, a wider one is UndeclaredResource too.
//   - Selectors of the metadata and of the request are ANDed; payload "metadata" stays metadata.
// Test: tst_plugincontext.
#pragma once

#include "pluginservices.h"

#include <QtCore/qobject.h>

namespace davit::pluginhost {

class PluginContext final : public priv::HostBackend
{
public:
    // All are borrowed and outlive the context. [plugin-thread]
    PluginContext(PluginServices &services, const PluginMetadata &metadata,
        const QJsonObject &config, priv::FaultSink &faults, priv::ClientBackend &client,
        priv::EventBackend &events);
    // The informers that are left die here. [plugin-thread]
    ~PluginContext() override;
    Q_DISABLE_COPY_MOVE(PluginContext)

    QString pluginId() const override { return m_metadata.id; }
    Status makeInformer(
        const InformerRequest &request, std::unique_ptr<priv::InformerBackend> *backend) override;
    Status makeLister(const InformerRequest &request, priv::ListerBackend **backend) override;
    priv::ClientBackend &client() override { return m_client; }
    priv::EventBackend &events() override { return m_events; }
    QJsonObject config() const override { return m_config; }
    priv::ClockBackend &clock() override { return m_services.clock(); }
    priv::LogBackend &log() override { return m_services.log(); }
    priv::MetricsBackend &metrics() override { return m_services.metrics(); }
    priv::FaultSink &faults() override { return m_faults; }
    QObject *informerParent() override { return &m_informerParent; }
    Status startController(std::unique_ptr<priv::ControllerSpec> spec) override;

    // No informer of the plugin emits any more. [plugin-thread]
    void cutInformers();
    // Destroys what controllers left beside the informers: the reconcilers. [plugin-thread]
    void dropControllers();

private:
    Status narrow(const InformerRequest &request, InformerRequest *effective) const;

    PluginServices &m_services;
    const PluginMetadata &m_metadata;
    const QJsonObject m_config;
    priv::FaultSink &m_faults;
    priv::ClientBackend &m_client;
    priv::EventBackend &m_events;
    QObject m_informerParent;
    const PluginIdentity m_identity;
};

} // namespace davit::pluginhost
