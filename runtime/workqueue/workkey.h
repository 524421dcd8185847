// What lies in a work queue: an object's key and the cluster it belongs to. Equal keys are one
// piece of work. Test: tst_workqueue.
#pragma once

#include <davit/objectkey.h>

namespace davit::workqueue {

struct WorkKey
{
    ObjectKey object;
    QString clusterName; // empty: the cluster the host runs against
};

inline bool operator==(const WorkKey &a, const WorkKey &b)
{
    return a.object == b.object && a.clusterName == b.clusterName;
}
inline bool operator!=(const WorkKey &a, const WorkKey &b)
{
    return !(a == b);
}
size_t qHash(const WorkKey &key, size_t seed = 0);
struct WorkKeyHash
{
    size_t operator()(const WorkKey &key) const { return qHash(key); }
};

// "namespace/name", or "cluster:namespace/name" for a named cluster. [thread-safe]
QString toString(const WorkKey &key);

} // namespace davit::workqueue
