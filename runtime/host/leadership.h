// This process as a candidate: the elector on its Lease, and what people see of it - log, Events,
// metrics, health. Contract:
//   - Its requests, answers and timers run on a thread and connections of their own: neither
//   plugins nor caches can make a renewal late.
//   - Callbacks run on the host's executor.
// Source: BEHAVIOURS.md 7, M-16. Test: tst_election.
#pragma once

#include <client/leaderelector.h>
#include <client/leaselock.h>
#include <client/pluginevents.h>
#include <observability/metricsregistry.h>
#include <support/strand.h>

#include <QtCore/qset.h>
#include <QtCore/qthreadpool.h>

namespace davit::host {

struct ElectionSetup
{
    client::ElectionSettings election;
    ObjectKey lease;
};

class Leadership
{
public:
    using End = client::LeaderElector::End;
    using AfterStop = client::LeaderElector::AfterStop;

    struct Surroundings
    {
        transport::Transport &transport; // borrowed, as all here
        support::Executor &executor; // the host's
        support::TimeSource &time;
        priv::LogBackend &log;
        observability::MetricsRegistry &metrics;
        std::shared_ptr<support::Permit> permit; // from makePermit()
    };
    struct Callbacks
    {
        std::function<void()> onLeading;
        // At most once, also after stop(): Lost or what came of stop().
        std::function<void(End end)> onEnd;
        // A sentence for people, each time that it changes.
        std::function<void(const QString &sentence)> onChanged;
    };

    // What writes and reconciles are asked for: valid while this process leads.
    static std::shared_ptr<support::Permit> makePermit(
        const ElectionSetup &setup, const support::TimeSource &time);
    // `setup` was checked by checkElection().
    Leadership(const ElectionSetup &setup, const Surroundings &around, Callbacks callbacks);
    // Nothing is called afterwards. [host-thread]
    ~Leadership();
    Q_DISABLE_COPY_MOVE(Leadership)

    // [host-thread]
    void start();
    // onEnd follows, at once when it was never started. The event about it has been sent by then,
    // or a second was spent on it. [host-thread]
    void stop(AfterStop after);
    bool isHealthy() const; // L-16 [thread-safe]

private:
    void started();
    void ended(End end);
    void holderChanged(const QString &identity);
    void failed(const Error &error);
    void record(const QString &what);
    void toHost(std::function<void()> work);

    const ElectionSetup m_setup;
    const Surroundings m_around;
    const Callbacks m_callbacks;
    const Logger m_log;
    const std::shared_ptr<bool> m_isAlive; // host-thread
    Gauge m_isMaster;
    Counter m_slowPaths;
    QThreadPool m_pool; // of one thread
    support::Strand m_strand;
    client::RestClient m_rest;
    client::LeaseLock m_lock;
    client::PluginEvents *const m_events; // counted
    std::unique_ptr<client::LeaderElector> m_elector;
    bool m_isStarted = false;
    bool m_hasLed = false; // on the strand
    QString m_lastFailure; // on the strand
};

} // namespace davit::host
