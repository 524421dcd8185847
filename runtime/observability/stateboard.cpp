#include "stateboard.h"

#include <support/timesource.h>

namespace davit::observability {

namespace {

QString sizeText(quint64 bytes)
{
    if (bytes < 1000)
        return QStringLiteral("%1 B").arg(bytes);
    if (bytes < 1'000'000)
        return QStringLiteral("%1 kB").arg(double(bytes) / 1e3, 0, 'f', 1);
    return QStringLiteral("%1 MB").arg(double(bytes) / 1e6, 0, 'f', 1);
}

} // namespace

StateBoard::StateBoard(const support::TimeSource &time) : m_time(time) { }

StateBoard::Sync &StateBoard::syncFor(const QString &resource)
{
    const auto [place, isNew] = m_syncs.try_emplace(resource);
    if (isNew) {
        place->second.progress.resource = resource;
        place->second.begin = m_time.monotonic();
    }
    return place->second;
}

void StateBoard::setSync(
    const QString &resource, quint64 objects, quint64 bytes, qint64 remainingObjects)
{
    const std::lock_guard lock(m_mutex);
    SyncProgress &progress = syncFor(resource).progress;
    progress.objects = objects;
    progress.bytes = bytes;
    progress.remainingObjects = remainingObjects;
    if (bytes > 0)
        progress.lastError.clear();
}

void StateBoard::setSyncError(const QString &resource, const QString &error)
{
    const std::lock_guard lock(m_mutex);
    syncFor(resource).progress.lastError = error;
}

void StateBoard::setSynced(const QString &resource, quint64 objects)
{
    const std::lock_guard lock(m_mutex);
    Sync &sync = syncFor(resource);
    if (!sync.progress.isSynced)
        sync.progress.elapsed = m_time.monotonic() - sync.begin;
    sync.progress.isSynced = true;
    sync.progress.objects = objects;
    sync.progress.remainingObjects = -1;
    sync.progress.lastError.clear();
}

void StateBoard::removeSync(const QString &resource)
{
    const std::lock_guard lock(m_mutex);
    m_syncs.erase(resource);
}

void StateBoard::setPlugin(const PluginState &plugin)
{
    const std::lock_guard lock(m_mutex);
    m_plugins[plugin.id] = plugin;
}

void StateBoard::removePlugin(const QString &id)
{
    const std::lock_guard lock(m_mutex);
    m_plugins.erase(id);
}

void StateBoard::setServerReached()
{
    const std::lock_guard lock(m_mutex);
    m_isServerReached = true;
}

QList<SyncProgress> StateBoard::syncs() const
{
    const std::lock_guard lock(m_mutex);
    QList<SyncProgress> all;
    for (const auto &[resource, sync] : m_syncs) {
        all << sync.progress;
        if (!sync.progress.isSynced)
            all.last().elapsed = m_time.monotonic() - sync.begin;
    }
    return all;
}

QList<PluginState> StateBoard::plugins() const
{
    const std::lock_guard lock(m_mutex);
    QList<PluginState> all;
    for (const auto &[id, plugin] : m_plugins)
        all << plugin;
    return all;
}

bool StateBoard::areAllSynced() const
{
    const std::lock_guard lock(m_mutex);
    for (const auto &[resource, sync] : m_syncs)
        if (!sync.progress.isSynced)
            return false;
    return true;
}

bool StateBoard::isServerReached() const
{
    const std::lock_guard lock(m_mutex);
    return m_isServerReached;
}

QByteArray StateBoard::notes() const
{
    QByteArray out;
    for (const SyncProgress &sync : syncs())
        out += "    sync " + sync.resource.toUtf8() + ": " + describe(sync).toUtf8() + '\n';
    for (const PluginState &plugin : plugins()) {
        out += "    plugin " + plugin.id.toUtf8() + ' ' + plugin.version.toUtf8() + ": "
            + plugin.state.toUtf8();
        if (!plugin.reason.isEmpty())
            out += ", " + plugin.reason.toUtf8();
        out += '\n';
    }
    return out;
}

QString describe(const SyncProgress &progress)
{
    QString text = progress.isSynced ? QStringLiteral("synced, ") : QString();
    text += QStringLiteral("%1 objects, %2 in %3 s")
                .arg(progress.objects)
                .arg(sizeText(progress.bytes))
                .arg(std::chrono::duration<double>(progress.elapsed).count(), 0, 'f', 1);
    if (progress.remainingObjects >= 0)
        text += QStringLiteral(", %1 remain").arg(progress.remainingObjects);
    if (!progress.lastError.isEmpty())
        text += QStringLiteral(", waiting: ") + progress.lastError;
    return text;
}

} // namespace davit::observability
