#include "runtimeservices.h"

#include "hostmetrics.h"
#include "transportmetrics.h"

#include <client/pluginclient.h>
#include <client/pluginevents.h>

namespace davit::host {

namespace {

client::ClientIdentity identityOf(const pluginhost::PluginIdentity &plugin,
    client::CallObserver &observer, const std::shared_ptr<const support::Permit> &permit)
{
    return {plugin.id, plugin.metadata->version.toString(), client::Rbac(plugin.metadata->rbac),
        &observer, plugin.callFaults, permit};
}

// A switch of client-go's environment; off unless it is set to one of Go's words for true. What is
// on is told: both aids cost time.
bool isSwitchedOn(const char *variable, const Logger &log)
{
    const QString given = qEnvironmentVariable(variable);
    const QString value = given.toLower();
    const auto isOneOf = [&value](const char *word) {
        return value == QLatin1StringView(word) || value == QLatin1StringView(word, 1);
    };
    if (isOneOf("true") || value == u'1') {
        log.info("a debugging aid is on", {{"variable", QString::fromLatin1(variable)}});
        return true;
    }
    if (!given.isEmpty() && !isOneOf("false") && value != u'0')
        log.warning("a debugging aid stays off: its value is neither true nor false",
            {{"variable", QString::fromLatin1(variable)}, {"value", given}});
    return false;
}

// The aids of consistencycheck.h and mutationcheck.h, under the names that people know.
cache::FactoryOptions informerOptions(const Configuration &configuration, priv::LogBackend &log,
    observability::MetricsRegistry &metrics)
{
    cache::FactoryOptions options;
    options.onConsistencyWait = [&metrics](QLatin1StringView operation, QLatin1StringView result,
                                    std::chrono::nanoseconds waited) {
        metrics
            .histogram(
                QStringLiteral("controller_runtime_client_consistency_wait_duration_seconds"),
                QStringLiteral("Time that reads waited for the cache to be fresh enough."),
                observability::requestTimeBuckets(),
                {{QStringLiteral("operation"), operation}, {QStringLiteral("result"), result}})
            .observe(std::chrono::duration<double>(waited).count());
    };
    options.log = Logger(log, QStringLiteral("cache"));
    options.initialSync = [syncs = configuration.initialSync](const Gvk &gvk) {
        return syncs.value(
            toString(gvk), syncs.value(QStringLiteral("*"), cache::InitialSync::Auto));
    };
    options.onProcessed = [processing = std::make_shared<ProcessingMetrics>(metrics)](
                              const cache::WatchScope &scope, const QString &plural) {
        return processing->histogram(scope, plural);
    };
    options.prefersProtobuf = configuration.prefersProtobuf;
    options.limits = configuration.limits;
    options.maxFillBytes = configuration.maxListBytes;
    options.checksConsistency = isSwitchedOn("KUBE_WATCHLIST_INCONSISTENCY_DETECTOR", options.log);
    if (isSwitchedOn("KUBE_CACHE_MUTATION_DETECTOR", options.log))
        options.mutationCheckPeriod = std::chrono::seconds(1);
    return options;
}

} // namespace

RuntimeServices::RuntimeServices(const transport::ClusterConfig &cluster, support::TimeSource &time,
    priv::LogBackend &log, observability::MetricsRegistry &metrics,
    const Configuration &configuration, std::shared_ptr<const support::Permit> permit)
    : m_time(time)
    , m_log(log)
    , m_metrics(metrics)
    , m_permit(std::move(permit))
    , m_clock(time)
    , m_callStrand(m_pool)
    , m_queueStrand(m_pool)
    , m_connections(
          transport::makeTransport(cluster, transportOptions(cluster, time, log, metrics)))
    , m_transport(*m_connections, metrics, time)
    , m_warnings(std::make_shared<transport::ServerWarnings>(Logger(log, QStringLiteral("client"))))
    , m_rest(m_transport, m_callStrand, time, m_warnings)
    , m_mapper(m_rest, time)
    , m_callMetrics(metrics)
    , m_kinds([this](const Gvk &gvk,
                  client::RestMapper::Done done) { m_mapper.resolve(gvk, std::move(done)); },
          m_callStrand, time)
    , m_informers(m_transport, m_pool, time, followingOptions(configuration))
    , m_queueMetrics(metrics)
    , m_controllerMetrics(metrics)
    , m_queues(time, m_queueStrand,
          [this](const QString &pluginId, const QString &controller) {
              return m_queueMetrics.observerFor(pluginId, controller);
          })
    , m_controllers(controllerServices())
    , m_definitions(definitionSurroundings())
{
    m_queueMetrics.collectFrom(m_queues);
}

RuntimeServices::~RuntimeServices()
{
    m_informers.shutdown();
    m_rest.close();
    m_callStrand.stop();
    m_queueStrand.stop();
    for (const Calls &calls : std::as_const(m_calls)) {
        priv::released(calls.client);
        priv::released(calls.events);
    }
}

// Options of informers that follow what the cluster serves: a CRD may be deleted and made again.
cache::FactoryOptions RuntimeServices::followingOptions(const Configuration &configuration)
{
    cache::FactoryOptions options = informerOptions(configuration, m_log, m_metrics);
    options.warnings = m_warnings;
    options.currentResource = [this](const Gvk &gvk) { return m_kinds.find(gvk); };
    options.onNotServed = [this](const Gvk &gvk) {
        if (gvk == DefinitionWatch::resource().gvk)
            return; // nobody looked for it
        m_mapper.forget(gvk);
        m_kinds.lookAgain(
            gvk, [this, gvk](const transport::Resource &now) { tellKindChanged(gvk, now); });
    };
    options.onDefinition = [this](const QString &group) { m_mapper.forgetGroup(group); };
    options.onWatchError = [this](const cache::WatchScope &scope, const Error &error) {
        // A part of them says nothing of all of them.
        if (scope.namespaceName.isEmpty() && scope.labelSelector.isEmpty()
            && scope.fieldSelector.isEmpty() && scope.shardSelector.isEmpty())
            m_definitions.failed(scope.gvk, error);
    };
    return options;
}

DefinitionWatch::Surroundings RuntimeServices::definitionSurroundings()
{
    DefinitionWatch::Surroundings around;
    around.executor = &m_callStrand;
    around.time = &m_time;
    around.log = Logger(m_log, QStringLiteral("cache"));
    around.probe = [this](std::function<void(const Error &)> answered) {
        client::Call call;
        call.operation = QStringLiteral("list CustomResourceDefinitions");
        transport::ListOptions one;
        one.limit = 1;
        call.request.target = transport::collectionTarget(DefinitionWatch::resource(), {}, one);
        call.request.accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        m_rest.send(call, [answered = std::move(answered)](const client::RawReply &reply) {
            answered(reply.error);
        });
    };
    around.makeInformer = [this](const InformerRequest &request, priv::FaultSink &faults,
                              std::unique_ptr<priv::InformerBackend> *backend) {
        return m_informers.makeInformer(DefinitionWatch::resource(), request, faults, backend);
    };
    around.onChanged = [this](const std::set<QString> &groups) {
        for (const QString &group : groups)
            m_mapper.forgetGroup(group);
        m_kinds.groupsChanged(groups,
            [this](const Gvk &gvk, const transport::Resource &now) { tellKindChanged(gvk, now); });
    };
    return around;
}

void RuntimeServices::tellKindChanged(const Gvk &gvk, const transport::Resource &now) const
{
    Logger(m_log, QStringLiteral("cache"))
        .with("kind", toString(gvk))
        .info("a kind is served in another way than before",
            {{"resource", now.plural}, {"isNamespaced", now.isNamespaced}});
}

controller::ControllerRuntime::Services RuntimeServices::controllerServices()
{
    controller::ControllerRuntime::Services services;
    services.time = &m_time;
    services.executor = &m_queueStrand;
    services.queues = &m_queues;
    services.permit = m_permit;
    services.observers = [this](const QString &pluginId, const QString &controller) {
        return m_controllerMetrics.observerFor(pluginId, controller);
    };
    services.isNamespaced = [this](const Gvk &gvk) {
        const Result<transport::Resource> resource = m_kinds.find(gvk);
        return !resource.isOk() || resource.value().isNamespaced;
    };
    return services;
}

void RuntimeServices::start()
{
    m_informers.start();
}

void RuntimeServices::stopInformers()
{
    m_informers.shutdown();
}

QList<observability::SyncProgress> RuntimeServices::syncs() const
{
    QList<observability::SyncProgress> all;
    for (const cache::ResourceState &state : m_informers.states()) {
        const QStringList plugins = m_needs.plugins(state.scope);
        if (plugins.isEmpty() && state.scope.gvk == DefinitionWatch::resource().gvk)
            continue; // the host's own; nobody waits for it
        observability::SyncProgress sync;
        sync.resource = state.scope.toText();
        sync.isSynced = state.hasSynced;
        const cache::SyncProgress &progress
            = state.hasSynced ? state.reflector.lastFill : state.reflector.progress;
        sync.objects = quint64(progress.objects);
        sync.storedObjects = quint64(state.objects);
        sync.bytes = quint64(progress.bytes);
        sync.remainingObjects = progress.remainingItemCount;
        sync.elapsed = progress.elapsed;
        if (const Error &error = state.reflector.lastError; error.isError())
            sync.lastError = error.httpStatus() > 0
                ? QStringLiteral("%1 (HTTP %2)")
                      .arg(error.message(), QString::number(error.httpStatus()))
                : error.message();
        if (!state.hasSynced)
            sync.plugins = plugins;
        all << sync;
    }
    std::sort(all.begin(), all.end(),
        [](const auto &a, const auto &b) { return a.resource < b.resource; });
    return all;
}

void RuntimeServices::resolve(
    const Gvk &gvk, std::function<void()> done, std::function<void(const QString &reason)> waiting)
{
    m_definitions.want(gvk.group);
    m_kinds.resolve(gvk, std::move(done), std::move(waiting));
}

Status RuntimeServices::makeInformer(const pluginhost::PluginIdentity &plugin,
    const InformerRequest &request, std::unique_ptr<priv::InformerBackend> *backend)
{
    const Result<transport::Resource> resource = m_kinds.find(request.gvk());
    if (!resource.isOk())
        return resource.status();
    const Status made = m_informers.makeInformer(
        resource.value(), request, *plugin.faults, backend, plugin.id, ownWritesOf(plugin.id));
    if (made.isOk())
        m_needs.add(plugin.id, request);
    return made;
}

Status RuntimeServices::makeLister(const pluginhost::PluginIdentity &plugin,
    const InformerRequest &request, priv::ListerBackend **backend)
{
    const Result<transport::Resource> resource = m_kinds.find(request.gvk());
    if (!resource.isOk())
        return resource.status();
    const Status made
        = m_informers.makeLister(resource.value(), request, backend, ownWritesOf(plugin.id));
    if (made.isOk())
        m_needs.add(plugin.id, request);
    return made;
}

std::shared_ptr<cache::OwnWrites> RuntimeServices::ownWritesOf(const QString &pluginId)
{
    const std::lock_guard lock(m_ownWritesMutex);
    std::shared_ptr<cache::OwnWrites> &writes = m_ownWrites[pluginId];
    if (!writes)
        writes = std::make_shared<cache::OwnWrites>();
    return writes;
}

priv::ClientBackend *RuntimeServices::makeClient(const pluginhost::PluginIdentity &plugin)
{
    m_metrics.admitPlugin(plugin.id);
    // Its client may reach kinds that it does not declare.
    for (const client::PolicyRule &rule : plugin.metadata->rbac)
        for (const QString &group : rule.apiGroups)
            m_definitions.want(group);
    client::ClientIdentity identity = identityOf(plugin, m_callMetrics, m_permit);
    identity.onWritten
        = [writes = ownWritesOf(plugin.id)](const priv::OwnWrite &write) { writes->note(write); };
    auto *const made = new client::PluginClient(std::move(identity), m_rest, m_mapper);
    made->retain();
    m_calls[plugin.id].client = made;
    return made;
}

priv::EventBackend *RuntimeServices::makeEvents(const pluginhost::PluginIdentity &plugin)
{
    auto *const made = new client::PluginEvents(identityOf(plugin, m_callMetrics, m_permit), m_rest,
        m_time, Logger(m_log, QStringLiteral("events")));
    made->retain();
    m_calls[plugin.id].events = made;
    return made;
}

Status RuntimeServices::startController(
    const pluginhost::PluginIdentity &, std::unique_ptr<priv::ControllerSpec> spec)
{
    return m_controllers.start(std::move(spec));
}

void RuntimeServices::stopControllers(const QString &pluginId, std::chrono::nanoseconds limit,
    std::function<void(const QStringList &)> done)
{
    m_controllers.stop(pluginId, limit, std::move(done));
}

QStringList RuntimeServices::inFlight(const QString &pluginId) const
{
    return m_controllers.inFlight(pluginId);
}

void RuntimeServices::closeCalls(
    const QString &pluginId, std::chrono::nanoseconds limit, std::function<void()> done)
{
    const Calls calls = m_calls.take(pluginId);
    const auto closed = [client = calls.client, done = std::move(done)] {
        if (client) {
            client->close();
            client->release();
        }
        done();
    };
    if (!calls.events)
        return closed();
    calls.events->finish(limit, closed);
    calls.events->release();
}

void RuntimeServices::forget(const QString &pluginId)
{
    m_controllers.forget(pluginId);
    m_needs.remove(pluginId);
    m_controllerMetrics.removePlugin(pluginId);
    m_queueMetrics.removePlugin(pluginId); // and all else that carries its label
    const std::lock_guard lock(m_ownWritesMutex);
    m_ownWrites.remove(pluginId);
}

} // namespace davit::host
