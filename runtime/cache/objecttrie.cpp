#include "objecttrie.h"

namespace davit::cache {
namespace {

auto hasKey(const ObjectKey &key)
{
    return [&key](const ObjectEntry &entry) { return priv::PoolAccess::hasKey(entry.handle, key); };
}

// Every bit of the result depends on every bit of the hash: the trie eats it five bits at a time.
quint64 mixed(quint64 hash)
{
    hash ^= hash >> 33;
    hash *= Q_UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 33;
    hash *= Q_UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ (hash >> 33);
}

// Names come from the network: nobody outside may know where they collide.
size_t processSeed()
{
    static const size_t seed = QHashSeed::globalSeed();
    return seed;
}

} // namespace

quint64 hashOf(const ObjectKey &key)
{
    return mixed(qHash(key, processSeed()));
}

quint64 hashOf(QStringView text)
{
    return mixed(qHash(text, processSeed()));
}

Object ObjectTrie::find(const ObjectKey &key, quint64 hash) const
{
    const Members *const members = m_namespaces.find(key.namespaceName);
    const ObjectEntry *const entry = members ? members->find(hash, hasKey(key)) : nullptr;
    return entry ? entry->object() : Object();
}

Object ObjectTrie::put(const ObjectKey &key, quint64 hash, const Object &object)
{
    const quint64 handle = priv::PoolAccess::release(Object(object));
    Members &members = m_namespaces.own(key.namespaceName);
    if (ObjectEntry *const there = members.edit(hash, hasKey(key)))
        return priv::PoolAccess::adopt(std::exchange(there->handle, handle));
    members.insert({hash, handle});
    ++m_size;
    return {};
}

Object ObjectTrie::remove(const ObjectKey &key, quint64 hash)
{
    const Members *const there = m_namespaces.find(key.namespaceName);
    if (!there || !there->find(hash, hasKey(key)))
        return {};
    const bool isLast = there->size() == 1;
    const auto taken = m_namespaces.own(key.namespaceName).take(hash, hasKey(key));
    if (isLast)
        m_namespaces.drop(key.namespaceName);
    --m_size;
    return priv::PoolAccess::adopt(taken->handle);
}

} // namespace davit::cache
