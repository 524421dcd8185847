#include "storesnapshot.h"

#include <algorithm>

namespace davit::cache {

const StoreIndex *StoreSnapshot::index(const QString &name) const
{
    const auto at = std::find_if(indexes.begin(), indexes.end(),
        [&](const StoreIndex &index) { return index.name == name; });
    return at == indexes.end() ? nullptr : &*at;
}

const IndexBucket *StoreSnapshot::bucket(const QString &indexName, const QString &value) const
{
    const StoreIndex *const at = index(indexName);
    if (!at)
        return nullptr;
    const BucketEntry *const entry = at->buckets.find(
        hashOf(value), [&](const BucketEntry &other) { return other.bucket->value == value; });
    return entry ? entry->bucket : nullptr;
}

QStringList StoreSnapshot::indexValues(const QString &indexName) const
{
    QStringList values;
    if (const StoreIndex *const at = index(indexName)) {
        values.reserve(at->buckets.size());
        at->buckets.forEach([&](const BucketEntry &entry) { values += entry.bucket->value; });
        values.sort();
    }
    return values;
}

QList<Object> StoreSnapshot::byIndex(const QString &indexName, const QString &value) const
{
    QList<Object> found;
    if (const IndexBucket *const members = bucket(indexName, value)) {
        found.reserve(members->members.size());
        members->members.forEach([&](const ObjectEntry &entry) { found += entry.object(); });
    }
    return found;
}

QList<Object> StoreSnapshot::list() const
{
    QList<Object> all;
    all.reserve(objects.size());
    objects.forEach([&](const Object &object) { all += object; });
    return all;
}

} // namespace davit::cache
