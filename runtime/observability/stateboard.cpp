#include "stateboard.h"

#include "redaction.h"

#include <algorithm>

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

// One line of a note. What comes from a server, a file name or a plugin must not start another.
// Secrets first, as in the log: servers repeat what they were sent.
QByteArray noteLine(const QString &given)
{
    const QString text = redacted(given);
    constexpr qsizetype longest = 2048; // as the log, which shows it whole, has limits
    QString line = QStringLiteral("    ");
    for (const QChar c : QStringView(text).left(longest)) {
        const QChar::Category kind = c.category();
        const bool isPlain = kind != QChar::Other_Control && kind != QChar::Other_Format
            && kind != QChar::Separator_Line && kind != QChar::Separator_Paragraph;
        line += isPlain ? QString(c)
                        : QStringLiteral("\\u%1").arg(c.unicode(), 4, 16, QLatin1Char('0'));
    }
    if (text.size() > longest)
        line += QStringLiteral("…");
    return line.toUtf8() + '\n';
}

// ", waits for the first list of v1 Secret: list v1 Secret: secrets is forbidden: … (HTTP 403)"
QString waitOf(const QString &plugin, const SyncProgress &sync, std::chrono::nanoseconds limit)
{
    if (sync.isSynced || !sync.plugins.contains(plugin))
        return {};
    QString text = QStringLiteral(", waits for the first list of ") + sync.resource;
    if (limit > limit.zero() && sync.elapsed >= limit)
        text = QStringLiteral(", is late: it waits longer than --cache-sync-timeout (%1 s) for the "
                              "first list of %2")
                   .arg(std::chrono::duration<double>(limit).count())
                   .arg(sync.resource);
    if (!sync.lastError.isEmpty())
        text += QStringLiteral(": ") + sync.lastError;
    return text;
}

} // namespace

void StateBoard::setSyncSource(Syncs source)
{
    const std::lock_guard lock(m_mutex);
    m_syncs = std::move(source);
}

void StateBoard::setPluginSource(Plugins source)
{
    const std::lock_guard lock(m_mutex);
    m_plugins = std::move(source);
}

void StateBoard::setServerFault(const QString &fault)
{
    const std::lock_guard lock(m_mutex);
    m_serverFault = fault;
}

QList<SyncProgress> StateBoard::syncs() const
{
    const std::lock_guard lock(m_mutex);
    return m_syncs ? m_syncs() : QList<SyncProgress>();
}

QList<PluginState> StateBoard::plugins() const
{
    const std::lock_guard lock(m_mutex);
    return m_plugins ? m_plugins() : QList<PluginState>();
}

bool StateBoard::areAllSynced() const
{
    const QList<SyncProgress> all = syncs();
    return m_isServerReached && std::all_of(all.begin(), all.end(), [](const SyncProgress &sync) {
        return sync.isSynced;
    });
}

bool StateBoard::arePluginsStarted() const
{
    const QList<PluginState> all = plugins();
    return std::none_of(
        all.begin(), all.end(), [](const PluginState &plugin) { return plugin.isStarting; });
}

void StateBoard::setSyncLimit(std::chrono::nanoseconds limit)
{
    const std::lock_guard lock(m_mutex);
    m_syncLimit = limit;
}

void StateBoard::setLeadership(const QString &sentence)
{
    const std::lock_guard lock(m_mutex);
    m_leadership = sentence;
}

QByteArray StateBoard::notes() const
{
    QByteArray out;
    std::chrono::nanoseconds limit{0};
    {
        const std::lock_guard lock(m_mutex);
        limit = m_syncLimit;
        if (!m_isServerReached)
            out += noteLine(QStringLiteral("server: ")
                + (m_serverFault.isEmpty() ? QStringLiteral("no answer yet") : m_serverFault));
        if (!m_leadership.isEmpty())
            out += noteLine(QStringLiteral("leader: ") + m_leadership);
    }
    const QList<SyncProgress> all = syncs();
    for (const SyncProgress &sync : all)
        out += noteLine(QStringLiteral("sync %1: ").arg(sync.resource) + describe(sync));
    for (const PluginState &plugin : plugins()) {
        QString line = QStringLiteral("plugin ") + plugin.id;
        if (!plugin.version.isEmpty())
            line += QLatin1Char(' ') + plugin.version;
        line += QStringLiteral(": ") + plugin.state;
        if (!plugin.reason.isEmpty())
            line += QStringLiteral(", ") + plugin.reason;
        for (const SyncProgress &sync : all)
            line += waitOf(plugin.id, sync, limit);
        out += noteLine(line);
    }
    return out;
}

QString describe(const SyncProgress &progress)
{
    QString text = progress.isSynced
        ? QStringLiteral("synced, %1 objects now; the last fill: ").arg(progress.storedObjects)
        : QString();
    text += QStringLiteral("%1 objects, %2 of JSON in %3 s")
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
