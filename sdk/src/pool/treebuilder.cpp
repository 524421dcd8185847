// Packing trees.
#include "treebuilder.h"

#include "handle.h"
#include "packedstring.h"
#include "pool.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace davit::priv::pool {
namespace {

constexpr const char *kTooDeep = "nested deeper than 1024 levels";
constexpr const char *kTooLarge = "larger than 16 MiB when packed";
constexpr const char *kNoMemory = "no memory left for it";

// Room for a container's head, left free while its content is written: tag, then varints of four
// bytes for size and count (private), or tag, varint, reference or count (pooled).
constexpr std::size_t kHeadRoom = 9;
constexpr std::size_t kMinPrefixedHexChars = 24;

std::size_t varintSize(std::uint32_t value)
{
    std::size_t size = 1;
    for (; value >= 0x80; value >>= 7)
        ++size;
    return size;
}

std::uint8_t *writeVarint(std::uint8_t *p, std::uint32_t value)
{
    for (; value >= 0x80; value >>= 7)
        *p++ = std::uint8_t(value | 0x80U);
    *p++ = std::uint8_t(value);
    return p;
}

// First and last bytes of a name; loads of a fixed size, which are no calls.
std::uint64_t endsOf(std::string_view name)
{
    const char *const first = name.data();
    const char *const last = first + name.size();
    if (name.size() >= 8)
        return readPlain<std::uint64_t>(first) ^ (readPlain<std::uint64_t>(last - 8) << 7);
    if (name.size() >= 4)
        return readPlain<std::uint32_t>(first)
            | std::uint64_t(readPlain<std::uint32_t>(last - 4)) << 32;
    if (name.empty())
        return 0;
    return std::uint8_t(*first) | unsigned(std::uint8_t(first[name.size() / 2])) << 8
        | unsigned(std::uint8_t(last[-1])) << 16;
}

std::uint8_t *writePaddedVarint(std::uint8_t *p, std::uint32_t value)
{
    for (int i = 0; i < 3; ++i, value >>= 7)
        *p++ = std::uint8_t(value | 0x80U);
    *p++ = std::uint8_t(value & 0x7fU);
    return p;
}

} // namespace

void releasePrivate(PrivateBlock *block) noexcept
{
    if (block->count.fetch_sub(1, std::memory_order_acq_rel) == 1)
        std::free(block);
}

TreeBuilder::TreeBuilder(Storage storage, std::uint8_t account)
    : m_storage(storage), m_account(account)
{ }

TreeBuilder::~TreeBuilder()
{
    clear();
    for (const CachedShape &entry : m_cache) {
        if (entry.shape != 0)
            releaseBlock(entry.shape);
    }
}

void TreeBuilder::fail(const char *error)
{
    if (m_error == nullptr)
        m_error = error;
}

void TreeBuilder::putBytes(const void *bytes, std::size_t size)
{
    const auto *first = static_cast<const std::uint8_t *>(bytes);
    m_out.insert(m_out.end(), first, first + size);
}

void TreeBuilder::putRef(std::uint8_t tag, Ref ref)
{
    if (ref == 0) {
        fail(kNoMemory);
        put(TagNull);
        return;
    }
    put(tag);
    putBytes(&ref, sizeof ref);
}

void TreeBuilder::beforeValue()
{
    if (!m_frames.empty() && !m_frames.back().isObject)
        ++m_frames.back().count;
}

void TreeBuilder::start(bool isObject)
{
    beforeValue();
    if (m_frames.size() == kMaxDepth)
        fail(kTooDeep);
    m_frames.push_back({std::uint32_t(m_out.size()), std::uint32_t(m_members.size()), 0, isObject});
    m_out.resize(m_out.size() + kHeadRoom, TagNull);
}

void TreeBuilder::startObject()
{
    start(true);
}

void TreeBuilder::startArray()
{
    start(false);
}

void TreeBuilder::key(std::string_view name)
{
    Frame &frame = m_frames.back();
    ++frame.count;
    m_members.push_back({name, std::uint32_t(m_out.size())});
    if (isPooled())
        return;
    std::uint8_t head[5];
    putBytes(head, std::size_t(writeVarint(head, std::uint32_t(name.size())) - head));
    putBytes(name.data(), name.size());
}

Ref TreeBuilder::endObject()
{
    Frame &frame = m_frames.back();
    Ref names = 0;
    if (isPooled())
        names = nameOrShape(frame);
    else
        dropRepeatedNames(frame);
    return end(names);
}

Ref TreeBuilder::endArray()
{
    return end(0);
}

