// One plugin on its way from Checked to Retired: waits for its kinds, is copied, loaded and
// initialised on a thread of its own, and taken down in the order that CONVENTIONS.md 21 names.
// Contract:
//   - Everything here is called on the host's thread. What runs the plugin's code is posted to the
//   plugin's thread, with a time limit, and nobody waits in it; the host's thread copies the
//   plugin's files itself, and waits at most 5 s for a thread whose last work has returned.
//   - The library is never unloaded.
// Test: tst_pluginmanager.
#pragma once

#include "pluginchecks.h"
#include "plugincontext.h"
#include "pluginthread.h"
#include "trialload.h"

#include <davit/hostcontext.h>

#include <support/timesource.h>

class QPluginLoader;

namespace davit::pluginhost {

struct HostEnvironment
{
    PluginServices &services;
    support::Executor &executor; // of the host's thread
    support::TimeSource &time;
    Logger log;
    QString stateDir;
    FaultSettings faults;
    std::chrono::nanoseconds initializeLimit{std::chrono::seconds(30)};
    QStringList trialProgram; // of TrialLoad; empty: none
    std::chrono::milliseconds loadLimit{std::chrono::seconds(60)};
    std::function<void(const PluginSpec &spec)> onChanged; // after each change of state
};

class HostedPlugin final : public std::enable_shared_from_this<HostedPlugin>
{
public:
    using Done = std::function<void()>;
    using Stopped = std::function<void(const QStringList &abandoned)>;

    // `spec` is Checked, borrowed, and outlives the plugin.
    HostedPlugin(
        std::shared_ptr<HostEnvironment> environment, PluginSpec &spec, const QJsonObject &config);
    ~HostedPlugin();
    Q_DISABLE_COPY_MOVE(HostedPlugin)

    PluginSpec &spec() { return m_spec; }
    PluginFaults &faults() { return m_faults; }

    // `done` is called once, when the plugin is Running, Refused or Faulted.
    void start(Done done);
    // `done` is called once, by the limit (negative: for ever) and a little; with the reconciles
    // that still run.
    void stop(std::chrono::nanoseconds limit, Stopped done);
    // True once its code runs beyond a limit: then it must live as long as the process.
    bool isStuck() const { return m_phase == Phase::Stuck; }
    // What of it runs now: its reconciles ("controller namespace/name"), or else the call that has
    // not returned, or else what the host waits for. Never empty.
    QStringList running() const;
    // Looks for calls that do not return, and for faults that have ceased.
    void watch();

private:
    enum class Phase : quint8 {
        Waiting, // for its turn, or for its kinds
        Initializing,
        Up,
        TakingDown,
        Down,
        Stuck // inside a call that did not return in time; nothing of it is destroyed any more
    };
    struct Outcome
    {
        PluginState state = PluginState::Initialized;
        QString reason;
    };

    void setState(PluginState state, const QString &reason = {});
    void settle(PluginState state, const QString &reason);
    void closeCalls(std::function<void(HostedPlugin &)> then);
    void tellStopped(const QStringList &abandoned);
    void onHost(std::function<void(HostedPlugin &)> work); // [thread-safe]
    void after(std::chrono::nanoseconds delay, void (HostedPlugin::*member)());
    QString fileReason(const QString &reason) const;

    void resolveKinds();
    void resolveKind(const DeclaredResource &resource);
    void kindSettled(const Gvk &gvk);
    void optionalKindMissing(const Gvk &gvk, const QString &reason);
    void kindMissing(const Gvk &gvk, const QString &reason);
    void tellMissing();
    void tryLoad();
    void tried(const QString &fault);
    void load();
    Outcome loadAndInitialize(); // [plugin-thread]
    Outcome mapLibrary(); // [plugin-thread]
    Outcome makePlugin(); // [plugin-thread]
    void initialized(const Outcome &outcome);
    void initializeIsOverdue();

    void takeDown(std::chrono::nanoseconds limit, const Outcome &last);
    void controllersEnded(const QStringList &abandoned);
    void destroyPlugin(); // [plugin-thread]
    void takenDown();
    void callsClosed();
    void takeDownIsOverdue();

    const std::shared_ptr<HostEnvironment> m_environment;
    PluginSpec &m_spec;
    const QJsonObject m_config;
    PluginFaults m_faults;
    Phase m_phase = Phase::Waiting;
    bool m_isStopping = false;
    Done m_started; // called once
    Stopped m_stopped; // called once
    QList<Gvk> m_unsettled; // kinds that the plugin waits for
    QHash<Gvk, QString> m_missing; // why, of those whose discovery was answered
    RawMetadata m_checked; // what the file said when it was checked
    QString m_copy;
    std::unique_ptr<TrialLoad> m_trial; // while it runs
    support::TimeSource::TimerId m_timer = 0;
    Outcome m_last; // how the taking down ends
    std::chrono::nanoseconds m_limit{0}; // of the taking down; negative: none
    std::chrono::nanoseconds m_takeDownBegin{0};
    priv::ClientBackend *m_client = nullptr; // counted
    priv::EventBackend *m_events = nullptr; // counted
    // Made and used on the plugin's thread only.
    std::unique_ptr<QPluginLoader> m_loader;
    std::unique_ptr<PluginContext> m_context;
    std::unique_ptr<HostContext> m_hostContext;
    QObject *m_root = nullptr; // owned
    std::unique_ptr<PluginThread> m_thread; // last: it ends before what it uses
};

} // namespace davit::pluginhost
