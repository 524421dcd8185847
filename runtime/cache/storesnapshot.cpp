#include "storesnapshot.h"

#include <QtCore/qset.h>
#include <algorithm>

namespace davit::cache {
namespace {

Status unknownIndex(const QString &name)
{
    return Status(ErrorCode::InvalidArgument,
        QStringLiteral("read index \"%1\": there is no index of that name").arg(name));
}

} // namespace

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

Status StoreSnapshot::byIndex(
    const QString &indexName, const QString &value, QList<Object> *found) const
{
    if (!index(indexName))
        return unknownIndex(indexName);
    *found = byIndex(indexName, value);
    return Status::ok();
}

Status StoreSnapshot::indexKeys(
    const QString &indexName, const QString &value, QStringList *keys) const
{
    if (!index(indexName))
        return unknownIndex(indexName);
    keys->clear();
    if (const IndexBucket *const members = bucket(indexName, value))
        members->members.forEach(
            [&](const ObjectEntry &entry) { *keys += toString(entry.object().key()); });
    keys->sort();
    return Status::ok();
}

Status StoreSnapshot::index(
    const QString &indexName, const Object &object, QList<Object> *found) const
{
    const StoreIndex *const at = index(indexName);
    if (!at)
        return unknownIndex(indexName);
    const std::optional<QStringList> values = (*at->values)(object);
    if (!values)
        return Status(ErrorCode::PluginFault,
            QStringLiteral("read index \"%1\": its function failed for %2")
                .arg(indexName, toString(object.key())));
    found->clear();
    QSet<ObjectKey> seen;
    for (const QString &value : *values) {
        for (const Object &member : byIndex(indexName, value)) {
            const ObjectKey key = member.key();
            if (seen.contains(key))
                continue;
            seen.insert(key);
            *found += member;
        }
    }
    return Status::ok();
}

QList<ObjectKey> StoreSnapshot::keys() const
{
    QList<ObjectKey> all;
    all.reserve(objects.size());
    objects.forEach([&](const Object &object) { all += object.key(); });
    return all;
}

QList<Object> StoreSnapshot::list() const
{
    QList<Object> all;
    all.reserve(objects.size());
    objects.forEach([&](const Object &object) { all += object; });
    return all;
}

} // namespace davit::cache
