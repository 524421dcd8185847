// One moment of a store: immutable, complete, its indexes of the same moment. Readers hold it by
// shared pointer and work on it without a lock; whoever lets go last hands the tries back to the
// store's strand, so that no reader ever frees a tree. Reads that fill something say
// InvalidArgument for an index that is not there, with its name, and fill nothing then; a value
// without objects is no error. Source: BEHAVIOURS.md (3.2). Test: tst_threadsafestore,
// tst_storesnapshot.
#pragma once

#include "objecttrie.h"

#include <davit/status.h>

#include <QtCore/qstringlist.h>
#include <functional>
#include <memory>
#include <vector>

namespace davit::cache {

// The values of one object in an index; nothing when the function failed: the object is stored
// without this index (B28). Called on the [cache-thread].
using IndexValues = std::function<std::optional<QStringList>(const Object &)>;

// The objects that share one value of an index. Counted by the strand only.
struct IndexBucket
{
    quint32 refs = 1;
    QString value;
    BorrowedTrie members;
};
struct BucketEntry
{
    quint64 hash;
    IndexBucket *bucket;
};
struct BucketCounting
{
    static void retain(const BucketEntry &entry) { ++entry.bucket->refs; }
    static void release(const BucketEntry &entry)
    {
        if (--entry.bucket->refs == 0)
            delete entry.bucket;
    }
};

struct StoreIndex
{
    QString name;
    std::shared_ptr<const IndexValues> values;
    PersistentTrie<BucketEntry, BucketCounting> buckets;
};

struct StoreSnapshot
{
    ObjectTrie objects;
    std::vector<StoreIndex> indexes;
    QString resourceVersion; // of the newest change (S-1)

    // Null when there is no such index. [thread-safe]
    const StoreIndex *index(const QString &name) const;
    // The bucket of a value, or null: an index holds no empty buckets (B26). [thread-safe]
    const IndexBucket *bucket(const QString &indexName, const QString &value) const;
    // Values that have objects, sorted; empty for an unknown index. [thread-safe]
    QStringList indexValues(const QString &indexName) const;
    // Objects of one value, in no particular order. [thread-safe]
    QList<Object> byIndex(const QString &indexName, const QString &value) const;
    Status byIndex(const QString &indexName, const QString &value, QList<Object> *found) const;
    // Keys of one value, "namespace/name" or "name", sorted (IndexKeys). [thread-safe]
    Status indexKeys(const QString &indexName, const QString &value, QStringList *keys) const;
    // Objects that share a value of the index with this one, each once (Index). PluginFault when
    // the index's function fails; it runs here. [cache-thread]
    Status index(const QString &indexName, const Object &object, QList<Object> *found) const;
    // In no particular order. [thread-safe]
    QList<Object> list() const;
    QList<ObjectKey> keys() const;
};

} // namespace davit::cache
