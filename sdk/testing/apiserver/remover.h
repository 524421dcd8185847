// Deletion and what follows from it: finalizers, owners and dependents, namespaces, CRDs. Does at
// once what the real server and its controller manager do a little later: when a call returns, all
// consequences are stored. All members need the store's lock.
// Source: Kubernetes "Garbage Collection", "Finalizers", "Namespaces".
#pragma once

#include "apistore.h"

namespace davit::testing::apiserver {

enum class Propagation : unsigned char { Background, Foreground, Orphan };

class Remover
{
public:
    Remover(ApiStore &store, KindRegistry &kinds, bool collectsGarbage)
        : m_store(store), m_kinds(kinds), m_collectsGarbage(collectsGarbage)
    { }

    struct Outcome
    {
        RecordPtr record; // the last state
        bool isGone = false; // false: it waits for its finalizers
    };
    Outcome remove(const ObjectRef &ref, Propagation propagation);
    // After a create: an object whose owners are all gone goes too.
    void afterCreate(const ObjectRef &ref);
    // Ends an object that is being deleted and that no finalizer holds any more (a namespace: once
    // it is empty).
    void finish(const ObjectRef &ref);

private:
    Outcome begin(const ObjectRef &ref, Propagation propagation);
    RecordPtr eraseNow(const ObjectRef &ref);
    void settle();
    void afterErase(const Record &record);
    void releaseOwner(const std::string &uid);
    void drainNamespace(const std::string &name);
    void finishNamespace(const std::string &name);
    void removeCustomResources(const Record &crd);
    bool isOwnerAlive(const Record &dependent, const std::string &uid) const;
    void dropOwners(const ObjectRef &ref, const std::set<std::string> &uids);
    void dropFinalizer(const ObjectRef &ref, const std::string &finalizer);
    bool isStorage(int storageId, const char *group, const char *plural) const;

    ApiStore &m_store;
    KindRegistry &m_kinds;
    const bool m_collectsGarbage;
    std::deque<RecordPtr> m_erased; // what settle() has to look at
    std::deque<std::string> m_namespaces; // to be drained
    bool m_isSettling = false;
};

} // namespace davit::testing::apiserver