Ref TreeBuilder::end(Ref names)
{
    Ref block = 0;
    const Frame frame = m_frames.back();
    m_frames.pop_back();
    if (m_out.size() - frame.start > kMaxBlockBytes)
        fail(kTooLarge);
    if (frame.count == 0) {
        m_out.resize(frame.start);
        put(frame.isObject ? TagEmptyObject : TagEmptyArray);
    } else if (isPooled()) {
        block = endPooled(frame, names);
    } else {
        endPrivate(frame);
    }
    m_members.resize(frame.members);
    return block;
}

void TreeBuilder::endPrivate(const Frame &frame)
{
    const std::size_t bytes = m_out.size() - frame.start - 5; // behind the first varint
    std::uint8_t *p = m_out.data() + frame.start;
    *p++ = frame.isObject ? TagObjectInline : TagArray;
    p = writePaddedVarint(p, std::uint32_t(bytes));
    writePaddedVarint(p, frame.count);
}

// The reference that tells an object's names: of the only one, or of a shape; 0 for an empty object
// and on failure. The caller owns a count.
Ref TreeBuilder::nameOrShape(Frame &frame)
{
    std::uint64_t hash = 0;
    Ref ref = frame.count > 1 ? cachedShape(frame, &hash) : 0;
    if (ref != 0)
        return ref;
    dropRepeatedNames(frame);
    if (frame.count == 0)
        return 0;
    ref = frame.count == 1 ? internText(m_members[frame.members].name, m_account)
                           : internShape(frame, hash);
    if (ref == 0)
        fail(kNoMemory);
    return ref;
}

// A shape has no name twice, so a hit also says that the names differ.
Ref TreeBuilder::cachedShape(const Frame &frame, std::uint64_t *hash)
{
    const Member *const members = m_members.data() + frame.members;
    std::uint64_t sum = frame.count;
    for (std::uint32_t i = 0; i < frame.count; ++i) {
        const std::string_view name = members[i].name;
        sum = (sum ^ endsOf(name) ^ name.size()) * 0x9e3779b97f4a7c15U;
        sum ^= sum >> 29;
    }
    *hash = sum;
    if (m_cache.empty())
        return 0;
    const CachedShape &entry = m_cache[sum % kCachedShapes];
    if (entry.shape == 0 || entry.hash != sum)
        return 0;
    const Block *shape = blockAt(entry.shape);
    if (shape->size() != frame.count * sizeof(Ref))
        return 0;
    for (std::uint32_t i = 0; i < frame.count; ++i) {
        if (blockAt(readRef(shape->content() + i * sizeof(Ref)))->text() != members[i].name)
            return 0;
    }
    retainBlock(entry.shape);
    return entry.shape;
}

Ref TreeBuilder::internShape(const Frame &frame, std::uint64_t hash)
{
    m_shape.clear();
    for (std::size_t i = frame.members; i < m_members.size(); ++i) {
        const Ref name = internText(m_members[i].name, m_account);
        if (name == 0) {
            std::for_each(m_shape.begin(), m_shape.end(), releaseBlock);
            return 0;
        }
        m_shape.push_back(name);
    }
    const Ref shape
        = intern(BlockKind::Shape, reinterpret_cast<const std::uint8_t *>(m_shape.data()),
            m_shape.size() * sizeof(Ref), m_account);
    if (shape == 0 || m_shape.size() > kMaxCachedNames)
        return shape;
    m_cache.resize(kCachedShapes);
    CachedShape &entry = m_cache[hash % kCachedShapes];
    if (entry.shape != 0)
        releaseBlock(entry.shape);
    retainBlock(shape);
    entry = {hash, shape};
    return shape;
}

Ref TreeBuilder::endPooled(const Frame &frame, Ref names)
{
    const std::size_t values = m_out.size() - frame.start - kHeadRoom;
    std::uint8_t tag = TagArray;
    std::size_t fixed = varintSize(frame.count);
    if (frame.isObject) {
        tag = frame.count == 1 ? TagObjectOne : TagObjectShape;
        fixed = sizeof(Ref);
    }
    const auto bytes = std::uint32_t(values + fixed);
    const std::size_t head = 1 + varintSize(bytes) + fixed;
    const std::size_t total = head + values;
    std::uint8_t *const first = m_out.data() + frame.start + kHeadRoom - head;
    *first = tag;
    std::uint8_t *p = writeVarint(first + 1, bytes);
    if (frame.isObject)
        std::memcpy(p, &names, sizeof names);
    else
        writeVarint(p, frame.count);
    if (m_error != nullptr) { // the tree will not be used; let go of what it holds
        releaseRefs(frame.start + kHeadRoom, m_out.size());
        if (names != 0)
            releaseBlock(names);
        m_out.resize(frame.start);
        put(TagNull);
        return 0;
    }
    if (total >= kSharedTreeBytes || m_frames.empty()) {
        const Ref ref = intern(BlockKind::Tree, first, total, m_account);
        m_out.resize(frame.start);
        putRef(frame.isObject ? TagObjectRef : TagArrayRef, ref);
        return ref;
    }
    std::memmove(m_out.data() + frame.start, first, total);
    m_out.resize(frame.start + total);
    return 0;
}

