// One cluster's runtime, put together: transport, discovery, informers, clients, queues,
// controllers; and what plugins get of it. The plugin host decides what a plugin may have, this
// gives it. Contract: nothing runs before start(); after stopInformers() no event comes any more.
// davit run does not call the latter: watches end with their plugins, and it leaves by _exit.
// Test: tests/integration/host.
#pragma once

#include "configfile.h"
#include "definitionwatch.h"
#include "kinds.h"
#include "queuemetrics.h"
#include "resourceneeds.h"
#include "systemclock.h"

#include <cache/ownwrites.h>
#include <cache/sharedinformerfactory.h>
#include <client/meteredtransport.h>
#include <client/plugincallmetrics.h>
#include <controller/controllermetrics.h>
#include <controller/controllerruntime.h>
#include <observability/stateboard.h>
#include <pluginhost/pluginservices.h>
#include <support/strand.h>
#include <transport/clusterconfig.h>

#include <QtCore/qhash.h>
#include <QtCore/qthreadpool.h>
#include <mutex>

namespace davit::client {
class PluginClient;
class PluginEvents;
} // namespace davit::client

namespace davit::host {

class RuntimeServices final : public pluginhost::PluginServices
{
public:
    // All are borrowed and outlive this. `permit` is for plugins' writes and reconciles; null: no
    // leader is elected.
    RuntimeServices(const transport::ClusterConfig &cluster, support::TimeSource &time,
        priv::LogBackend &log, observability::MetricsRegistry &metrics,
        const Configuration &configuration = {},
        std::shared_ptr<const support::Permit> permit = nullptr);
    ~RuntimeServices() override;
    Q_DISABLE_COPY_MOVE(RuntimeServices)

    // For the wait for the server.
    transport::Transport &transport() { return m_transport; }
    // Watches begin as plugins ask. [host-thread]
    void start();
    // With a permit: this process leads, workers may begin. [thread-safe]
    void lead() { m_controllers.lead(); }
    // Ends all watches and waits for that. [host-thread]
    void stopInformers();
    // The first sync of each resource; for the state board. [thread-safe]
    QList<observability::SyncProgress> syncs() const;
    std::vector<cache::ResourceState> resources() const { return m_informers.states(); }
    std::vector<cache::HandlerState> handlers() const { return m_informers.handlers(); }

    void resolve(const Gvk &gvk, std::function<void()> done,
        std::function<void(const QString &reason)> waiting) override;
    Status makeInformer(const pluginhost::PluginIdentity &plugin, const InformerRequest &request,
        std::unique_ptr<priv::InformerBackend> *backend) override;
    Status makeLister(const pluginhost::PluginIdentity &plugin, const InformerRequest &request,
        priv::ListerBackend **backend) override;
    priv::ClientBackend *makeClient(const pluginhost::PluginIdentity &plugin) override;
    priv::EventBackend *makeEvents(const pluginhost::PluginIdentity &plugin) override;
    Status startController(const pluginhost::PluginIdentity &plugin,
        std::unique_ptr<priv::ControllerSpec> spec) override;
    void stopControllers(const QString &pluginId, std::chrono::nanoseconds limit,
        std::function<void(const QStringList &abandoned)> done) override;
    QStringList inFlight(const QString &pluginId) const override;
    void closeCalls(const QString &pluginId, std::chrono::nanoseconds limit,
        std::function<void()> done) override;
    void forget(const QString &pluginId) override;
    priv::ClockBackend &clock() override { return m_clock; }
    priv::LogBackend &log() override { return m_log; }
    priv::MetricsBackend &metrics() override { return m_metrics; }

private:
    // What one plugin calls the API server with; counted.
    struct Calls
    {
        client::PluginClient *client = nullptr;
        client::PluginEvents *events = nullptr;
    };

    controller::ControllerRuntime::Services controllerServices();
    cache::FactoryOptions followingOptions(const Configuration &configuration);
    DefinitionWatch::Surroundings definitionSurroundings();
    void tellKindChanged(const Gvk &gvk, const transport::Resource &now) const;
    std::shared_ptr<cache::OwnWrites> ownWritesOf(const QString &pluginId);

    support::TimeSource &m_time;
    priv::LogBackend &m_log;
    observability::MetricsRegistry &m_metrics;
    const std::shared_ptr<const support::Permit> m_permit;
    SystemClock m_clock;
    QThreadPool m_pool; // of the strands
    support::Strand m_callStrand; // answers of requests
    support::Strand m_queueStrand; // timers of queues, ends of controllers
    const std::unique_ptr<transport::Transport> m_connections;
    client::MeteredTransport m_transport;
    const std::shared_ptr<transport::ServerWarnings> m_warnings;
    client::RestClient m_rest;
    client::RestMapper m_mapper;
    client::PluginCallMetrics m_callMetrics;
    Kinds m_kinds;
    cache::SharedInformerFactory m_informers;
    ResourceNeeds m_needs;
    QueueMetrics m_queueMetrics;
    controller::ControllerMetrics m_controllerMetrics;
    workqueue::QueueRegistry m_queues;
    controller::ControllerRuntime m_controllers;
    QHash<QString, Calls> m_calls; // by plugin; [host-thread]
    std::mutex m_ownWritesMutex;
    // By plugin: its client writes them down, its listers wait for them.
    // GUARDED_BY(m_ownWritesMutex)
    QHash<QString, std::shared_ptr<cache::OwnWrites>> m_ownWrites;
    DefinitionWatch m_definitions; // last: its view is of the informers
};

} // namespace davit::host
