#include "hostedplugin.h"

#include "lastwords.h"
#include "privatecopy.h"

#include <davit/controllerplugin.h>

#include <QtCore/qpluginloader.h>
#include <atomic>

namespace davit::pluginhost {

namespace {

// Of the process, not of the plugin: each loaded copy has a path that none had before.
int nextGeneration()
{
    static std::atomic<int> last{0};
    return ++last;
}

// How long the Events of a plugin that ends may take to be written.
constexpr std::chrono::seconds kEventLimit{2};

qint64 milliseconds(std::chrono::nanoseconds time)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

} // namespace

HostedPlugin::HostedPlugin(
    std::shared_ptr<HostEnvironment> environment, PluginSpec &spec, const QJsonObject &config)
    : m_environment(std::move(environment))
    , m_spec(spec)
    , m_config(config)
    , m_faults(spec.id(), m_environment->time, m_environment->log.with("plugin", spec.id()),
          m_environment->faults, [this](const QString &reason) {
              onHost([reason](HostedPlugin &self) {
                  if (self.m_spec.state() == PluginState::Running)
                      self.setState(PluginState::Faulted, reason);
              });
          })
{ }

HostedPlugin::~HostedPlugin()
{
    m_environment->time.cancel(m_timer);
    if (m_client)
        m_client->release();
    if (m_events)
        m_events->release();
}

void HostedPlugin::setState(PluginState state, const QString &reason)
{
    if (m_spec.state() == state && m_spec.reason() == reason)
        return;
    m_spec.setState(state, reason);
    m_environment->onChanged(m_spec);
}

void HostedPlugin::settle(PluginState state, const QString &reason)
{
    setState(state, reason);
    if (const Done done = std::exchange(m_started, nullptr))
        done();
}

// Its last Events are written, and no call of its client goes on after that.
void HostedPlugin::closeCalls(std::function<void(HostedPlugin &)> then)
{
    m_environment->services.closeCalls(
        m_spec.id(), kEventLimit, [weak = weak_from_this(), then = std::move(then)] {
            if (const auto self = weak.lock())
                self->onHost(then);
        });
}

// What its stop() waits for; a plugin that is stuck may still be calling.
void HostedPlugin::tellStopped(const QStringList &abandoned)
{
    closeCalls([abandoned](HostedPlugin &self) {
        if (const Stopped stopped = std::exchange(self.m_stopped, nullptr))
            stopped(abandoned);
    });
}

void HostedPlugin::onHost(std::function<void(HostedPlugin &)> work)
{
    m_environment->executor.post([weak = weak_from_this(), work = std::move(work)] {
        if (const auto self = weak.lock())
            work(*self);
    });
}

void HostedPlugin::after(std::chrono::nanoseconds delay, void (HostedPlugin::*member)())
{
    m_environment->time.cancel(m_timer);
    m_timer = 0;
    if (delay.count() < 0)
        return;
    m_timer = m_environment->time.callAfter(
        delay, m_environment->executor, [weak = weak_from_this(), member] {
            if (const auto self = weak.lock())
                ((*self).*member)();
        });
}

QString HostedPlugin::fileReason(const QString &reason) const
{
    return m_spec.file().path + QLatin1StringView(": ") + reason;
}

void HostedPlugin::start(Done done)
{
    m_started = std::move(done);
    const Status status = readRawMetadata(m_spec.file().path, &m_checked);
    if (status.isOk())
        resolveKinds();
    else
        settle(PluginState::Refused, status.error().message());
}

// A kind that the cluster lacks keeps the plugin waiting, visibly; an optional one is asked for
// once.
void HostedPlugin::resolveKinds()
{
    const QList<DeclaredResource> resources = m_spec.metadata().resources;
    for (const DeclaredResource &resource : resources)
        m_unsettled.append(resource.gvk);
    if (m_unsettled.isEmpty())
        return tryLoad();
    for (const DeclaredResource &resource : resources)
        resolveKind(resource);
}

void HostedPlugin::resolveKind(const DeclaredResource &resource)
{
    const auto weak = weak_from_this();
    const Gvk gvk = resource.gvk;
    const bool isOptional = resource.isOptional;
    const auto settled = [weak, gvk] {
        if (const auto self = weak.lock())
            self->onHost([gvk](HostedPlugin &plugin) { plugin.kindSettled(gvk); });
    };
    const auto waiting = [weak, gvk, isOptional](const QString &reason) {
        const auto self = weak.lock();
        if (self && isOptional)
            self->onHost([gvk, reason](HostedPlugin &p) { p.optionalKindMissing(gvk, reason); });
        else if (self)
            self->onHost([gvk, reason](HostedPlugin &p) { p.kindMissing(gvk, reason); });
    };
    m_environment->services.resolve(gvk, settled, waiting);
}

void HostedPlugin::kindSettled(const Gvk &gvk)
{
    m_missing.remove(gvk);
    if (m_unsettled.removeAll(gvk) == 0 || m_isStopping)
        return;
    if (m_unsettled.isEmpty())
        tryLoad();
    else
        tellMissing();
}

void HostedPlugin::optionalKindMissing(const Gvk &gvk, const QString &reason)
{
    if (!m_unsettled.contains(gvk))
        return; // it was told already
    m_environment->log.info("an optional kind is not there",
        {{"plugin", m_spec.id()}, {"kind", toString(gvk)}, {"reason", reason}});
    kindSettled(gvk);
}

void HostedPlugin::kindMissing(const Gvk &gvk, const QString &reason)
{
    if (!m_unsettled.contains(gvk) || m_isStopping)
        return;
    m_missing.insert(gvk, reason);
    tellMissing();
}

void HostedPlugin::tellMissing()
{
    QStringList reasons;
    for (const Gvk &gvk : std::as_const(m_unsettled)) {
        if (!m_missing.contains(gvk))
            continue;
        const QString head = toString(gvk) + QLatin1StringView(": ");
        const QString why = m_missing[gvk];
        reasons << QStringLiteral("waits for ") + (why.startsWith(head) ? why : head + why);
    }
    setState(PluginState::Checked, reasons.join(QLatin1StringView("; ")));
}

// Is still Waiting while the trial runs: stop() may end that at any time.
void HostedPlugin::tryLoad()
{
    const Status status = copyPlugin(
        m_environment->stateDir, m_spec.file(), m_spec.id(), nextGeneration(), &m_copy);
    if (!status.isOk()) {
        m_phase = Phase::Down;
        return settle(PluginState::Refused, status.error().message());
    }
    if (m_environment->trialProgram.isEmpty())
        return load();
    m_trial = std::make_unique<TrialLoad>(m_environment->trialProgram, m_copy,
        m_environment->loadLimit, [weak = weak_from_this()](const QString &fault) {
            if (const auto plugin = weak.lock())
                plugin->onHost([fault](HostedPlugin &self) { self.tried(fault); });
        });
}

void HostedPlugin::tried(const QString &fault)
{
    if (!m_trial)
        return; // stopped meanwhile
    m_trial.reset();
    if (fault.isEmpty())
        return load();
    m_phase = Phase::Down;
    settle(PluginState::Refused, fileReason(fault));
}

void HostedPlugin::load()
{
    m_phase = Phase::Initializing;
    const PluginIdentity identity{m_spec.id(), &m_spec.metadata(), &m_faults, nullptr,
        std::shared_ptr<priv::FaultSink>(shared_from_this(), &m_faults)};
    m_client = m_environment->services.makeClient(identity);
    m_client->retain();
    m_events = m_environment->services.makeEvents(identity);
    m_events->retain();
    m_thread = std::make_unique<PluginThread>(m_spec.id(), m_faults);
    after(m_environment->initializeLimit, &HostedPlugin::initializeIsOverdue);
    m_thread->post([self = shared_from_this()] {
        const Outcome outcome = self->loadAndInitialize();
        self->onHost([outcome](HostedPlugin &plugin) { plugin.initialized(outcome); });
    });
}

HostedPlugin::Outcome HostedPlugin::loadAndInitialize()
{
    Outcome outcome = mapLibrary();
    if (outcome.state != PluginState::Initialized)
        return outcome;
    onHost([](HostedPlugin &self) { self.setState(PluginState::Loaded); });
    outcome = makePlugin();
    if (outcome.state != PluginState::Initialized)
        return outcome;
    auto *const plugin = qobject_cast<ControllerPlugin *>(m_root);
    m_context = std::make_unique<PluginContext>(
        m_environment->services, m_spec.metadata(), m_config, m_faults, *m_client, *m_events);
    m_hostContext = std::make_unique<HostContext>(*m_context);
    Status status;
    const bool isGood = priv::pluginCall(
        m_faults, "initialize", m_spec.id(), [&] { status = plugin->initialize(*m_hostContext); });
    if (!isGood)
        return {PluginState::Faulted,
            fileReason(QStringLiteral("initialize threw: ") + m_faults.last())};
    if (!status.isOk())
        return {PluginState::Faulted,
            fileReason(QStringLiteral("initialize failed: ") + status.error().message())};
    return {};
}

HostedPlugin::Outcome HostedPlugin::mapLibrary()
{
    RawMetadata copied;
    const Status status = readRawMetadata(m_copy, &copied);
    if (!status.isOk() || copied.json != m_checked.json || copied.iid != m_checked.iid)
        return {PluginState::Refused,
            fileReason(
                QStringLiteral("the file changed while it was being loaded; restart davit"))};
    m_loader = std::make_unique<QPluginLoader>(m_copy);
    QString fault;
    // What a static constructor throws here, but not in the trial, ends the process: it would leave
    // the lock of the loader held (trialload.h).
    priv::pluginCall(
        m_faults, "load", m_spec.id(), [&]() noexcept { fault = loadLibrary(*m_loader); });
    if (!fault.isEmpty())
        return {PluginState::Refused, fileReason(fault)};
    addToLastWords(m_spec.id(), m_copy);
    return {};
}

HostedPlugin::Outcome HostedPlugin::makePlugin()
{
    const bool isGood = priv::pluginCall(
        m_faults, "construct", m_spec.id(), [&] { m_root = m_loader->instance(); });
    if (!isGood)
        return {PluginState::Faulted,
            fileReason(QStringLiteral("its constructor threw: ") + m_faults.last())};
    if (!qobject_cast<ControllerPlugin *>(m_root))
        return {PluginState::Refused,
            fileReason(
                QStringLiteral("its class is no davit::ControllerPlugin; inherit from it and "
                               "add Q_INTERFACES(davit::ControllerPlugin)"))};
    return {};
}

void HostedPlugin::initialized(const Outcome &outcome)
{
    after(std::chrono::nanoseconds(-1), nullptr);
    const bool wasOverdue = m_phase == Phase::Stuck;
    m_phase = Phase::Up;
    if (wasOverdue)
        takeDown(m_environment->initializeLimit, {PluginState::Faulted, m_spec.reason()});
    else if (m_isStopping)
        takeDown(m_limit, {PluginState::Retired, {}});
    else if (outcome.state != PluginState::Initialized)
        takeDown(m_environment->initializeLimit, outcome);
    else {
        setState(PluginState::Initialized);
        settle(PluginState::Running, {});
    }
}

void HostedPlugin::initializeIsOverdue()
{
    m_phase = Phase::Stuck;
    const auto limit = m_isStopping ? m_limit : m_environment->initializeLimit;
    settle(PluginState::Faulted,
        fileReason(
            QStringLiteral("initialize has not returned for %1 ms").arg(milliseconds(limit))));
    tellStopped({});
}

void HostedPlugin::stop(std::chrono::nanoseconds limit, Stopped done)
{
    m_isStopping = true;
    m_started = nullptr;
    m_stopped = std::move(done);
    const Outcome last{m_spec.state(), m_spec.reason()};
    switch (m_phase) {
    case Phase::Waiting:
        m_trial.reset();
        m_phase = Phase::Down;
        if (last.state != PluginState::Refused)
            setState(PluginState::Retired);
        return tellStopped({});
    case Phase::Initializing:
        m_limit = limit;
        setState(PluginState::Draining);
        return after(limit, &HostedPlugin::initializeIsOverdue);
    case Phase::Up:
        setState(PluginState::Draining);
        return takeDown(
            limit, last.state == PluginState::Faulted ? last : Outcome{PluginState::Retired, {}});
    case Phase::TakingDown:
        return; // takenDown() tells
    case Phase::Down:
    case Phase::Stuck:
        return tellStopped({});
    }
}

// Workers and controllers, then the plugin's own objects, then informers and the thread.
void HostedPlugin::takeDown(std::chrono::nanoseconds limit, const Outcome &last)
{
    m_phase = Phase::TakingDown;
    m_limit = limit;
    m_last = last;
    m_takeDownBegin = m_environment->time.monotonic();
    m_environment->services.stopControllers(
        m_spec.id(), limit, [weak = weak_from_this()](const QStringList &abandoned) {
            if (const auto self = weak.lock())
                self->onHost([abandoned](HostedPlugin &p) { p.controllersEnded(abandoned); });
        });
}

void HostedPlugin::controllersEnded(const QStringList &abandoned)
{
    if (!abandoned.isEmpty()) {
        m_phase = Phase::Stuck;
        settle(PluginState::Faulted,
            QStringLiteral("reconciles were abandoned: ") + abandoned.join(QStringLiteral(", ")));
        return tellStopped(abandoned);
    }
    m_thread->post([self = shared_from_this()] {
        self->destroyPlugin();
        self->onHost([](HostedPlugin &plugin) { plugin.takenDown(); });
    });
    const auto rest = m_limit - (m_environment->time.monotonic() - m_takeDownBegin);
    const std::chrono::nanoseconds least = std::chrono::milliseconds(200);
    after(m_limit.count() < 0 ? m_limit : std::max(rest, least), &HostedPlugin::takeDownIsOverdue);
}

void HostedPlugin::destroyPlugin()
{
    if (m_context)
        m_context->cutInformers();
    if (auto *const plugin = m_hostContext ? qobject_cast<ControllerPlugin *>(m_root) : nullptr)
        priv::pluginCall(m_faults, "shutdown", m_spec.id(), [&] { plugin->shutdown(); });
    if (m_context)
        m_context->dropControllers(); // a reconciler may look at the plugin's object to the last
    priv::pluginCall(
        m_faults, "destructor", m_spec.id(), [&] { delete std::exchange(m_root, nullptr); });
    m_hostContext.reset();
    m_context.reset();
}

void HostedPlugin::takenDown()
{
    if (m_phase == Phase::Stuck)
        return; // it came back too late and was told so
    after(std::chrono::nanoseconds(-1), nullptr);
    if (!m_thread->finish(std::chrono::seconds(5)))
        return takeDownIsOverdue();
    m_thread.reset();
    closeCalls([](HostedPlugin &self) { self.callsClosed(); });
}

void HostedPlugin::callsClosed()
{
    m_phase = Phase::Down;
    m_environment->services.forget(m_spec.id());
    settle(m_last.state, m_last.reason);
    tellStopped({});
}

void HostedPlugin::takeDownIsOverdue()
{
    m_phase = Phase::Stuck;
    const QString call = m_faults.running();
    settle(PluginState::Faulted,
        fileReason(QStringLiteral("it did not stop within %1 ms: %2 has not returned")
                       .arg(milliseconds(m_limit))
                       .arg(call.isEmpty() ? QStringLiteral("its thread") : call)));
    tellStopped({});
}

QStringList HostedPlugin::running() const
{
    const QStringList reconciles = m_environment->services.inFlight(m_spec.id());
    if (!reconciles.isEmpty())
        return reconciles;
    const QString call = m_faults.running();
    return {call.isEmpty() ? QStringLiteral("(its thread)") : call};
}

void HostedPlugin::watch()
{
    if (m_phase != Phase::Up)
        return;
    const QString overdue = m_faults.overdue();
    if (!overdue.isEmpty() && m_spec.state() == PluginState::Running)
        setState(PluginState::Faulted, overdue);
    else if (overdue.isEmpty() && m_spec.state() == PluginState::Faulted && m_faults.recent() == 0)
        setState(PluginState::Running);
}

} // namespace davit::pluginhost