void TreeBuilder::string(std::string_view text)
{
    beforeValue();
    std::uint8_t packed[kMaxPackedBytes];
    if (const std::size_t size = packString(text, packed)) {
        putBytes(packed, size);
        return;
    }
    if (isPooled() && text.size() >= kSharedStringBytes) {
        if (!putSplit(text))
            putRef(TagStringRef, internText(text, m_account));
        return;
    }
    if (text.size() < TagNull - TagShortString) {
        put(std::uint8_t(TagShortString + text.size()));
    } else {
        if (text.size() > kMaxBlockBytes)
            fail(kTooLarge);
        std::uint8_t head[5];
        put(TagStringLong);
        putBytes(head, std::size_t(writeVarint(head, std::uint32_t(text.size())) - head));
    }
    putBytes(text.data(), text.size());
}

// What has a shared front and an end of its own: digests, container ids, generated names.
bool TreeBuilder::putSplit(std::string_view text)
{
    std::uint8_t bytes[256];
    const std::size_t hex = trailingHex(text);
    const bool isHex = hex >= kMinPrefixedHexChars && hex < text.size();
    const std::size_t size = isHex ? hex : generatedSuffix(text);
    if (size == 0)
        return false;
    const Ref front = internText(text.substr(0, text.size() - size), m_account);
    putRef(isHex ? TagPrefixHex : TagPrefixString, front);
    if (front == 0)
        return true;
    const std::string_view end = text.substr(text.size() - size);
    if (isHex)
        packHex(end, bytes);
    const std::size_t stored = isHex ? size / 2 : size;
    put(std::uint8_t(stored));
    putBytes(isHex ? bytes : reinterpret_cast<const std::uint8_t *>(end.data()), stored);
    return true;
}

void TreeBuilder::putUnsigned(std::uint8_t firstTag, std::uint64_t magnitude)
{
    unsigned step = 3;
    if (magnitude <= 0xff)
        step = 0;
    else if (magnitude <= 0xffff)
        step = 1;
    else if (magnitude <= 0xffffffffU)
        step = 2;
    put(std::uint8_t(firstTag + step));
    putBytes(&magnitude, std::size_t(1) << step); // little-endian
}

void TreeBuilder::integer(std::int64_t value)
{
    if (value >= 0) {
        unsignedInteger(std::uint64_t(value));
        return;
    }
    beforeValue();
    putUnsigned(TagNegative8, std::uint64_t(-1 - value));
}

void TreeBuilder::unsignedInteger(std::uint64_t value)
{
    beforeValue();
    if (value < TagShortString)
        put(std::uint8_t(value));
    else
        putUnsigned(TagUInt8, value);
}

void TreeBuilder::number(double value)
{
    beforeValue();
    put(TagDouble);
    putBytes(&value, sizeof value);
}

void TreeBuilder::numberText(std::string_view text)
{
    beforeValue();
    std::uint8_t head[5];
    put(TagNumberText);
    putBytes(head, std::size_t(writeVarint(head, std::uint32_t(text.size())) - head));
    putBytes(text.data(), text.size());
}

void TreeBuilder::boolean(bool value)
{
    beforeValue();
    put(value ? TagTrue : TagFalse);
}

void TreeBuilder::null()
{
    beforeValue();
    put(TagNull);
}

void TreeBuilder::value(Place place)
{
    const ValueType type = typeOf(place);
    if (type == ValueType::Array || type == ValueType::Object) {
        copyContainer(place);
    } else if (type == ValueType::String && isPooled() && place.block != 0) {
        beforeValue();
        const std::uint8_t *end = skipValue(place.p);
        forEachRef(place.p, end, retainBlock);
        putBytes(place.p, std::size_t(end - place.p));
    } else if (type == ValueType::String) {
        Scratch scratch;
        string(textOf(place, scratch));
    } else {
        beforeValue();
        if (place)
            putBytes(place.p, std::size_t(skipValue(place.p) - place.p));
        else
            put(TagNull);
    }
}

void TreeBuilder::block(Ref ref)
{
    beforeValue();
    retainBlock(ref);
    const bool isArray = *blockAt(ref)->content() == TagArray;
    putRef(isArray ? TagArrayRef : TagObjectRef, ref);
}

