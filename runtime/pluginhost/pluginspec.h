// One plugin as the host knows it: where it was found, what it says about itself, how far it came
// and why no further. Test: tst_pluginchecks.
#pragma once

#include "pluginmetadata.h"

#include <mutex>

namespace davit::pluginhost {

enum class PluginState : quint8 {
    Unset = 0,
    Found, // a file that looks like a plugin
    Checked, // its metadata is good; it waits for its turn, or for a kind that the cluster lacks
    Loaded, // its code is mapped
    Initialized, // initialize() returned
    Running, // it hears events
    Draining, // it is being stopped
    Retired, // it was stopped; its code stays mapped
    Refused, // it will not be loaded; nothing of its code ran, unless loading it failed midway
    Faulted, // its code threw, failed or did not return
    Quarantined // not used yet: it crashed the process before and waits for its next chance
};

// "Running"; for logs, metrics and people. [thread-safe]
QLatin1StringView pluginStateName(PluginState state) noexcept;

// Where a plugin lies.
struct PluginFile
{
    QString path; // absolute, of the .so
    QString folder; // absolute, of NAME.davit; empty for a single file
    QString fault; // why it cannot even be looked at; empty when it can
};

class PluginSpec
{
public:
    explicit PluginSpec(const PluginFile &file);
    Q_DISABLE_COPY_MOVE(PluginSpec)

    const PluginFile &file() const { return m_file; }
    // Empty until the metadata was read, and for a file that it could not be read from.
    const PluginMetadata &metadata() const { return m_metadata; }
    QString id() const { return m_metadata.id; }
    // The Id, or the file's name where there is none: for people.
    QString shownName() const;
    void setMetadata(const PluginMetadata &metadata) { m_metadata = metadata; } // [host-thread]

    // [thread-safe]
    PluginState state() const;
    // One sentence; empty when there is nothing to say. [thread-safe]
    QString reason() const;
    // [host-thread]
    void setState(PluginState state, const QString &reason = {});

private:
    const PluginFile m_file;
    PluginMetadata m_metadata; // [host-thread] until Checked, then constant
    mutable std::mutex m_mutex;
    PluginState m_state = PluginState::Found; // GUARDED_BY(m_mutex)
    QString m_reason; // GUARDED_BY(m_mutex)
};

} // namespace davit::pluginhost
