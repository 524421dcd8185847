// The one cache of a resource: objects by key, with indexes. Contract:
//   - One writer, the resource's strand; changes show when publish() is called, all at once.
//   - Any thread reads: snapshot() costs a pointer copy under a mutex, nobody ever waits longer.
//   - Upserts and deletes as client-go's ThreadSafeStore, its version rules included (S-1).
// Davit decides otherwise: an index function that fails leaves its object out of that index; the
// store goes on (B28). Source: BEHAVIOURS.md. Cases B26, B28, B30. Test:
// tst_threadsafestore.
#pragma once

#include "storesnapshot.h"

#include <davit/status.h>
#include <support/executor.h>

#include <QtCore/qhash.h>
#include <mutex>

namespace davit::cache {

class ThreadSafeStore
{
public:
    // `strand` runs the sweeps of old snapshots; borrowed until detach(). Null: only publish()
    // sweeps.
    explicit ThreadSafeStore(support::Executor *strand = nullptr);
    // After detach(), or when nobody else uses the strand any more.
    ~ThreadSafeStore();
    Q_DISABLE_COPY_MOVE(ThreadSafeStore)

    // What was published last. O(1). [thread-safe]
    std::shared_ptr<const StoreSnapshot> snapshot() const;
    // Snapshots that readers or the store still hold. [thread-safe]
    qsizetype heldSnapshots() const;

    // Upsert; returns what was there. Objects of the Client or ObjectBuilder join the pool here.
    // [cache-thread]
    Object put(const Object &object) { return put(object.key(), object); }
    Object put(const ObjectKey &key, const Object &object);
    // Returns what was there; an absent key is no error. [cache-thread]
    Object remove(const ObjectKey &key);
    // All at once; of two objects with one key the last wins. [cache-thread]
    void replace(const std::vector<Object> &objects, const QString &resourceVersion);
    // The working state, published or not. [cache-thread]
    Object find(const ObjectKey &key) const { return m_working.objects.find(key); }
    const StoreSnapshot &working() const { return m_working; }
    void setResourceVersion(const QString &version) { m_working.resourceVersion = version; }
    // Makes the changes visible; frees what no reader holds any more. [cache-thread]
    void publish();

    // Adds indexes, also over what is stored; all or none: AlreadyExists names the one that is
    // there. Shows with publish(). [cache-thread]
    Status addIndexers(std::vector<std::pair<QString, IndexValues>> indexers);
    void removeIndexer(const QString &name);

    // No strand any more: from here on the last holder of a snapshot frees it. [cache-thread]
    void detach();

private:
    class Trash;
    void indexObject(std::size_t which, const ObjectKey &key, const ObjectEntry &entry);
    void unindexObject(std::size_t which, const ObjectKey &key, const ObjectEntry &entry);
    void reindexObject(
        std::size_t which, const ObjectKey &key, const ObjectEntry &from, const ObjectEntry &to);
    void addValues(std::size_t which, const ObjectKey &key, const ObjectEntry &entry,
        const std::optional<QStringList> &values);

    std::shared_ptr<Trash> m_trash;
    StoreSnapshot m_working; // thread-confined: the strand
    // What each index function said of each object, beside m_working.indexes: it may say something
    // else the next time, and an index must forget exactly what it learnt. Thread-confined.
    std::vector<QHash<ObjectKey, QStringList>> m_given;
    mutable std::mutex m_mutex;
    std::shared_ptr<const StoreSnapshot> m_published; // GUARDED_BY(m_mutex)
};

} // namespace davit::cache
