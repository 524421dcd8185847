#include "pluginmanager.h"

#include "configschema.h"
#include "pluginscanner.h"
#include "privatecopy.h"

#include <davit/priv/metatypes.h>

#include <QtCore/qfileinfo.h>
#include <QtCore/qset.h>
#include <algorithm>

namespace davit::pluginhost {

namespace {

constexpr std::chrono::seconds kWatchInterval{1};

// Plugins whose code may still run when their manager dies: left to the process, never destroyed.
struct LeftBehind
{
    std::vector<std::shared_ptr<HostedPlugin>> plugins;
    std::vector<Specs> specs;
};
LeftBehind &leftBehind()
{
    static auto *const kept = new LeftBehind;
    return *kept;
}

} // namespace

PluginManager::PluginManager(PluginServices &services, support::Executor &executor,
    support::TimeSource &time, const PluginHostSettings &settings)
    : m_settings(settings)
    , m_environment(std::make_shared<HostEnvironment>(HostEnvironment{services, executor, time,
          Logger(services.log(), QStringLiteral("pluginhost")), settings.stateDir, settings.faults,
          settings.initializeLimit, settings.trialProgram, settings.loadLimit,
          [](const PluginSpec &) {}}))
    , m_alive(std::make_shared<bool>(true))
{
    priv::registerMetatypes();
}

PluginManager::~PluginManager()
{
    m_environment->time.cancel(m_watchTimer);
    m_environment->onChanged = [](const PluginSpec &) {};
    const size_t before = leftBehind().plugins.size();
    for (const auto &plugin : m_hosted)
        if (plugin->isStuck())
            leftBehind().plugins.push_back(plugin);
    if (leftBehind().plugins.size() > before)
        leftBehind().specs.push_back(std::move(m_specs));
}

void PluginManager::setOnChanged(std::function<void(const PluginSpec &)> onChanged)
{
    const Logger log = m_environment->log;
    m_environment->onChanged = [log, tell = std::move(onChanged)](const PluginSpec &spec) {
        const QString state = QString(pluginStateName(spec.state()));
        const bool isBad = spec.state() == PluginState::Refused
            || spec.state() == PluginState::Faulted || spec.state() == PluginState::Quarantined;
        const LogField fields[] = {{"plugin", spec.shownName()}, {"state", state},
            {"file", spec.file().path}, {"reason", spec.reason()}};
        LogLevel level = LogLevel::Debug; // on the way to something worth a line
        if (isBad)
            level = LogLevel::Error;
        else if (spec.state() == PluginState::Checked && !spec.reason().isEmpty())
            level = LogLevel::Warning; // it waits for something that may never come
        else if (spec.state() == PluginState::Running || spec.state() == PluginState::Retired)
            level = LogLevel::Info;
        log.write(level, "plugin state", fields, spec.reason().isEmpty() ? 3 : 4);
        tell(spec);
    };
}

Status PluginManager::scan(const QStringList &places)
{
    if (Status status = checkCopiesApart(m_settings.stateDir, places); !status.isOk())
        return status;
    removeOldCopies(m_settings.stateDir);
    QList<PluginFile> files;
    for (const QString &place : places)
        if (Status status = scanPlugins(place, &files); !status.isOk())
            return status;
    QSet<QString> known;
    for (const PluginFile &file : std::as_const(files)) {
        const QString real = QFileInfo(file.path).canonicalFilePath();
        if (file.fault.isEmpty() && known.contains(real)) // of a place named twice, or a link
            continue;
        known.insert(real);
        m_specs.push_back(std::make_unique<PluginSpec>(file));
        checkOne(*m_specs.back());
    }
    m_order = checkTogether(m_specs);
    for (const auto &spec : m_specs)
        changed(*spec);
    return Status::ok();
}

void PluginManager::checkOne(PluginSpec &spec)
{
    const QString path = spec.file().path;
    if (!spec.file().fault.isEmpty())
        return spec.setState(PluginState::Refused, spec.file().fault);
    RawMetadata raw;
    PluginMetadata metadata;
    Status status = readRawMetadata(path, &raw);
    if (status.isOk())
        status = checkPlugin(path, raw, &metadata);
    QJsonObject config;
    if (status.isOk())
        if (Status fit = ConfigSchema::apply(
                metadata.configSchema, m_settings.configs.value(metadata.id).toObject(), &config);
            !fit.isOk())
            status = Status(ErrorCode::InvalidConfiguration,
                QStringLiteral("%1: its configuration does not fit its ConfigSchema: %2; change "
                               "plugins.%3 in the file of --config")
                    .arg(path, fit.error().message(), metadata.id));
    // Also of a refused plugin: others may depend on it, and people look for it by its Id.
    if (metadata.id.isEmpty())
        metadata.id = raw.json.value(QStringLiteral("Id")).toString();
    spec.setMetadata(metadata);
    if (!status.isOk())
        spec.setState(PluginState::Refused, status.error().message());
}

void PluginManager::start()
{
    startReady();
    scheduleWatch();
}

// Starts each plugin whose dependencies run; refuses those whose dependencies never will.
void PluginManager::startReady()
{
    for (PluginSpec *spec : m_order) {
        if (spec->state() != PluginState::Checked || hosted(*spec) || m_done)
            continue;
        QString missing;
        bool isReady = true;
        for (const PluginDependency &wanted : spec->metadata().dependencies) {
            const PluginSpec *dependency = find(wanted.id);
            const PluginState state = dependency->state();
            isReady &= state == PluginState::Running;
            if (state == PluginState::Refused || state == PluginState::Faulted)
                missing = QStringLiteral("%1: it depends on \"%2\", which is %3 (%4)")
                              .arg(spec->file().path, wanted.id,
                                  QString(pluginStateName(state)).toLower(), dependency->reason());
        }
        if (!missing.isEmpty()) {
            spec->setState(PluginState::Refused, missing);
            changed(*spec);
        } else if (isReady) {
            QJsonObject config;
            const Status checked = ConfigSchema::apply(spec->metadata().configSchema,
                m_settings.configs.value(spec->id()).toObject(), &config);
            Q_ASSERT(checked.isOk()); // by scan()
            m_hosted.push_back(std::make_shared<HostedPlugin>(m_environment, *spec, config));
            m_hosted.back()->start([this, alive = std::weak_ptr<bool>(m_alive)] {
                m_environment->executor.post([this, alive] {
                    if (alive.lock())
                        startReady();
                });
            });
        }
    }
}

void PluginManager::stop(std::chrono::nanoseconds limit, Stopped done)
{
    m_done = std::move(done);
    m_stopLimit = limit;
    m_stopBegin = m_environment->time.monotonic();
    for (PluginSpec *spec : m_order) {
        if (hosted(*spec) || spec->state() != PluginState::Checked)
            continue;
        spec->setState(PluginState::Retired);
        changed(*spec);
    }
    stopReady();
}

// Stops each plugin on which none depends that still runs.
void PluginManager::stopReady()
{
    const auto used = m_environment->time.monotonic() - m_stopBegin;
    const auto rest = m_stopLimit.count() < 0
        ? m_stopLimit
        : std::max<std::chrono::nanoseconds>(m_stopLimit - used, std::chrono::nanoseconds(0));
    const std::vector<std::shared_ptr<HostedPlugin>> all(m_hosted.rbegin(), m_hosted.rend());
    for (const auto &plugin : all) {
        const QString id = plugin->spec().id();
        const bool isNeeded = std::any_of(all.begin(), all.end(), [&](const auto &other) {
            const auto &wanted = other->spec().metadata().dependencies;
            return !m_stopped.contains(other->spec().id())
                && std::any_of(wanted.begin(), wanted.end(),
                    [&](const PluginDependency &dependency) { return dependency.id == id; });
        });
        if (isNeeded || m_stopping.contains(id))
            continue;
        m_stopping.append(id);
        plugin->stop(
            rest, [this, id, alive = std::weak_ptr<bool>(m_alive)](const QStringList &left) {
                m_environment->executor.post([this, id, left, alive] {
                    if (!alive.lock())
                        return;
                    for (const QString &key : left)
                        m_abandoned.append(id + u' ' + key);
                    m_stopped.append(id);
                    stopReady();
                });
            });
    }
    if (m_stopped.size() == qsizetype(m_hosted.size()))
        if (const Stopped done = std::exchange(m_done, nullptr))
            done(m_abandoned);
}

QStringList PluginManager::unfinished() const
{
    QStringList all = m_abandoned;
    for (const auto &plugin : m_hosted) {
        const QString id = plugin->spec().id();
        if (m_stopped.contains(id))
            continue;
        const QStringList running = plugin->running();
        for (const QString &one : running)
            all.append(id + u' ' + one);
    }
    return all;
}

bool PluginManager::isSettled() const
{
    return std::all_of(m_specs.begin(), m_specs.end(), [](const auto &spec) {
        const PluginState state = spec->state();
        return state == PluginState::Running || state == PluginState::Refused
            || state == PluginState::Faulted || state == PluginState::Quarantined
            || state == PluginState::Retired;
    });
}

void PluginManager::changed(const PluginSpec &spec) const
{
    m_environment->onChanged(spec);
}

PluginSpec *PluginManager::find(const QString &id) const
{
    const auto found = std::find_if(
        m_order.begin(), m_order.end(), [&](const PluginSpec *spec) { return spec->id() == id; });
    return found == m_order.end() ? nullptr : *found;
}

HostedPlugin *PluginManager::hosted(const PluginSpec &spec) const
{
    const auto found = std::find_if(m_hosted.begin(), m_hosted.end(),
        [&](const auto &plugin) { return &plugin->spec() == &spec; });
    return found == m_hosted.end() ? nullptr : found->get();
}

void PluginManager::scheduleWatch()
{
    m_watchTimer = m_environment->time.callAfter(
        kWatchInterval, m_environment->executor, [this, alive = std::weak_ptr<bool>(m_alive)] {
            if (!alive.lock())
                return;
            for (const auto &plugin : m_hosted)
                plugin->watch();
            scheduleWatch();
        });
}

} // namespace davit::pluginhost
