// Tries of objects by key: what stores, indexes and temporary lists are made of. An entry is the
// hash of the key and the object's eight-byte handle. Test: tst_threadsafestore.
#pragma once

#include "persistenttrie.h"

#include <davit/objectkey.h>
#include <davit/priv/poolaccess.h>

namespace davit::cache {

struct ObjectEntry
{
    quint64 hash;
    quint64 handle;

    Object object() const { return priv::PoolAccess::share(handle); }
};

// Well mixed, equal within this process only. [thread-safe]
quint64 hashOf(const ObjectKey &key);
quint64 hashOf(QStringView text);

struct CountedEntry
{
    static void retain(const ObjectEntry &entry)
    {
        priv::PoolAccess::release(priv::PoolAccess::share(entry.handle));
    }
    static void release(const ObjectEntry &entry) { priv::PoolAccess::drop(entry.handle); }
};
// For tries beside one that counts the same objects.
struct BorrowedEntry
{
    static void retain(const ObjectEntry &) { }
    static void release(const ObjectEntry &) { }
};
using BorrowedTrie = PersistentTrie<ObjectEntry, BorrowedEntry>;

// A map from key to object that owns its objects. Same threading as PersistentTrie.
class ObjectTrie
{
public:
    // Null when there is none. O(log n). [thread-safe]
    Object find(const ObjectKey &key) const { return find(key, hashOf(key)); }
    Object find(const ObjectKey &key, quint64 hash) const;
    qsizetype size() const noexcept { return m_trie.size(); }
    template <typename F> void forEach(F &&f) const
    {
        m_trie.forEach([&f](const ObjectEntry &entry) { f(entry.object()); });
    }
    // Handles, without touching a count. [thread-safe]
    template <typename F> void forEachEntry(F &&f) const { m_trie.forEach(f); }

    // Returns what was there. [cache-thread]
    Object put(const ObjectKey &key, const Object &object) { return put(key, hashOf(key), object); }
    Object put(const ObjectKey &key, quint64 hash, const Object &object);
    Object remove(const ObjectKey &key) { return remove(key, hashOf(key)); }
    Object remove(const ObjectKey &key, quint64 hash);

private:
    PersistentTrie<ObjectEntry, CountedEntry> m_trie;
};

} // namespace davit::cache
