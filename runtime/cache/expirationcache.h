// Objects that are forgotten some time after they were put in. Contract:
//   - What is older than the time to live is gone, and is freed when somebody asks for it or for
//   all (lazily, no timer).
//   - Putting an object in again begins its time anew.
// Source: BEHAVIOURS.md (S-13). Test: tst_othercaches.
#pragma once

#include <davit/object.h>
#include <davit/objectkey.h>
#include <support/timesource.h>

#include <QtCore/qhash.h>
#include <QtCore/qlist.h>
#include <mutex>

namespace davit::cache {

class ExpirationCache
{
public:
    // `time` outlives the cache.
    ExpirationCache(const support::TimeSource &time, std::chrono::nanoseconds timeToLive);

    void put(const Object &object); // [thread-safe]
    void remove(const ObjectKey &key); // [thread-safe]
    // Null when there is none (any more). [thread-safe]
    Object find(const ObjectKey &key);
    QList<Object> list(); // [thread-safe]
    // Forgets what was there. [thread-safe]
    void replace(const QList<Object> &objects);

private:
    struct Entry
    {
        Object object;
        std::chrono::nanoseconds since;
    };
    bool isOver(const Entry &entry) const;

    const support::TimeSource &m_time;
    const std::chrono::nanoseconds m_timeToLive;
    std::mutex m_mutex;
    QHash<ObjectKey, Entry> m_entries; // GUARDED_BY(m_mutex)
};

} // namespace davit::cache
