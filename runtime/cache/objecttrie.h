// Tries of objects by key: what stores, indexes and temporary lists are made of. An entry is the
// hash of the key and the object's eight-byte handle. Objects lie by namespace, so that a list of
// one namespace needs no index beside them. Test: tst_threadsafestore.
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

// Entries by a text: a namespace, or a value of an index. No bucket is empty (B26). Same threading
// as PersistentTrie.
template <typename Members> class BucketTrie
{
public:
    // Null when there is no bucket of that value. O(log n). [thread-safe]
    const Members *find(const QString &value) const
    {
        const Entry *const entry = m_trie.find(hashOf(value), hasValue(value));
        return entry ? &entry->bucket->members : nullptr;
    }
    // f(value, members) for each, in no particular order. [thread-safe]
    template <typename F> void forEach(F &&f) const
    {
        m_trie.forEach([&f](const Entry &entry) {
            f(std::as_const(entry.bucket->value), std::as_const(entry.bucket->members));
        });
    }

    // The members for a change in place, which nothing but this trie sees; a new bucket if there is
    // none: whoever asks puts an entry in. [cache-thread]
    Members &own(const QString &value)
    {
        const quint64 hash = hashOf(value);
        Entry *place = m_trie.edit(hash, hasValue(value));
        if (!place) {
            m_trie.insert({hash, new Bucket{1, value, {}}});
            place = m_trie.edit(hash, hasValue(value));
        }
        if (place->bucket->refs > 1) {
            --place->bucket->refs;
            place->bucket = new Bucket{1, place->bucket->value, place->bucket->members};
        }
        return place->bucket->members;
    }
    // The bucket is there and goes, with what it counts. [cache-thread]
    void drop(const QString &value)
    {
        Counting::release(*m_trie.take(hashOf(value), hasValue(value)));
    }

private:
    struct Bucket
    {
        quint32 refs;
        QString value;
        Members members;
    };
    struct Entry
    {
        quint64 hash;
        Bucket *bucket;
    };
    struct Counting
    {
        static void retain(const Entry &entry) { ++entry.bucket->refs; }
        static void release(const Entry &entry)
        {
            if (--entry.bucket->refs == 0)
                delete entry.bucket;
        }
    };
    static auto hasValue(const QString &value)
    {
        return [&value](const Entry &entry) { return entry.bucket->value == value; };
    }

    PersistentTrie<Entry, Counting> m_trie;
};

// A map from key to object that owns its objects. Same threading as PersistentTrie.
class ObjectTrie
{
public:
    using Members = PersistentTrie<ObjectEntry, CountedEntry>;

    // Null when there is none. O(log n). [thread-safe]
    Object find(const ObjectKey &key) const { return find(key, hashOf(key)); }
    Object find(const ObjectKey &key, quint64 hash) const;
    qsizetype size() const noexcept { return m_size; }
    template <typename F> void forEach(F &&f) const
    {
        forEachEntry([&f](const ObjectEntry &entry) { f(entry.object()); });
    }
    // Handles, without touching a count. [thread-safe]
    template <typename F> void forEachEntry(F &&f) const
    {
        m_namespaces.forEach([&f](const QString &, const Members &members) { members.forEach(f); });
    }
    // By namespace; "" for cluster scope. [thread-safe]
    const BucketTrie<Members> &namespaces() const { return m_namespaces; }

    // Returns what was there. [cache-thread]
    Object put(const ObjectKey &key, const Object &object) { return put(key, hashOf(key), object); }
    Object put(const ObjectKey &key, quint64 hash, const Object &object);
    Object remove(const ObjectKey &key) { return remove(key, hashOf(key)); }
    Object remove(const ObjectKey &key, quint64 hash);

private:
    BucketTrie<Members> m_namespaces;
    qsizetype m_size = 0;
};

} // namespace davit::cache
