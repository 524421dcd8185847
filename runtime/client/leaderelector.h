// One candidate for one lock. Contract, with the rules of BEHAVIOURS.md 7:
//   - The age of another's lease is counted on the own steady clock from the moment that its record
//   was seen to change, and against the duration that the record names; the times written there are
//   for people (L-5, L-6, B42).
//   - It leads from a good write until the renew deadline after the begin of the last good write,
//   whatever the reads say and why ever writes fail (B45; Davit decides otherwise than L-10). The
//   permit says so at each moment.
//   - One loss is the end of it: it does not try again (L-11). A lost lease is never released,
//   since work may still run (B46; Davit decides otherwise than L-11).
//   - onStoppedLeading is called once at the end, also when it never led (L-13).
//   - A coordinated election (L-19, alpha in Kubernetes 1.37): the lease is never made here, and is
//   renewed only by the holder that the server chose, until another one is preferred.
// There is no fencing: what is on the wire when the permit ends can arrive later (L-15).
// Source: client-go tools/leaderelection. Tests: tst_leaderelector, tst_electionend.
#pragma once

#include "electionlock.h"

#include <davit/status.h>
#include <support/permit.h>

#include <memory>
#include <mutex>

namespace davit::client {

enum class ElectionKind : quint8 { Unset = 0, Plain, Coordinated };

struct ElectionSettings
{
    QString identity; // unique among the candidates
    std::chrono::milliseconds leaseDuration{15'000}; // whole seconds
    std::chrono::milliseconds renewDeadline{10'000};
    std::chrono::milliseconds retryPeriod{2'000};
    ElectionKind kind = ElectionKind::Plain;
};

// InvalidArgument: one sentence that names the value and the rule. [thread-safe]
Status checkElection(const ElectionSettings &settings);

class LeaderElector
{
public:
    static constexpr double kJitterFactor = 1.2;
    enum class End : quint8 { Unset = 0, Lost, Stopped, Released };
    enum class AfterStop : quint8 { Unset = 0, Keep, Release };

    // All but onNewLeader and the last two are needed. They run on the executor.
    struct Callbacks
    {
        std::function<void()> onStartedLeading;
        std::function<void(End end)> onStoppedLeading;
        // Who leads by the record, when that changed; empty: nobody (L-14).
        std::function<void(const QString &identity)> onNewLeader;
        // A try failed for another reason than that someone else leads.
        std::function<void(const Error &error)> onFailure;
        // A renewal needed a read first.
        std::function<void()> onSlowPath;
    };
    struct Surroundings
    {
        ElectionLock *lock = nullptr; // borrowed, as all pointers here
        support::Permit *permit = nullptr;
        support::TimeSource *time = nullptr;
        support::Executor *executor = nullptr; // one work at a time
        std::function<double()> random; // 0 <= u < 1
    };

    // InvalidArgument: the settings, a missing lock or callback. [thread-safe]
    static Status make(const ElectionSettings &settings, const Surroundings &around,
        Callbacks callbacks, std::unique_ptr<LeaderElector> *elector);
    // Nothing is called afterwards. On the executor, or when it runs no more.
    ~LeaderElector();
    Q_DISABLE_COPY_MOVE(LeaderElector)

    // Once. [thread-safe]
    void start();
    // Ends it. Release: work has ended, the lease is given back if it is ours (within the renew
    // deadline), then onStoppedLeading follows. Keep: it runs out. [thread-safe]
    void stop(AfterStop after);

    // By the permit: as good as a look at the clock. [thread-safe]
    bool isLeader() const;
    // Who leads by the record seen last; empty when nobody does or none was seen. [thread-safe]
    QString leader() const;
    // False only when the record says that we lead and its last good renewal is longer ago than the
    // lease and `tolerance` (L-16). [thread-safe]
    bool isHealthy(std::chrono::nanoseconds tolerance) const;

private:
    using Nanoseconds = std::chrono::nanoseconds;
    enum class Phase : quint8 { Idle, Acquiring, Leading, Releasing, Ended };

    LeaderElector(
        const ElectionSettings &settings, const Surroundings &around, Callbacks callbacks);
    void tryOnce();
    void tryFast();
    void trySlow();
    void judge(const ElectionLock::Reply &found);
    bool mayTake() const;
    bool mayRenewCoordinated() const;
    void write(const LeaderRecord &record, bool isNew);
    void won(const LeaderRecord &record, const ElectionLock::Reply &reply, Nanoseconds sentAt);
    void failed(const Error &error);
    void notNow();
    void tryAfter(Nanoseconds delay);
    void lose();
    void release();
    void giveBack(const ElectionLock::Reply &found);
    void end(End how);
    void observe(const LeaderRecord &record, const QByteArray &raw, Nanoseconds at);
    bool isMine() const { return m_record.holderIdentity == m_settings.identity; }
    bool isValid(Nanoseconds at) const;
    Nanoseconds now() const { return support::sinceBoot(*m_around.time); }
    LeaderRecord freshRecord() const;
    // Wraps an answer so that it is heard only while the same step goes on.
    ElectionLock::Done heard(std::function<void(const ElectionLock::Reply &)> function);
    support::TimeSource::TimerId after(Nanoseconds delay, std::function<void()> work);
    void cancelTimers();

    const ElectionSettings m_settings;
    const Surroundings m_around;
    const Callbacks m_callbacks;
    // Confined to the executor:
    Phase m_phase = Phase::Idle;
    QByteArray m_raw;
    QString m_reported;
    bool m_hasReported = false;
    Nanoseconds m_triedAt{0};
    bool m_isTrying = false;
    quint64 m_step = 0;
    support::TimeSource::TimerId m_tryTimer = 0;
    support::TimeSource::TimerId m_deadlineTimer = 0;
    std::shared_ptr<bool> m_isAlive;
    // Written on the executor under the mutex, read there without:
    mutable std::mutex m_mutex;
    LeaderRecord m_record;
    bool m_hasRecord = false;
    Nanoseconds m_observedAt{0};
};

} // namespace davit::client
