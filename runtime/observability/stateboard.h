// What the process is doing now, for the web, the log and people: the first sync of each resource,
// the plugins, the server. Written by whoever knows, read by anyone; holds copies, never handles.
// Test: tst_stateboard.
#pragma once

#include <davit/global.h>

#include <QtCore/qbytearray.h>
#include <QtCore/qlist.h>
#include <QtCore/qstring.h>
#include <chrono>
#include <map>
#include <mutex>

namespace davit::support {
class TimeSource;
}

namespace davit::observability {

struct SyncProgress
{
    QString resource; // "v1 ConfigMap", with what narrows it
    bool isSynced = false;
    quint64 objects = 0; // stored, or received so far
    quint64 bytes = 0; // of JSON, received so far
    qint64 remainingObjects = -1; // what the server says is left; -1 when it does not say
    std::chrono::nanoseconds elapsed{0}; // of the first sync; stands still once synced
    QString lastError; // why it stands still; empty when it does not
};

struct PluginState
{
    QString id;
    QString version;
    QString state; // "Running"
    QString reason; // why it is not; empty when it is
};

class StateBoard
{
public:
    // `time` is borrowed and outlives the board.
    explicit StateBoard(const support::TimeSource &time);

    // The first call for a resource starts its clock. [thread-safe]
    void setSync(const QString &resource, quint64 objects, quint64 bytes, qint64 remainingObjects);
    void setSyncError(const QString &resource, const QString &error);
    void setSynced(const QString &resource, quint64 objects);
    void removeSync(const QString &resource);
    void setPlugin(const PluginState &plugin);
    void removePlugin(const QString &id);
    // The API server gave an answer that lets the host work. Never false again.
    void setServerReached();

    QList<SyncProgress> syncs() const; // by resource
    QList<PluginState> plugins() const; // by id
    bool areAllSynced() const; // true with none
    bool isServerReached() const;
    // One line a resource and a plugin, indented by four; for /readyz?verbose.
    QByteArray notes() const;

private:
    struct Sync
    {
        SyncProgress progress;
        std::chrono::nanoseconds begin;
    };
    Sync &syncFor(const QString &resource);

    const support::TimeSource &m_time;
    mutable std::mutex m_mutex;
    std::map<QString, Sync> m_syncs; // GUARDED_BY(m_mutex)
    std::map<QString, PluginState> m_plugins; // GUARDED_BY(m_mutex)
    bool m_isServerReached = false; // GUARDED_BY(m_mutex)
};

// "1234 objects, 5.1 MB in 3.2 s, 766 remain" [thread-safe]
QString describe(const SyncProgress &progress);

} // namespace davit::observability
