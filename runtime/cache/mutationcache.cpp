#include "mutationcache.h"

#include "resourceversion.h"

#include <support/moment.h>

namespace davit::cache {

MutationCache::MutationCache(std::shared_ptr<const ThreadSafeStore> store,
    const support::TimeSource &time, Additions additions, std::chrono::nanoseconds timeToLive)
    : m_store(std::move(store)), m_time(time), m_additions(additions), m_timeToLive(timeToLive)
{ }

void MutationCache::mutate(const Object &object)
{
    const std::lock_guard lock(m_mutex);
    const ObjectKey key = object.key();
    drop(key);
    m_entries.push_front({object, support::momentAfter(m_time.monotonic(), m_timeToLive)});
    m_byKey.insert(key, m_entries.begin());
    if (m_byKey.size() > kMaxObjects)
        drop(m_entries.back().object.key());
}

void MutationCache::drop(const ObjectKey &key)
{
    if (const auto found = m_byKey.find(key); found != m_byKey.end()) {
        m_entries.erase(*found);
        m_byKey.erase(found);
    }
}

// What to show in place of `stored`; null: the store is right. Forgets what is of no use any more.
const Object *MutationCache::newest(const ObjectKey &key, const Object &stored)
{
    const auto found = m_byKey.find(key);
    if (found == m_byKey.end())
        return nullptr;
    const Entry &entry = **found;
    const bool isNewer = stored.isNull()
        || compareVersions(entry.object.resourceVersion(), stored.resourceVersion()) > 0;
    if (!isNewer || m_time.monotonic() >= entry.until) {
        drop(key);
        return nullptr;
    }
    return &entry.object;
}

Object MutationCache::find(const ObjectKey &key)
{
    const Object stored = m_store->snapshot()->objects.find(key);
    const std::lock_guard lock(m_mutex);
    if (stored.isNull() && m_additions != Additions::Shown)
        return stored;
    const Object *const newer = newest(key, stored);
    if (!newer)
        return stored;
    m_entries.splice(m_entries.begin(), m_entries, m_byKey.value(key));
    return *newer;
}

QList<Object> MutationCache::byIndex(const QString &indexName, const QString &value)
{
    const std::shared_ptr<const StoreSnapshot> snapshot = m_store->snapshot();
    const IndexValues valuesOf = snapshot->indexFunction(indexName);
    if (!valuesOf)
        return {};
    QList<Object> found = snapshot->byIndex(indexName, value);
    for (const Object &addition : withNewerStates(*snapshot, found)) {
        const std::optional<QStringList> values = valuesOf(addition);
        if (values && values->contains(value))
            found += addition;
    }
    return found;
}

// Puts newer states in place of `found`, and answers what the snapshot does not have.
QList<Object> MutationCache::withNewerStates(const StoreSnapshot &snapshot, QList<Object> &found)
{
    const std::lock_guard lock(m_mutex);
    for (Object &object : found) {
        if (const Object *const newer = newest(object.key(), object))
            object = *newer;
    }
    QList<Object> additions;
    if (m_additions != Additions::Shown)
        return additions;
    for (const ObjectKey &key : m_byKey.keys()) {
        const Object *const addition
            = snapshot.objects.find(key).isNull() ? newest(key, Object()) : nullptr;
        if (addition)
            additions += *addition;
    }
    return additions;
}

} // namespace davit::cache
