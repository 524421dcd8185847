// A persistent hash trie: copies share their nodes, a change copies the path to it and nothing
// else. Contract:
//   - Node counts are plain integers: one thread changes and frees tries (the resource's strand).
//     Any thread may read a trie whose nodes it keeps alive by holding the root that owns it.
//   - A node that nothing else holds is changed in place, so a batch costs no more than it touches.
//   - An entry is a small trivially copyable struct with a member `hash`; Traits::retain and
//     Traits::release count what it points at.
// Shape: 32-way, entries and children of a node in two dense arrays behind two bitmaps; entries
// whose 64 bits of hash are equal lie side by side in a node below the last level.
// Source: Steindorfer and Vinju, "Optimizing Hash-Array Mapped Tries" (CHAMP). Test:
// tst_threadsafestore.
#pragma once

#include <QtCore/qglobal.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace davit::cache {

template <typename Entry, typename Traits> class PersistentTrie
{
    static_assert(std::is_trivially_copyable_v<Entry>);

public:
    PersistentTrie() = default;
    PersistentTrie(const PersistentTrie &other) noexcept
        : m_root(other.m_root), m_size(other.m_size)
    {
        if (m_root)
            ++m_root->refs;
    }
    PersistentTrie(PersistentTrie &&other) noexcept
        : m_root(std::exchange(other.m_root, nullptr)), m_size(std::exchange(other.m_size, 0))
    { }
    PersistentTrie &operator=(PersistentTrie other) noexcept
    {
        std::swap(m_root, other.m_root);
        std::swap(m_size, other.m_size);
        return *this;
    }
    ~PersistentTrie() { release(m_root, 0); }

    // Number of entries. O(1). [thread-safe]
    qsizetype size() const noexcept { return m_size; }
    bool isEmpty() const noexcept { return m_size == 0; }

    // The entry of that hash for which match(entry) holds, or null. O(log n). [thread-safe]
    template <typename Match> const Entry *find(quint64 hash, Match &&match) const
    {
        const Node *node = m_root;
        for (int shift = 0; node; shift += kBits) {
            if (shift > kLastShift) {
                const Entry *const end = node->entries() + node->entryMap;
                const Entry *const at = std::find_if(node->entries(), end, match);
                return at == end ? nullptr : at;
            }
            const quint32 bit = bitOf(hash, shift);
            if (node->entryMap & bit) {
                const Entry &entry = node->entries()[indexOf(node->entryMap, bit)];
                return entry.hash == hash && match(entry) ? &entry : nullptr;
            }
            if (!(node->nodeMap & bit))
                return nullptr;
            node = node->children(shift)[indexOf(node->nodeMap, bit)];
        }
        return nullptr;
    }

    // Calls f(entry) for each, in no particular order. O(n). [thread-safe]
    template <typename F> void forEach(F &&f) const { visit(m_root, 0, f); }

    // As find(), for a change in place: nothing but this trie sees it. The hash must stay.
    // [cache-thread]
    template <typename Match> Entry *edit(quint64 hash, Match &&match)
    {
        if (!find(hash, match))
            return nullptr;
        Node **link = &m_root;
        for (int shift = 0;; shift += kBits) {
            Node *const node = *link = own(*link, shift);
            if (shift > kLastShift)
                return std::find_if(node->entries(), node->entries() + node->entryMap, match);
            const quint32 bit = bitOf(hash, shift);
            if (node->entryMap & bit)
                return &node->entries()[indexOf(node->entryMap, bit)];
            link = &node->children(shift)[indexOf(node->nodeMap, bit)];
        }
    }

    // Puts an entry in that is not there yet; takes the entry's count over. O(log n).
    // [cache-thread]
    void insert(const Entry &entry)
    {
        m_root = m_root ? insertInto(m_root, 0, entry) : single(0, entry);
        ++m_size;
    }

    // Takes the entry out and gives its count to the caller. O(log n). [cache-thread]
    template <typename Match> std::optional<Entry> take(quint64 hash, Match &&match)
    {
        const Entry *const found = find(hash, match);
        if (!found)
            return std::nullopt;
        const Entry taken = *found;
        m_root = takeFrom(m_root, 0, hash, match);
        --m_size;
        return taken;
    }

private:
    static constexpr int kBits = 5;
    static constexpr int kLastShift = 60; // 13 levels; below them lie the collisions

    struct Node
    {
        quint32 refs;
        quint32 entryMap; // below the last level: the number of entries
        quint32 nodeMap;
        quint32 reserved;

        Entry *entries() { return reinterpret_cast<Entry *>(this + 1); }
        const Entry *entries() const { return reinterpret_cast<const Entry *>(this + 1); }
        int entryCount(int shift) const
        {
            return shift > kLastShift ? int(entryMap) : __builtin_popcount(entryMap);
        }
        int childCount() const { return __builtin_popcount(nodeMap); }
        Node **children(int shift)
        {
            return reinterpret_cast<Node **>(entries() + entryCount(shift));
        }
        Node *const *children(int shift) const
        {
            return reinterpret_cast<Node *const *>(entries() + entryCount(shift));
        }
    };
    static_assert(alignof(Entry) <= alignof(Node *) && sizeof(Entry) % alignof(Node *) == 0);

    static quint32 bitOf(quint64 hash, int shift) { return quint32(1) << ((hash >> shift) & 31); }
    static int indexOf(quint32 map, quint32 bit) { return __builtin_popcount(map & (bit - 1)); }

    static Node *allocate(int entries, int children)
    {
        void *const memory = std::malloc(sizeof(Node) + std::size_t(entries) * sizeof(Entry)
            + std::size_t(children) * sizeof(Node *));
        if (!memory)
            qFatal("out of memory in the store");
        return new (memory) Node{1, 0, 0, 0};
    }

    static Node *single(int shift, const Entry &entry)
    {
        Node *const node = allocate(1, 0);
        node->entryMap = shift > kLastShift ? 1 : bitOf(entry.hash, shift);
        node->entries()[0] = entry;
        return node;
    }

    // A node of another form with entries and children copied around the gaps; uses up one count of
    // `from`. `entryAt` and `childAt` are positions; the change there is +1, 0 or -1.
    static Node *reshaped(
        Node *from, int shift, int entryAt, int entryDelta, int childAt, int childDelta)
    {
        const int entries = from->entryCount(shift);
        const int children = from->childCount();
        Node *const node = allocate(entries + entryDelta, children + childDelta);
        node->entryMap = from->entryMap;
        node->nodeMap = from->nodeMap;
        copyAround(node->entries(), from->entries(), entries, entryAt, entryDelta);
        Node **const to = reinterpret_cast<Node **>(node->entries() + entries + entryDelta);
        copyAround(to, from->children(shift), children, childAt, childDelta);
        if (from->refs == 1) {
            std::free(from); // its counts moved over
            return node;
        }
        --from->refs;
        for (int i = 0; i < entries; ++i) {
            if (entryDelta >= 0 || i != entryAt)
                Traits::retain(from->entries()[i]);
        }
        for (int i = 0; i < children; ++i) {
            if (childDelta >= 0 || i != childAt)
                ++from->children(shift)[i]->refs;
        }
        return node;
    }

    template <typename T> static void copyAround(T *to, const T *from, int count, int at, int delta)
    {
        if (count == 0)
            return;
        if (delta == 0) {
            std::memcpy(to, from, std::size_t(count) * sizeof(T));
            return;
        }
        std::memcpy(to, from, std::size_t(at) * sizeof(T));
        const int skip = delta < 0 ? 1 : 0;
        std::memcpy(to + at + (delta > 0 ? 1 : 0), from + at + skip,
            std::size_t(count - at - skip) * sizeof(T));
    }

    static Node *own(Node *node, int shift)
    {
        return node->refs == 1 ? node : reshaped(node, shift, 0, 0, 0, 0);
    }

    static Node *insertInto(Node *node, int shift, const Entry &entry)
    {
        if (shift > kLastShift) {
            const int at = int(node->entryMap);
            Node *const grown = reshaped(node, shift, at, 1, 0, 0);
            grown->entries()[at] = entry;
            ++grown->entryMap;
            return grown;
        }
        const quint32 bit = bitOf(entry.hash, shift);
        if (node->nodeMap & bit) {
            Node *const mine = own(node, shift);
            Node *&child = mine->children(shift)[indexOf(mine->nodeMap, bit)];
            child = insertInto(child, shift + kBits, entry);
            return mine;
        }
        const int at = indexOf(node->entryMap, bit);
        if (!(node->entryMap & bit)) {
            Node *const grown = reshaped(node, shift, at, 1, 0, 0);
            grown->entries()[at] = entry;
            grown->entryMap |= bit;
            return grown;
        }
        // The place is taken: both move one level down.
        const Entry other = node->entries()[at];
        const bool isShared = node->refs > 1;
        const int childAt = indexOf(node->nodeMap, bit);
        Node *const split = reshaped(node, shift, at, -1, childAt, 1);
        if (isShared)
            Traits::retain(other);
        split->entryMap &= ~bit;
        split->nodeMap |= bit;
        split->children(shift)[childAt]
            = insertInto(single(shift + kBits, other), shift + kBits, entry);
        return split;
    }

    // The entry is there. Its count goes to the caller. Null when the node became empty.
    template <typename Match>
    static Node *takeFrom(Node *node, int shift, quint64 hash, Match &match)
    {
        if (shift > kLastShift) {
            const Entry *const at
                = std::find_if(node->entries(), node->entries() + node->entryMap, match);
            return withoutEntry(node, shift, int(at - node->entries()), 0);
        }
        const quint32 bit = bitOf(hash, shift);
        if (node->entryMap & bit)
            return withoutEntry(node, shift, indexOf(node->entryMap, bit), bit);
        Node *const mine = own(node, shift);
        const int childAt = indexOf(mine->nodeMap, bit);
        Node *const child = takeFrom(mine->children(shift)[childAt], shift + kBits, hash, match);
        if (child && (child->nodeMap || child->entryCount(shift + kBits) > 1)) {
            mine->children(shift)[childAt] = child;
            return mine;
        }
        // A child of one entry moves up, so that equal contents have equal form.
        const int entryAt = indexOf(mine->entryMap, bit);
        Node *const shrunk = reshaped(mine, shift, entryAt, child ? 1 : 0, childAt, -1);
        shrunk->nodeMap &= ~bit;
        if (child) {
            const Entry entry = child->entries()[0];
            if (child->refs > 1)
                Traits::retain(entry);
            shrunk->entries()[entryAt] = entry;
            shrunk->entryMap |= bit;
            if (--child->refs == 0)
                std::free(child);
        }
        if (shrunk->entryMap || shrunk->nodeMap)
            return shrunk;
        std::free(shrunk);
        return nullptr;
    }

    static Node *withoutEntry(Node *node, int shift, int at, quint32 bit)
    {
        const Entry entry = node->entries()[at];
        const bool isShared = node->refs > 1;
        Node *const rest = reshaped(node, shift, at, -1, 0, 0);
        if (isShared)
            Traits::retain(entry); // for the caller: the other holders keep theirs
        if (shift > kLastShift)
            --rest->entryMap;
        else
            rest->entryMap &= ~bit;
        if (rest->entryMap || rest->nodeMap)
            return rest;
        std::free(rest);
        return nullptr;
    }

    template <typename F> static void visit(const Node *node, int shift, F &f)
    {
        if (!node)
            return;
        const int entries = node->entryCount(shift);
        for (int i = 0; i < entries; ++i)
            f(node->entries()[i]);
        for (int i = 0; i < node->childCount(); ++i)
            visit(node->children(shift)[i], shift + kBits, f);
    }

    static void release(Node *node, int shift)
    {
        if (!node || --node->refs > 0)
            return;
        const int entries = node->entryCount(shift);
        for (int i = 0; i < entries; ++i)
            Traits::release(node->entries()[i]);
        for (int i = 0; i < node->childCount(); ++i)
            release(node->children(shift)[i], shift + kBits);
        std::free(node);
    }

    Node *m_root = nullptr;
    qsizetype m_size = 0;
};

} // namespace davit::cache
