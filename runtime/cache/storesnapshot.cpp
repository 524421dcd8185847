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

bool StoreSnapshot::hasIndex(const QString &name) const
{
    return name == kNamespaceIndex || index(name);
}

IndexValues StoreSnapshot::indexFunction(const QString &name) const
{
    if (name == kNamespaceIndex)
        return [](const Object &object) { return QStringList{object.namespaceName()}; };
    const StoreIndex *const at = index(name);
    return at ? *at->values : IndexValues();
}

QStringList StoreSnapshot::indexValues(const QString &indexName) const
{
    QStringList values;
    const auto take = [&](const QString &value, const auto &) { values += value; };
    if (indexName == kNamespaceIndex)
        objects.namespaces().forEach(take);
    else if (const StoreIndex *const at = index(indexName))
        at->buckets.forEach(take);
    values.sort();
    return values;
}

QList<Object> StoreSnapshot::byIndex(const QString &indexName, const QString &value) const
{
    QList<Object> found;
    forEachOf(indexName, value, [&](const Object &object) { found += object; });
    return found;
}

Status StoreSnapshot::byIndex(
    const QString &indexName, const QString &value, QList<Object> *found) const
{
    if (!hasIndex(indexName))
        return unknownIndex(indexName);
    *found = byIndex(indexName, value);
    return Status::ok();
}

Status StoreSnapshot::indexKeys(
    const QString &indexName, const QString &value, QStringList *keys) const
{
    if (!hasIndex(indexName))
        return unknownIndex(indexName);
    keys->clear();
    forEachOf(indexName, value, [&](const Object &object) { *keys += toString(object.key()); });
    keys->sort();
    return Status::ok();
}

Status StoreSnapshot::index(
    const QString &indexName, const Object &object, QList<Object> *found) const
{
    const IndexValues valuesOf = indexFunction(indexName);
    if (!valuesOf)
        return unknownIndex(indexName);
    const std::optional<QStringList> values = valuesOf(object);
    if (!values)
        return Status(ErrorCode::PluginFault,
            QStringLiteral("read index \"%1\": its function failed for %2")
                .arg(indexName, toString(object.key())));
    found->clear();
    QSet<ObjectKey> seen;
    for (const QString &value : *values) {
        forEachOf(indexName, value, [&](const Object &member) {
            const ObjectKey key = member.key();
            if (seen.contains(key))
                return;
            seen.insert(key);
            *found += member;
        });
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
