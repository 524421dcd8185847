// One candidate's LeaseCandidate object in a coordinated election (L-19), in which a component of
// the server picks who leads. Contract:
//   - The object is made when there is none. Else its renewTime alone is written: after a ping
//   (pingTime later than renewTime) at once, and every five minutes.
//   - What fails is tried again after 5 ms, doubled up to 1000 s; a good write ends that.
//   - One request at a time; a ping meanwhile is answered by one more.
// Nothing creates one yet: the gate CoordinatedLeaderElection and the API are off in
// Kubernetes 1.37 unless asked for, and a manager has no flag for it. Who watches the object calls
// observed(). Source: KEP-4355, coordination.k8s.io/v1beta1. Test: tst_leasecandidate.
#pragma once

#include <davit/error.h>
#include <support/timesource.h>

#include <QtCore/qstring.h>
#include <functional>
#include <memory>
#include <optional>

namespace davit::client {

// LeaseCandidateSpec of coordination.k8s.io/v1beta1.
struct CandidateRecord
{
    QString leaseName;
    QString binaryVersion; // "1.2.0"
    QString emulationVersion; // not later than that
    QString strategy; // "OldestEmulationVersion"
    std::optional<std::chrono::nanoseconds> renewTime; // since 1970, as the next one
    std::optional<std::chrono::nanoseconds> pingTime;
};

// The object at the server, with optimistic locking as in ElectionLock.
class CandidateObject
{
public:
    struct Reply
    {
        Error error; // else the record is set
        CandidateRecord record;
    };
    using Done = std::function<void(const Reply &)>;

    virtual ~CandidateObject() = default;
    // Each calls `done` once, on the candidate's executor, never from inside.
    virtual void get(Done done) = 0;
    virtual void create(const CandidateRecord &record, Done done) = 0;
    // Of what get() gave.
    virtual void update(const CandidateRecord &record, Done done) = 0;
};

class LeaseCandidate
{
public:
    struct Surroundings
    {
        CandidateObject &object; // borrowed, as all here
        support::TimeSource &time;
        support::Executor &executor; // one work at a time
        std::function<void(const Error &error)> onFailure; // on the executor; may be empty
    };

    // `record` without its times.
    LeaseCandidate(const CandidateRecord &record, Surroundings around);
    // Nothing is called afterwards. On the executor, or when it runs no more.
    ~LeaseCandidate();
    Q_DISABLE_COPY_MOVE(LeaseCandidate)

    // Publishes it, and goes on until the end. Once. [thread-safe]
    void start();
    // The object as a watch shows it. [thread-safe]
    void observed(const CandidateRecord &record);

private:
    void publish();
    void published(const Error &error);
    void publishAfter(std::chrono::nanoseconds delay);
    CandidateObject::Done heard(std::function<void(const CandidateObject::Reply &)> function);

    const CandidateRecord m_record;
    const Surroundings m_around;
    const std::shared_ptr<bool> m_isAlive;
    // Confined to the executor:
    support::TimeSource::TimerId m_timer = 0;
    int m_failures = 0; // in a row
    bool m_isBusy = false;
    bool m_isPinged = false; // while it was busy
};

} // namespace davit::client
