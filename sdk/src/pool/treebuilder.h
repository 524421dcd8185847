// Packs one JSON value from the events of a parser, bottom up. Pooled: subtrees from
// kSharedTreeBytes up become blocks of their own. Private: all in one block, nothing shared.
// Not thread-safe; reusable. Test: tst_object, tst_pool.
#pragma once

#include "place.h"

#include <vector>

namespace davit::priv::pool {

constexpr unsigned kMaxDepth = 1024; // of nested arrays and objects
// Tried on recorded data; figures in README.md.
constexpr std::size_t kSharedTreeBytes = 24;
constexpr std::size_t kSharedStringBytes = 12;
// Of a text or message that is kept beside its object, so that the next one can be compared with
// it.
constexpr std::size_t kMaxRememberedBytes = 1 << 18;

enum class Storage : std::uint8_t { Pooled, Private };

class TreeBuilder
{
public:
    explicit TreeBuilder(Storage storage, std::uint8_t account = 0);
    ~TreeBuilder();
    TreeBuilder(const TreeBuilder &) = delete;
    TreeBuilder &operator=(const TreeBuilder &) = delete;

    void startObject();
    // The name of the member whose value comes next; its bytes stay where they are until
    // endObject(). Of equal names the last value counts, in the first one's place.
    void key(std::string_view name);
    // The block that it became, borrowed; 0 when it lies in its parent.
    Ref endObject();
    void startArray();
    Ref endArray();
    void string(std::string_view text);
    void integer(std::int64_t value);
    void unsignedInteger(std::uint64_t value);
    void number(double value);
    void numberText(std::string_view text);
    void boolean(bool value);
    void null();
    // Copies a value from another tree; parts that are pooled already are shared.
    void value(Place place);
    // An object or array that is a block already: endObject() or endArray() told of it. Not the
    // root.
    void block(Ref ref);

    // The handle of the packed tree, owned by the caller; 0 when it is nested too deeply or too
    // large (error() says so). reset() before the next tree.
    std::uint64_t finish();
    void reset();
    // Null when all is well.
    const char *error() const { return m_error; }
    // Whether an object had a name twice, since the last reset().
    bool hasDroppedMembers() const { return m_hasDropped; }

private:
    struct Member
    {
        std::string_view name;
        std::uint32_t start; // of its packed bytes; private: of the name before the value
    };
    struct Frame
    {
        std::uint32_t start; // of the container in m_out
        std::uint32_t members; // first in m_members
        std::uint32_t count;
        bool isObject;
    };
    // Objects of one kind have the same names over and over: their shape is found without
    // interning each name. An entry holds a count.
    struct CachedShape
    {
        std::uint64_t hash = 0;
        Ref shape = 0;
    };
    static constexpr std::size_t kCachedShapes = 256;
    static constexpr std::uint32_t kMaxCachedNames = 64;
    bool isPooled() const { return m_storage == Storage::Pooled; }
    void start(bool isObject);
    Ref end(Ref names);
    Ref cachedShape(const Frame &frame, std::uint64_t *hash);
    Ref internShape(const Frame &frame, std::uint64_t hash);
    Ref nameOrShape(Frame &frame);
    Ref endPooled(const Frame &frame, Ref names);
    void endPrivate(const Frame &frame);
    void beforeValue();
    void put(std::uint8_t byte) { m_out.push_back(byte); }
    void putBytes(const void *bytes, std::size_t size);
    void putUnsigned(std::uint8_t firstTag, std::uint64_t magnitude);
    void putRef(std::uint8_t tag, Ref ref);
    bool putSplit(std::string_view text);
    void copyContainer(Place place);
    void dropRepeatedNames(Frame &frame);
    std::vector<std::uint32_t> winners(const Frame &frame) const;
    void releaseRefs(std::size_t from, std::size_t to);
    void fail(const char *error);
    void clear();

    std::vector<std::uint8_t> m_out;
    std::vector<Member> m_members;
    std::vector<Frame> m_frames;
    std::vector<Ref> m_shape;
    std::vector<CachedShape> m_cache; // kCachedShapes of them once the first is known
    const char *m_error = nullptr;
    bool m_hasDropped = false;
    const Storage m_storage;
    const std::uint8_t m_account;
};

} // namespace davit::priv::pool
