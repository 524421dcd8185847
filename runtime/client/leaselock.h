// The lock of an election as a Lease of coordination.k8s.io/v1. Contract:
//   - Each request is cut off by a time limit of its own, max(1 s, renew deadline / 2) (L-17, B45),
//   and goes out on connections that only leases use, behind nobody (B61).
//   - What others wrote into the Lease stays: labels, annotations, members of the spec that are not
//   of the record. Own labels are put over the present ones.
//   - An update is of the object that the last call gave, by its resourceVersion (L-8).
// Source: client-go resourcelock/leaselock.go. Test: tst_leaselock.
#pragma once

#include "electionlock.h"
#include "restclient.h"

#include <davit/objectkey.h>
#include <davit/status.h>

#include <QtCore/qjsonobject.h>

namespace davit::client {

struct LeaseSettings
{
    ObjectKey key; // namespace and name
    QMap<QString, QString> labels;
    std::chrono::milliseconds timeout{5000}; // leaseTimeout()
};

// InvalidArgument: the server would refuse such a name or namespace. [thread-safe]
Status checkLease(const ObjectKey &key);
// Of one request, for a renew deadline. [thread-safe]
std::chrono::milliseconds leaseTimeout(std::chrono::milliseconds renewDeadline);

class LeaseLock final : public ElectionLock
{
public:
    // `rest` is borrowed; its executor is the elector's. It outlives the calls.
    LeaseLock(const LeaseSettings &settings, RestClient &rest);
    ~LeaseLock() override;
    Q_DISABLE_COPY_MOVE(LeaseLock)

    void get(Done done) override;
    void create(const LeaderRecord &record, Done done) override;
    void update(const LeaderRecord &record, Done done) override;
    QString describe() const override;

private:
    class Core;
    const std::shared_ptr<Core> m_core;
};

} // namespace davit::client
