// A shared informer on a real API server, as the host builds it: transport, factory, one view with
// a recorder behind it; and a witness of what the server answered. Lives in the thread that made
// it.
#pragma once

#include "recorder.h"
#include "witnesstransport.h"

#include <cache/sharedinformerfactory.h>

#include <QtCore/qthreadpool.h>
#include <memory>

class InformerRig
{
public:
    // `folder` is the control plane's (certificates), `port` the one to speak to: its own, or that
    // of a proxy before it.
    InformerRig(const QString &folder, quint16 port);
    ~InformerRig();
    Q_DISABLE_COPY_MOVE(InformerRig)

    // Begins to watch all objects of the kind; every event is delivered. Once.
    davit::Status watch(const davit::transport::Resource &resource);

    const WitnessTransport &witness() const { return *m_witness; }
    const Recorder &recorder() const { return *m_recorder; } // after watch()

private:
    QThreadPool m_pool;
    NoFaults m_noFaults;
    std::unique_ptr<davit::transport::Transport> m_transport;
    std::unique_ptr<WitnessTransport> m_witness;
    std::unique_ptr<davit::cache::SharedInformerFactory> m_factory;
    std::unique_ptr<Recorder> m_recorder;
};
