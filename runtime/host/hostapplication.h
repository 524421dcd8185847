// The composition root: everything that "davit run" makes, in the order in which it is made.
// Threads: this class lives on the host's thread; io, cache, plugin and worker threads belong to
// the layers that it puts together.
// Life: start() -> servers listen, plugins are looked at, the API server is waited for -> plugins
// run -> stop() -> reconciles end or are abandoned -> the lease is given back when none was ->
// onExit tells the exit code. With leader election, plugins run and caches fill at once; reconciles
// wait until this process leads, and its loss ends the process at once.
// Test: tests/integration/host.
#pragma once

#include "exitcodes.h"
#include "setup.h"
#include "syncreporter.h"

#include <observability/metricsregistry.h>
#include <observability/probechecks.h>
#include <pluginhost/eventloopexecutor.h>
#include <web/webserver.h>

namespace davit::pluginhost {
class PluginFileWatch;
class PluginManager;
class PluginSpec;
} // namespace davit::pluginhost

namespace davit::host {

class EmbeddedCluster;
class RuntimeServices;
class ServerWait;

class HostApplication
{
public:
    // Called once, in the event loop: the process is to end. `sentence` is for a configuration that
    // only the server could find wrong; else it is empty.
    using Exit = std::function<void(ExitCode code, const QString &sentence)>;

    // `setup` comes from prepareSetup(options); `log` outlives this.
    HostApplication(
        const RunOptions &options, const Setup &setup, observability::LogWriter &log, Exit onExit);
    ~HostApplication();
    Q_DISABLE_COPY_MOVE(HostApplication)

    // A fault of the configuration; by then probes may have answered and the log has begun, but no
    // request was sent to the API server and no plugin's code has run. [host-thread]
    Status start();
    // Ends it gracefully; `cause` is the signal's name. [host-thread]
    void stop(const QString &cause);

private:
    Status startServers();
    Status startCluster();
    Status startPlugins();
    void serverAnswered(const Status &status);
    void tellBeginning() const; // what runs, where it listens, what it reads
    void tellOddities(); // what is no fault, but hardly what was meant
    void tellPlugins(); // once, when each of them runs or will not without a change
    void tellPluginFiles(); // when some were added, replaced or removed
    void tellReady(); // once, when /readyz is good for the first time
    void tick();
    void stopped(const QStringList &abandoned);
    void makeCandidate(std::shared_ptr<support::Permit> permit);
    void electionEnded(Leadership::End end);
    void leave(ExitCode code, const QString &sentence = {});
    bool isWaiting(const pluginhost::PluginSpec &spec) const; // [thread-safe]
    QList<observability::PluginState> pluginStates() const; // [thread-safe]

    const RunOptions m_options;
    const Setup m_setup;
    observability::LogWriter &m_logWriter;
    const Logger m_log;
    const Exit m_onExit;
    support::TimeSource &m_time;
    pluginhost::EventLoopExecutor m_executor;
    observability::MetricsRegistry m_metrics;
    observability::StateBoard m_board;
    observability::ProbeChecks m_healthz{QStringLiteral("healthz")};
    observability::ProbeChecks m_readyz{QStringLiteral("readyz")};
    const std::chrono::nanoseconds m_beganAt; // monotonic
    std::atomic<qint64> m_lastTickSeconds{0}; // monotonic
    SyncReporter m_syncReporter;
    web::WebServer m_probeServer;
    web::WebServer m_metricsServer;
    std::unique_ptr<EmbeddedCluster> m_embedded;
    transport::ClusterConfig m_cluster;
    std::unique_ptr<RuntimeServices> m_services;
    std::unique_ptr<pluginhost::PluginFileWatch> m_pluginFiles;
    std::unique_ptr<Leadership> m_leadership; // null: nobody is elected
    std::atomic<const Leadership *> m_shownLeadership{nullptr}; // for the health check
    std::unique_ptr<pluginhost::PluginManager> m_plugins;
    std::unique_ptr<ServerWait> m_serverWait;
    quint64 m_ticks = 0;
    bool m_arePluginsTold = false;
    bool m_isReadyTold = false;
    std::atomic<bool> m_isStopping{false}; // written by the host's thread, read by probes
    bool m_hasStopped = false; // plugins have
    bool m_hasLeft = false; // onExit was told
    bool m_hasLed = false; // reconciles were let begin
    bool m_isElectionOver = false;
    ExitCode m_exitCode = ExitCode::Done;
    qsizetype m_abandoned = 0; // reconciles
};

} // namespace davit::host
