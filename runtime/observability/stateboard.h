// What the process is doing now, for the web, the log and people: the first sync of each resource,
// the plugins, the server. It asks those who know at the moment someone looks, and holds nothing of
// theirs. Test: tst_stateboard.
#pragma once

#include <davit/global.h>

#include <QtCore/qbytearray.h>
#include <QtCore/qlist.h>
#include <QtCore/qstringlist.h>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>

namespace davit::observability {

struct SyncProgress
{
    QString resource; // "v1 ConfigMap", with what narrows it
    bool isSynced = false;
    quint64 objects = 0; // of the last fill of the cache: received so far
    quint64 bytes = 0; // of JSON, received for them; more than is kept
    quint64 storedObjects = 0; // now, once synced
    qint64 remainingObjects = -1; // what the server says is left; -1 when it does not say
    std::chrono::nanoseconds elapsed{0}; // of the first sync; once synced, of the last fill
    QString lastError; // why it stands still; empty when it does not
    QStringList plugins{}; // while it is not synced: who needs it, by id
};

struct PluginState
{
    QString id;
    QString version;
    QString state; // "Running"
    QString reason; // why it is not; empty when it is
    bool isStarting = false; // on its way to Running, with nothing in the cluster to wait for
};

class StateBoard
{
public:
    using Syncs = std::function<QList<SyncProgress>()>;
    using Plugins = std::function<QList<PluginState>()>;

    // The sources are called on any thread, under the board's lock, so that nothing is asked any
    // more once a source was taken away with {}. [thread-safe]
    void setSyncSource(Syncs source);
    void setPluginSource(Plugins source);
    // The API server gave an answer that lets the host work. Never false again. [thread-safe]
    void setServerReached() { m_isServerReached = true; }
    // Why it did not yet: a sentence, for notes(). [thread-safe]
    void setServerFault(const QString &fault);

    // After how long a first sync makes the plugins that need it late, for notes(). [thread-safe]
    void setSyncLimit(std::chrono::nanoseconds limit);
    // Who leads, when processes take turns: a sentence, for notes(). [thread-safe]
    void setLeadership(const QString &sentence);

    // By resource, and by id; empty without a source. [thread-safe]
    QList<SyncProgress> syncs() const;
    QList<PluginState> plugins() const;
    // True with none, but not before the server was reached: nothing is known by then.
    // [thread-safe]
    bool areAllSynced() const;
    bool isServerReached() const { return m_isServerReached; }
    // No plugin is on its way; one that waits for a kind that the cluster lacks keeps nobody
    // waiting. [thread-safe]
    bool arePluginsStarted() const;
    // Why the server was not reached, who leads, then one line a resource and a plugin, indented by
    // four; a plugin's line says which first lists it waits for, why, and whether it is late. For
    // /readyz?verbose. [thread-safe]
    QByteArray notes() const;

private:
    mutable std::mutex m_mutex;
    Syncs m_syncs; // GUARDED_BY(m_mutex)
    Plugins m_plugins; // GUARDED_BY(m_mutex)
    QString m_serverFault; // GUARDED_BY(m_mutex)
    QString m_leadership; // GUARDED_BY(m_mutex)
    std::chrono::nanoseconds m_syncLimit{0}; // 0: none; GUARDED_BY(m_mutex)
    std::atomic<bool> m_isServerReached{false};
};

// "1234 objects, 5.1 MB of JSON in 3.2 s, 766 remain" [thread-safe]
QString describe(const SyncProgress &progress);

} // namespace davit::observability
