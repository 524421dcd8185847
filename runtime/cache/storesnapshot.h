// One moment of a store: immutable, complete, its indexes of the same moment. Readers hold it by
// shared pointer and work on it without a lock; whoever lets go last hands the tries back to the
// store's strand, so that no reader ever frees a tree. Test: tst_threadsafestore.
#pragma once

#include "objecttrie.h"

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
    QList<Object> list() const;
};

} // namespace davit::cache
