// A map that forgets what was not used for longest. Not thread-safe. Test: tst_pluginevents,
// memoryIsBounded.
#pragma once

#include <QtCore/qhash.h>
#include <list>
#include <unordered_map>

namespace davit::client {

template <typename Value> class RecentMap
{
public:
    explicit RecentMap(size_t capacity) : m_capacity(capacity) { }
    // The value of the key, made when it is new; it becomes the most recent one.
    Value &touch(const QString &key)
    {
        const auto found = m_index.find(key);
        if (found != m_index.end()) {
            m_items.splice(m_items.begin(), m_items, found->second);
            return found->second->second;
        }
        m_items.emplace_front(key, Value());
        m_index.emplace(key, m_items.begin());
        if (m_items.size() > m_capacity) {
            m_index.erase(m_items.back().first);
            m_items.pop_back();
        }
        return m_items.front().second;
    }
    // Null when it is not there; which one is the most recent does not change.
    Value *find(const QString &key)
    {
        const auto found = m_index.find(key);
        return found != m_index.end() ? &found->second->second : nullptr;
    }
    // The one that was not used for longest. The map is not empty.
    const Value &oldest() const { return m_items.back().second; }
    Value takeOldest()
    {
        Value value = std::move(m_items.back().second);
        m_index.erase(m_items.back().first);
        m_items.pop_back();
        return value;
    }
    size_t size() const { return m_items.size(); }
    // Pairs of key and value, the most recent one first.
    auto begin() const { return m_items.begin(); }
    auto end() const { return m_items.end(); }

private:
    struct Hash
    {
        size_t operator()(const QString &key) const { return qHash(key); }
    };
    const size_t m_capacity;
    std::list<std::pair<QString, Value>> m_items;
    std::unordered_map<QString, typename std::list<std::pair<QString, Value>>::iterator, Hash>
        m_index;
};

} // namespace davit::client
