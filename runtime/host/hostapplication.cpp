#include "hostapplication.h"

#include "embeddedcluster.h"
#include "hostmetrics.h"
#include "runtimeservices.h"
#include "serverwait.h"
#include "version.h"

#include <davit/priv/poolaccess.h>
#include <pluginhost/pluginfilewatch.h>
#include <pluginhost/pluginmanager.h>
#include <web/endpoints.h>

#include <QtCore/qregularexpression.h>
#include <cmath>

namespace davit::host {

namespace {

using namespace std::chrono_literals;

constexpr auto kTick = 1s;
constexpr quint64 kTrimTicks = 30; // memory of objects that are gone goes back to the system
constexpr quint64 kFileLookTicks = 5;
constexpr qint64 kStuckSeconds = 60; // a host thread that did not tick for so long is stuck
constexpr auto kStopSlack = 10s; // beyond the graceful time-out, for what comes after it

qint64 secondsOf(std::chrono::nanoseconds time)
{
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

// As a shell takes it for one word.
QString shellWord(const QString &text)
{
    static const QRegularExpression plain(QStringLiteral("\\A[-A-Za-z0-9_./:@%+=,]+\\z"));
    if (plain.match(text).hasMatch())
        return text;
    return QLatin1Char('\'') + QString(text).replace(QLatin1Char('\''), QLatin1StringView("'\\''"))
        + QLatin1Char('\'');
}

// Where it listens indeed, when any free port was asked for.
QString addressText(web::ListenAddress address, const web::WebServer &server)
{
    address.port = server.port();
    return toString(address);
}

// Of plugins by the state that they are in; empty ones are left out.
QList<LogField> fieldsByState(const QList<observability::PluginState> &plugins)
{
    QStringList refused;
    QStringList faulted;
    QStringList waiting;
    qsizetype running = 0;
    for (const observability::PluginState &plugin : plugins) {
        if (plugin.state == QLatin1StringView("Running"))
            ++running;
        else if (plugin.state == QLatin1StringView("Refused"))
            refused << plugin.id;
        else if (plugin.state == QLatin1StringView("Checked"))
            waiting << plugin.id;
        else
            faulted << plugin.id;
    }
    QList<LogField> fields{{"running", running}};
    for (const auto &[key, ids] : {std::pair("refused", refused), std::pair("faulted", faulted),
             std::pair("waiting", waiting)})
        if (!ids.isEmpty())
            fields << LogField{key, ids};
    return fields;
}

} // namespace

HostApplication::HostApplication(
    const RunOptions &options, const Setup &setup, observability::LogWriter &log, Exit onExit)
    : m_options(options)
    , m_setup(setup)
    , m_logWriter(log)
    , m_log(log, QStringLiteral("host"))
    , m_onExit(std::move(onExit))
    , m_time(support::systemTimeSource())
    , m_beganAt(m_time.monotonic())
    , m_lastTickSeconds(secondsOf(m_beganAt))
    , m_syncReporter(m_board, Logger(log, QStringLiteral("cache")), options.cacheSyncTimeout)
    , m_cluster(setup.cluster)
{
    m_metrics.setLogger(Logger(log, QStringLiteral("metrics")));
    addProcessMetrics(m_metrics);
    addPluginMetrics(m_metrics, m_board);
    m_board.setSyncLimit(options.cacheSyncTimeout);
}

HostApplication::~HostApplication() = default;

Status HostApplication::start()
{
    Status status = startServers();
    if (status.isOk())
        status = startCluster();
    if (status.isOk()) {
        tellBeginning();
        status = startPlugins();
    }
    if (!status.isOk())
        return status;
    m_serverWait = std::make_unique<ServerWait>(
        m_services->transport(), m_executor, m_time, m_cluster.source, m_log);
    m_serverWait->start([this](const Status &answer) { serverAnswered(answer); },
        [this](const QString &fault) { m_board.setServerFault(fault); });
    tick();
    return Status::ok();
}

Status HostApplication::startServers()
{
    Status status = m_healthz.add(QStringLiteral("host"),
        [this] { return secondsOf(m_time.monotonic()) - m_lastTickSeconds < kStuckSeconds; });
    if (status.isOk())
        status = m_readyz.add(QStringLiteral("shutdown"), [this] { return !m_isStopping; });
    if (status.isOk())
        status = m_readyz.add(
            QStringLiteral("server-reached"), [this] { return m_board.isServerReached(); });
    if (status.isOk())
        status = m_readyz.add(QStringLiteral("plugins"),
            [this] { return m_board.arePluginsStarted() && m_board.isServerReached(); });
    if (status.isOk())
        status = m_readyz.add(QStringLiteral("caches"), [this] { return m_board.areAllSynced(); });
    m_readyz.setNotes([this] { return m_board.notes(); });
    if (status.isOk() && m_setup.election)
        status = m_healthz.add(QStringLiteral("leaderElection"), [this] {
            const Leadership *const leadership = m_shownLeadership;
            return !leadership || leadership->isHealthy();
        });
    m_healthz.freeze();
    m_readyz.freeze();
    web::addProbes(m_probeServer, m_healthz, m_readyz);
    web::addMetrics(m_metricsServer, m_metrics);
    if (status.isOk() && !m_setup.probeAddress.isOff)
        status = m_probeServer.start(
            m_setup.probeAddress, QStringLiteral("--health-probe-bind-address"));
    if (status.isOk() && !m_setup.metricsAddress.isOff)
        status = m_metricsServer.start(
            m_setup.metricsAddress, QStringLiteral("--metrics-bind-address"));
    return status;
}

Status HostApplication::startCluster()
{
    if (m_options.isEmbedded) {
        m_embedded = std::make_unique<EmbeddedCluster>();
        const Status status = m_embedded->start(m_setup.embeddedObjectsDir, m_setup.stateDir);
        if (!status.isOk())
            return status;
        const QString &dir = m_setup.embeddedObjectsDir;
        if (!dir.isEmpty() && m_embedded->loadedObjects() == 0)
            m_log.warning("--embedded-objects has no object; files in it that end with .yaml, .yml "
                          "or .json are read, folders within are not",
                {{"directory", dir}});
        else if (!dir.isEmpty())
            m_log.info("objects are loaded",
                {{"objects", m_embedded->loadedObjects()}, {"directory", dir}});
        m_cluster = m_embedded->config();
    }
    m_cluster.requestsPerSecond = m_options.requestsPerSecond;
    m_cluster.burst = m_options.requestBurst;
    std::shared_ptr<support::Permit> permit;
    if (m_setup.election)
        permit = Leadership::makePermit(*m_setup.election, m_time);
    m_services = std::make_unique<RuntimeServices>(
        m_cluster, m_time, m_logWriter, m_metrics, m_setup.configuration, permit);
    if (permit)
        makeCandidate(std::move(permit));
    addCacheMetrics(m_metrics, [this] { return m_services->resources(); });
    addHandlerMetrics(m_metrics, [this] { return m_services->handlers(); });
    m_board.setSyncSource([this] { return m_services->syncs(); });
    return Status::ok();
}

void HostApplication::makeCandidate(std::shared_ptr<support::Permit> permit)
{
    Leadership::Callbacks callbacks;
    callbacks.onLeading = [this] {
        if (m_isStopping)
            return;
        m_hasLed = true;
        m_services->lead();
    };
    callbacks.onEnd = [this](Leadership::End end) { electionEnded(end); };
    callbacks.onChanged = [this](const QString &sentence) { m_board.setLeadership(sentence); };
    m_leadership = std::make_unique<Leadership>(*m_setup.election,
        Leadership::Surroundings{
            m_services->transport(), m_executor, m_time, m_logWriter, m_metrics, std::move(permit)},
        std::move(callbacks));
    m_shownLeadership = m_leadership.get();
}

Status HostApplication::startPlugins()
{
    pluginhost::PluginHostSettings settings;
    settings.stateDir = m_setup.stateDir;
    settings.configs = m_setup.configuration.plugins;
    settings.trialProgram = trialProgram();
    settings.faults.onFault = faultCounter(m_metrics);
    m_plugins
        = std::make_unique<pluginhost::PluginManager>(*m_services, m_executor, m_time, settings);
    m_plugins->setOnChanged([](const pluginhost::PluginSpec &) {}); // the manager logs them
    m_pluginFiles = std::make_unique<pluginhost::PluginFileWatch>(m_setup.pluginDirs);
    const Status status = m_plugins->scan(m_setup.pluginDirs);
    if (!status.isOk())
        return status;
    m_board.setPluginSource([this] { return pluginStates(); });
    return Status::ok();
}

// Waits for a kind that the cluster lacks, or for a plugin that does.
bool HostApplication::isWaiting(const pluginhost::PluginSpec &spec) const
{
    if (spec.state() != pluginhost::PluginState::Checked)
        return false;
    const auto &specs = m_plugins->specs();
    const auto &wanted = spec.metadata().dependencies; // never circular once Checked
    return !spec.reason().isEmpty()
        || std::any_of(specs.begin(), specs.end(), [&](const auto &other) {
               return std::any_of(wanted.begin(), wanted.end(), [&](const auto &dependency) {
                   return dependency.id == other->id();
               }) && isWaiting(*other);
           });
}

QList<observability::PluginState> HostApplication::pluginStates() const
{
    using State = pluginhost::PluginState;
    QList<observability::PluginState> states;
    for (const auto &spec : m_plugins->specs()) {
        const State state = spec->state();
        const bool isStarting = state == State::Loaded || state == State::Initialized
            || (state == State::Checked && !isWaiting(*spec));
        states << observability::PluginState{spec->shownName(), spec->metadata().version.toString(),
            QString(pluginStateName(state)), spec->reason(), isStarting};
    }
    std::sort(
        states.begin(), states.end(), [](const auto &a, const auto &b) { return a.id < b.id; });
    return states;
}

void HostApplication::serverAnswered(const Status &status)
{
    if (m_isStopping)
        return;
    if (!status.isOk()) {
        m_isStopping = true;
        return leave(ExitCode::Configuration, status.error().message());
    }
    m_board.setServerReached();
    m_log.info("connected",
        {{"server", m_services->transport().serverName()}, {"source", m_cluster.source}});
    if (m_embedded)
        m_log.info("this API server is embedded",
            {{"try",
                QStringLiteral("KUBECONFIG=%1 kubectl get secrets -A")
                    .arg(shellWord(m_embedded->kubeconfigPath()))}});
    for (const QString &warning : m_cluster.warnings)
        m_log.warning("cluster configuration", {{"warning", warning}});
    tellOddities();
    m_services->start();
    m_plugins->start();
    if (m_leadership)
        m_leadership->start();
}

void HostApplication::tellBeginning() const
{
    QList<LogField> fields{{"version", QStringLiteral(DAVIT_SDK_VERSION_STRING)},
        {"commit", QStringLiteral(DAVIT_BUILD_COMMIT)}, {"qt", QString::fromUtf8(qVersion())},
        {"probes", addressText(m_setup.probeAddress, m_probeServer)},
        {"metrics", addressText(m_setup.metricsAddress, m_metricsServer)},
        {"pluginDirs", m_setup.pluginDirs}, {"stateDir", m_setup.stateDir}};
    if (!m_options.configFile.isEmpty())
        fields << LogField{"config", m_options.configFile};
    m_log.write(LogLevel::Info, "davit begins", fields.constData(), fields.size());
}

void HostApplication::tellPlugins()
{
    if (m_arePluginsTold || !m_board.isServerReached() || !m_board.arePluginsStarted())
        return;
    m_arePluginsTold = true;
    const QList<observability::PluginState> plugins = pluginStates();
    if (plugins.isEmpty())
        return;
    const QList<LogField> fields = fieldsByState(plugins);
    const bool areAll = fields.size() == 1;
    const bool isAny = fields.first().value.toLongLong() > 0;
    m_log.write(areAll ? LogLevel::Info : LogLevel::Warning,
        areAll      ? "every plugin is started; their caches are being filled"
            : isAny ? "not every plugin runs; /readyz is about the others, /readyz?verbose says why"
                    : "no plugin runs; /readyz?verbose says why",
        fields.constData(), fields.size());
}

void HostApplication::tellReady()
{
    if (m_isReadyTold || m_readyz.all({}, observability::ProbeDetail::Brief).httpStatus != 200)
        return;
    m_isReadyTold = true;
    const std::chrono::duration<double> since = m_time.monotonic() - m_beganAt;
    m_log.info("ready",
        {{"seconds", std::round(since.count() * 10) / 10}, {"resources", m_board.syncs().size()}});
}

void HostApplication::tellPluginFiles()
{
    const pluginhost::PluginFileChanges changes = m_pluginFiles->look();
    QList<LogField> fields;
    for (const auto &[key, paths] : {std::pair("added", changes.added),
             std::pair("replaced", changes.replaced), std::pair("removed", changes.removed)})
        if (!paths.isEmpty())
            fields << LogField{key, paths};
    if (!fields.isEmpty())
        m_log.write(LogLevel::Warning,
            "plugin files changed; what runs stays as it is, restart davit to use them",
            fields.constData(), fields.size());
}

void HostApplication::tellOddities()
{
    const auto &specs = m_plugins->specs();
    if (specs.empty())
        m_log.warning("no plugin was found", {{"directories", m_setup.pluginDirs}});
    for (const QString &id : m_setup.configuration.plugins.keys())
        if (std::none_of(
                specs.begin(), specs.end(), [&id](const auto &s) { return s->id() == id; }))
            m_log.warning("configuration for a plugin that is not there; write the Id that "
                          "'davit plugin inspect' shows, or add its file to a --plugin-dir",
                {{"plugin", id}, {"config", m_options.configFile}});
}

void HostApplication::tick()
{
    m_lastTickSeconds = secondsOf(m_time.monotonic());
    if (!m_isStopping) {
        m_syncReporter.tick();
        tellPlugins();
        tellReady();
        if (m_pluginFiles && m_ticks % kFileLookTicks == 0)
            tellPluginFiles();
    }
    if (++m_ticks % kTrimTicks == 0)
        QThreadPool::globalInstance()->start([] { priv::trimPool(); });
    m_time.callAfter(kTick, m_executor, [this] { tick(); });
}

void HostApplication::stop(const QString &cause)
{
    if (m_isStopping)
        return;
    m_isStopping = true;
    m_serverWait.reset();
    if (m_leadership && !m_hasLed) // no work of ours could still run, should it just have won
        m_leadership->stop(Leadership::AfterStop::Release);
    if (m_options.gracefulTimeout < 0ms)
        m_log.info(
            "stopping", {{"cause", cause}, {"waitsForReconciles", QStringLiteral("for ever")}});
    else
        m_log.info("stopping",
            {{"cause", cause},
                {"waitsForReconcilesSeconds",
                    std::chrono::duration<double>(m_options.gracefulTimeout).count()}});
    if (m_options.gracefulTimeout >= 0ms)
        m_time.callAfter(m_options.gracefulTimeout + kStopSlack, m_executor, [this] {
            m_log.error("plugins did not stop in time");
            stopped(m_plugins->unfinished());
        });
    m_plugins->stop(
        m_options.gracefulTimeout, [this](const QStringList &abandoned) { stopped(abandoned); });
}

void HostApplication::stopped(const QStringList &abandoned)
{
    if (std::exchange(m_hasStopped, true))
        return;
    for (const QString &reconcile : abandoned)
        m_log.error("abandoned a reconcile that did not end", {{"reconcile", reconcile}});
    m_exitCode = abandoned.isEmpty() ? ExitCode::Done : ExitCode::Abandoned;
    m_abandoned = abandoned.size();
    if (!m_leadership || m_isElectionOver)
        return leave(m_exitCode);
    // What was abandoned still runs: then the lease is left to run out (B46).
    if (m_hasLed)
        m_leadership->stop(
            abandoned.isEmpty() ? Leadership::AfterStop::Release : Leadership::AfterStop::Keep);
}

// The lease was lost, or stop() was called and this is the last of it.
void HostApplication::electionEnded(Leadership::End end)
{
    m_isElectionOver = true;
    if (end == Leadership::End::Lost) {
        m_isStopping = true;
        leave(ExitCode::LeaseLost);
    } else if (m_hasStopped) {
        leave(m_exitCode);
    }
}

void HostApplication::leave(ExitCode code, const QString &sentence)
{
    if (std::exchange(m_hasLeft, true))
        return;
    if (sentence.isEmpty())
        m_log.info("stopped", {{"abandoned", m_abandoned}, {"exitCode", int(code)}});
    m_onExit(code, sentence);
}

} // namespace davit::host
