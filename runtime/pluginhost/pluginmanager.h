// All plugins of the host: finds, checks, starts in the order of their dependencies, watches over
// and stops them. Contract:
//   - A bad plugin never keeps the others from running; why it does not run stays on its spec.
//   - Nothing here waits for a plugin's code: what takes time tells by callback, on the host's
//   executor. For what the host's thread does itself see hostedplugin.h.
//   - What is told of a state is told after each change, from any state to any other.
// Tests: tst_pluginmanager, tst_pluginhost.
#pragma once

#include "hostedplugin.h"

namespace davit::pluginhost {

struct PluginHostSettings
{
    QString stateDir; // absolute; exists and may hold code
    QJsonObject configs; // by plugin Id
    FaultSettings faults;
    std::chrono::nanoseconds initializeLimit{std::chrono::seconds(30)};
    // Loads a library, whose path is appended, with runTrialLoad(); empty: nothing is tried.
    QStringList trialProgram;
    std::chrono::milliseconds loadLimit{std::chrono::seconds(60)};
};

class PluginManager
{
public:
    using Stopped = std::function<void(const QStringList &abandoned)>;

    // All are borrowed and outlive the manager; `executor` runs works on the host's thread.
    PluginManager(PluginServices &services, support::Executor &executor, support::TimeSource &time,
        const PluginHostSettings &settings);
    // stop() has been called and has told; what is stuck is left to the process.
    ~PluginManager();
    Q_DISABLE_COPY_MOVE(PluginManager)

    // `onChanged` hears of each change of a plugin's state. Set it before scan(). [host-thread]
    void setOnChanged(std::function<void(const PluginSpec &spec)> onChanged);
    // Finds and checks the plugins of the directories (or single .so files), in that order; a file
    // that is met again, through a link too, counts once. Bad plugins are Refused; an error is
    // about a directory. May be called once. [host-thread]
    Status scan(const QStringList &places);
    // Starts what is Checked; each when those that it depends on are Running. [host-thread]
    void start();
    // Stops all, in the reverse order. `done` is called once, by the limit (negative: for ever) and
    // a little, with the reconciles that still run ("plugin controller namespace/name").
    // [host-thread]
    void stop(std::chrono::nanoseconds limit, Stopped done);

    // While stop() waits: what was abandoned so far, in its words, and of each plugin that has not
    // ended what runs: its reconciles, or else the call that has not returned. [host-thread]
    QStringList unfinished() const;

    // In the order of scan(). The specs live as long as the manager. [host-thread]
    const Specs &specs() const { return m_specs; }
    // True when no plugin is on its way to Running any more. [host-thread]
    bool isSettled() const;

private:
    void checkOne(PluginSpec &spec);
    void startReady();
    void stopReady();
    void changed(const PluginSpec &spec) const;
    PluginSpec *find(const QString &id) const;
    HostedPlugin *hosted(const PluginSpec &spec) const;
    void scheduleWatch();

    const PluginHostSettings m_settings;
    const std::shared_ptr<HostEnvironment> m_environment;
    const std::shared_ptr<bool> m_alive; // callbacks hold it weakly; host-thread
    Specs m_specs;
    std::vector<PluginSpec *> m_order; // dependencies first
    std::vector<std::shared_ptr<HostedPlugin>> m_hosted; // in the order of their start
    QStringList m_stopping; // Ids whose stop() was called
    QStringList m_stopped; // Ids that have told
    QStringList m_abandoned;
    Stopped m_done;
    std::chrono::nanoseconds m_stopLimit{0};
    std::chrono::nanoseconds m_stopBegin{0};
    support::TimeSource::TimerId m_watchTimer = 0;
};

} // namespace davit::pluginhost
