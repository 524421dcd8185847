#include "expirationcache.h"

namespace davit::cache {

ExpirationCache::ExpirationCache(
    const support::TimeSource &time, std::chrono::nanoseconds timeToLive)
    : m_time(time), m_timeToLive(timeToLive)
{ }

bool ExpirationCache::isOver(const Entry &entry) const
{
    return m_time.monotonic() - entry.since > m_timeToLive;
}

void ExpirationCache::put(const Object &object)
{
    const std::lock_guard lock(m_mutex);
    m_entries.insert(object.key(), {object, m_time.monotonic()});
}

void ExpirationCache::remove(const ObjectKey &key)
{
    const std::lock_guard lock(m_mutex);
    m_entries.remove(key);
}

Object ExpirationCache::find(const ObjectKey &key)
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_entries.find(key);
    if (found == m_entries.end())
        return {};
    if (!isOver(*found))
        return found->object;
    m_entries.erase(found);
    return {};
}

QList<Object> ExpirationCache::list()
{
    const std::lock_guard lock(m_mutex);
    m_entries.removeIf([this](const auto &entry) { return isOver(entry.value()); });
    QList<Object> all;
    for (const Entry &entry : std::as_const(m_entries))
        all += entry.object;
    return all;
}

void ExpirationCache::replace(const QList<Object> &objects)
{
    const std::lock_guard lock(m_mutex);
    m_entries.clear();
    for (const Object &object : objects)
        m_entries.insert(object.key(), {object, m_time.monotonic()});
}

} // namespace davit::cache
