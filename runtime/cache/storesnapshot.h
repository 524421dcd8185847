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

// The index that every store has: the namespace ("" for cluster scope). The objects lie by it.
inline constexpr QLatin1StringView kNamespaceIndex{"namespace"};

struct StoreIndex
{
    QString name;
    std::shared_ptr<const IndexValues> values;
    BucketTrie<BorrowedTrie> buckets;
};

struct StoreSnapshot
{
    ObjectTrie objects;
    std::vector<StoreIndex> indexes; // beside the namespace's
    QString resourceVersion; // of the newest change (S-1)

    bool hasIndex(const QString &name) const; // [thread-safe]
    // Empty when there is no such index. Copies the function. [thread-safe]
    IndexValues indexFunction(const QString &name) const;
    // f(object) for each object of one value, in no particular order. False when there is none, or
    // no such index. [thread-safe]
    template <typename F>
    bool forEachOf(const QString &indexName, const QString &value, F &&f) const
    {
        const auto eachOf = [&](const auto *members) {
            if (members)
                members->forEach([&f](const ObjectEntry &entry) { f(entry.object()); });
            return members != nullptr;
        };
        if (indexName == kNamespaceIndex)
            return eachOf(objects.namespaces().find(value));
        const StoreIndex *const at = index(indexName);
        return at && eachOf(at->buckets.find(value));
    }
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

private:
    const StoreIndex *index(const QString &name) const;
};

} // namespace davit::cache
