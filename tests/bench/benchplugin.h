// One plugin as the host runs it, but compiled in: a thread and a context of its own, and an
// informer on Pods whose slots count.
#pragma once

#include <davit/lister.h>
#include <pluginhost/pluginfaults.h>
#include <pluginhost/pluginservices.h>

#include <memory>

namespace davit::pluginhost {
class PluginContext;
class PluginThread;
} // namespace davit::pluginhost

namespace bench {

class BenchRun;

class BenchPlugin
{
public:
    // All are borrowed and outlive the plugin. The kind has been resolved. [host-thread]
    BenchPlugin(int number, BenchRun &run, davit::pluginhost::PluginServices &services,
        const davit::support::TimeSource &time);
    ~BenchPlugin();
    Q_DISABLE_COPY_MOVE(BenchPlugin)

    // Blocks until the informer is there. [host-thread]
    davit::Status start();
    const davit::Lister &lister() const { return m_lister; } // after start() [thread-safe]

    static davit::Gvk podGvk();

private:
    davit::Status initialize(); // [plugin-thread]

    const int m_number;
    BenchRun &m_run;
    davit::pluginhost::PluginServices &m_services;
    davit::pluginhost::PluginMetadata m_metadata;
    davit::pluginhost::PluginFaults m_faults;
    davit::priv::ClientBackend *m_client; // counted
    davit::priv::EventBackend *m_events; // counted
    std::unique_ptr<davit::pluginhost::PluginContext> m_context; // lives in the thread
    davit::Lister m_lister;
    std::unique_ptr<davit::pluginhost::PluginThread> m_thread;
};

} // namespace bench
