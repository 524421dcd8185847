// Shared informers on an API server, as the host builds them: transport, factory, views with a
// recorder behind each; and a witness of what the server answered. Lives in the thread that made
// it.
#pragma once

#include "recorder.h"
#include "witnesstransport.h"

#include <cache/sharedinformerfactory.h>

#include <transport/clusterconfig.h>

#include <QtCore/qthreadpool.h>
#include <memory>
#include <vector>

struct RigOptions
{
    davit::cache::FactoryOptions factory;
    // How long a server may be silent, before its headers or behind them; 0: as the informer says.
    std::chrono::milliseconds patience{0};
};

class InformerRig
{
public:
    // `folder` is the control plane's (certificates), `port` the one to speak to: its own, or that
    // of a proxy before it.
    InformerRig(const QString &folder, quint16 port);
    explicit InformerRig(
        const davit::transport::ClusterConfig &config, const RigOptions &options = {});
    ~InformerRig();
    Q_DISABLE_COPY_MOVE(InformerRig)

    // Begins to watch objects of the kind, all unless the request says less; every event is
    // delivered.
    davit::Status watch(const davit::transport::Resource &resource);
    davit::Status watch(const davit::transport::Resource &resource, davit::InformerRequest request);
    // Of the control plane in `folder`, by way of a port of 127.0.0.1.
    static davit::transport::ClusterConfig configOf(const QString &folder, quint16 port);

    const WitnessTransport &witness() const { return *m_witness; }
    // In the order of watch().
    const Recorder &recorder(size_t index = 0) const { return *m_recorders.at(index); }
    std::vector<davit::cache::ResourceState> states() const { return m_factory->states(); }

private:
    QThreadPool m_pool;
    NoFaults m_noFaults;
    std::unique_ptr<davit::transport::Transport> m_transport;
    std::unique_ptr<davit::transport::Transport> m_impatient; // before m_transport, or null
    std::unique_ptr<WitnessTransport> m_witness;
    std::unique_ptr<davit::cache::SharedInformerFactory> m_factory;
    std::vector<std::unique_ptr<Recorder>> m_recorders;
};
