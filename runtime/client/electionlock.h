// What an election is about: a record that all candidates read and one of them writes, with
// optimistic locking. LeaseLock is the real one; tests bring their own.
#pragma once

#include <davit/error.h>

#include <QtCore/qbytearray.h>
#include <QtCore/qstring.h>
#include <functional>
#include <optional>

namespace davit::client {

// LeaseSpec of coordination.k8s.io/v1.
struct LeaderRecord
{
    QString holderIdentity; // empty: nobody leads
    int leaseDurationSeconds = 0;
    // Since 1970; unset when there was none, or none that can be read.
    std::optional<std::chrono::nanoseconds> acquireTime;
    std::optional<std::chrono::nanoseconds> renewTime;
    int leaseTransitions = 0;
    QString strategy; // of coordinated elections (L-19)
    QString preferredHolder;
};

class ElectionLock
{
public:
    struct Reply
    {
        Error error; // of the server or the connection; else the rest is set
        LeaderRecord record;
        QByteArray raw; // the record as the server has it; another text is another record
    };
    using Done = std::function<void(const Reply &)>;

    virtual ~ElectionLock() = default;
    // Each calls `done` once, on the elector's executor, never from inside, and within a time of
    // its own; one call at a time. NotFound: there is no record.
    virtual void get(Done done) = 0;
    // AlreadyExists: another one was faster.
    virtual void create(const LeaderRecord &record, Done done) = 0;
    // Of what the last call gave. Conflict: it has changed since, or nothing is known of it.
    virtual void update(const LeaderRecord &record, Done done) = 0;
    // "Lease ops/davit", for messages.
    virtual QString describe() const = 0;
};

} // namespace davit::client