void TreeBuilder::copyContainer(Place place)
{
    const bool isObject = typeOf(place) == ValueType::Object;
    if (isPooled() && place.block != 0 && !m_frames.empty()) {
        const std::uint8_t *end = skipValue(place.p);
        if (place.p == place.base && std::size_t(end - place.p) >= kSharedTreeBytes)
            return block(place.block);
        beforeValue();
        forEachRef(place.p, end, retainBlock);
        putBytes(place.p, std::size_t(end - place.p));
        return;
    }
    start(isObject);
    if (m_frames.size() <= kMaxDepth) {
        for (Children children(place); children.next();) {
            if (isObject)
                key(children.name());
            value(children.value());
        }
    }
    if (isObject)
        endObject();
    else
        endArray();
}

// For each member its last namesake, or itself; UINT32_MAX for those that have a namesake before
// them. Empty when all names differ.
std::vector<std::uint32_t> TreeBuilder::winners(const Frame &frame) const
{
    const Member *members = m_members.data() + frame.members;
    const auto isSame = [members](std::uint32_t a, std::uint32_t b) {
        return members[a].name == members[b].name;
    };
    const auto isBefore
        = [members](std::uint32_t a, std::uint32_t b) { return members[a].name < members[b].name; };
    bool hasSame = false;
    std::vector<std::uint32_t> order;
    if (frame.count <= 12) {
        for (std::uint32_t i = 1; i < frame.count && !hasSame; ++i)
            for (std::uint32_t j = 0; j < i && !hasSame; ++j)
                hasSame = isSame(i, j);
        if (!hasSame)
            return {};
    }
    order.resize(frame.count);
    for (std::uint32_t i = 0; i < frame.count; ++i)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(), isBefore);
    std::vector<std::uint32_t> winner(frame.count);
    for (std::size_t i = 0; i < order.size();) {
        std::size_t last = i;
        while (last + 1 < order.size() && isSame(order[last + 1], order[i]))
            winner[order[++last]] = std::numeric_limits<std::uint32_t>::max();
        winner[order[i]] = order[last];
        hasSame = hasSame || last > i;
        i = last + 1;
    }
    if (!hasSame)
        winner.clear();
    return winner;
}

void TreeBuilder::dropRepeatedNames(Frame &frame)
{
    const std::vector<std::uint32_t> winner = winners(frame);
    if (winner.empty())
        return;
    m_hasDropped = true;
    const auto begin = std::uint32_t(frame.start + kHeadRoom);
    const std::vector<std::uint8_t> old(m_out.begin() + begin, m_out.end());
    const std::vector<Member> members(m_members.begin() + frame.members, m_members.end());
    const auto endOf = [&](std::size_t i) {
        return i + 1 < members.size() ? members[i + 1].start : begin + std::uint32_t(old.size());
    };
    std::vector<bool> isKept(members.size(), false);
    for (const std::uint32_t i : winner)
        if (i != std::numeric_limits<std::uint32_t>::max())
            isKept[i] = true;
    for (std::size_t i = 0; isPooled() && i < members.size(); ++i) {
        if (!isKept[i])
            releaseRefs(members[i].start, endOf(i));
    }
    m_out.resize(begin);
    m_members.resize(frame.members);
    frame.count = 0;
    for (const std::uint32_t i : winner) {
        if (i == std::numeric_limits<std::uint32_t>::max())
            continue;
        m_members.push_back({members[i].name, std::uint32_t(m_out.size())});
        putBytes(old.data() + (members[i].start - begin), endOf(i) - members[i].start);
        ++frame.count;
    }
}

void TreeBuilder::releaseRefs(std::size_t from, std::size_t to)
{
    forEachRef(m_out.data() + from, m_out.data() + to, releaseBlock);
}

void TreeBuilder::clear()
{
    if (isPooled()) // open heads hold nulls, which forEachRef steps over
        releaseRefs(0, m_out.size());
    m_out.clear();
    m_members.clear();
    m_frames.clear();
}

std::uint64_t TreeBuilder::finish()
{
    std::uint64_t handle = 0;
    if (!isPooled() && m_error == nullptr) {
        if (void *memory = std::malloc(sizeof(PrivateBlock) + m_out.size())) {
            auto *block = ::new (memory) PrivateBlock{{1}, std::uint32_t(m_out.size())};
            std::memcpy(block->content(), m_out.data(), m_out.size());
            handle = handleOf(block);
        } else {
            fail(kNoMemory);
        }
    } else if (m_error == nullptr) {
        // A container is a block already; {}, [] and scalars become one. The reference is the
        // caller's now.
        const bool isBlock = m_out[0] == TagObjectRef || m_out[0] == TagArrayRef;
        handle = handleOf(isBlock ? readRef(m_out.data() + 1)
                                  : intern(BlockKind::Tree, m_out.data(), m_out.size(), m_account));
        m_out.clear();
        if (handle == 0)
            fail(kNoMemory);
    }
    clear();
    return handle;
}

void TreeBuilder::reset()
{
    clear();
    m_error = nullptr;
    m_hasDropped = false;
}

} // namespace davit::priv::pool
