// The tables of the queues. A key's hash is counted once an operation, before the queue locks: a
// look-up takes a SoughtKey, which copies nothing, and what is stored keeps the hash.
//   - HashedKey shares the texts of the key that came in: quick to hand out.
//   - PackedKey has them in one block of its own: small, for many keys that wait long.
// Test: tst_priorityqueue, packedKeys.
#pragma once

#include "workkey.h"

#include <unordered_map>

namespace davit::workqueue {

// A key to look for; `key` outlives it.
struct SoughtKey
{
    explicit SoughtKey(const WorkKey &sought) : key(sought), hash(qHash(sought)) { }

    const WorkKey &key;
    const size_t hash;
};

struct HashedKey
{
    explicit HashedKey(const SoughtKey &sought) : key(sought.key), hash(sought.hash) { }

    WorkKey key;
    size_t hash;
};
inline bool operator==(const HashedKey &a, const HashedKey &b)
{
    return a.hash == b.hash && a.key == b.key;
}
inline bool operator==(const HashedKey &a, const SoughtKey &b)
{
    return a.hash == b.hash && a.key == b.key;
}

struct PackedKey
{
    explicit PackedKey(const SoughtKey &sought);
    WorkKey unpacked() const;

    QString text; // namespace, name, cluster
    quint32 namespaceSize;
    quint32 nameSize;
    size_t hash;
};
bool operator==(const PackedKey &a, const PackedKey &b);
bool operator==(const PackedKey &a, const SoughtKey &b);

struct StoredHash
{
    using is_transparent = void;
    template <typename Key> size_t operator()(const Key &key) const noexcept { return key.hash; }
};

// A value stays where it is until it is erased or extracted.
template <typename Key, typename Entry>
using KeyTable = std::unordered_map<Key, Entry, StoredHash, std::equal_to<>>;

} // namespace davit::workqueue
