// Read your own writes: what a controller wrote shows at once, until the watch brings it or
// something newer. An overlay on a store's published state. Contract:
//   - Of overlay and store the newer version shows, where versions can be compared; else the
//   store's.
//   - At most kMaxObjects, the least recently used go first; after the time to live the store alone
//   counts.
//   - Objects that the store does not have (yet) show when asked for, in index look-ups too.
// Source: BEHAVIOURS.md (S-12). Test: tst_othercaches.
#pragma once

#include "threadsafestore.h"

#include <support/timesource.h>

#include <list>

namespace davit::cache {

class MutationCache
{
public:
    static constexpr qsizetype kMaxObjects = 100;
    enum class Additions : quint8 { Unset = 0, Hidden, Shown };

    // `time` outlives the cache.
    MutationCache(std::shared_ptr<const ThreadSafeStore> store, const support::TimeSource &time,
        Additions additions, std::chrono::nanoseconds timeToLive = std::chrono::minutes(5));

    // The server's answer to a write. [thread-safe]
    void mutate(const Object &object);
    // Null when there is none. [thread-safe]
    Object find(const ObjectKey &key);
    // Objects of one value; the store's with their newer states, then additions for which the index
    // gives that value. Empty for an unknown index. [thread-safe]
    QList<Object> byIndex(const QString &indexName, const QString &value);

private:
    struct Entry
    {
        Object object;
        std::chrono::nanoseconds until;
    };
    using Entries = std::list<Entry>;

    const Object *newest(const ObjectKey &key, const Object &stored);
    void drop(const ObjectKey &key);
    QList<Object> withNewerStates(const StoreSnapshot &snapshot, QList<Object> &found);

    const std::shared_ptr<const ThreadSafeStore> m_store;
    const support::TimeSource &m_time;
    const Additions m_additions;
    const std::chrono::nanoseconds m_timeToLive;
    std::mutex m_mutex;
    Entries m_entries; // most recently used first; GUARDED_BY(m_mutex)
    QHash<ObjectKey, Entries::iterator> m_byKey; // GUARDED_BY(m_mutex)
};

} // namespace davit::cache
