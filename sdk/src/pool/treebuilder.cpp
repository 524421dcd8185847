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
    const auto start = std::uint32_t(m_out.size());
    if (isPooled()) {
        Ref ref = internText(name, m_account);
        if (ref == 0)
            fail(kNoMemory);
        m_members.push_back({ref, start});
        return;
    }
    m_members.push_back({0, start});
    std::uint8_t head[5];
    putBytes(head, std::size_t(writeVarint(head, std::uint32_t(name.size())) - head));
    putBytes(name.data(), name.size());
}

void TreeBuilder::endObject()
{
    dropRepeatedNames(m_frames.back());
    end();
}

void TreeBuilder::endArray()
{
    end();
}

void TreeBuilder::end()
{
    const Frame frame = m_frames.back();
    m_frames.pop_back();
    if (m_out.size() - frame.start > kMaxBlockBytes)
        fail(kTooLarge);
    if (frame.count == 0) {
        m_out.resize(frame.start);
        put(frame.isObject ? TagEmptyObject : TagEmptyArray);
    } else if (isPooled()) {
        endPooled(frame);
    } else {
        endPrivate(frame);
    }
    m_members.resize(frame.members);
}

void TreeBuilder::endPrivate(const Frame &frame)
{
    const std::size_t bytes = m_out.size() - frame.start - 5; // behind the first varint
    std::uint8_t *p = m_out.data() + frame.start;
    *p++ = frame.isObject ? TagObjectInline : TagArray;
    p = writePaddedVarint(p, std::uint32_t(bytes));
    writePaddedVarint(p, frame.count);
}

void TreeBuilder::endPooled(const Frame &frame)
{
    const std::size_t values = m_out.size() - frame.start - kHeadRoom;
    std::uint8_t tag = TagArray;
    Ref ref = 0;
    std::size_t fixed = sizeof(Ref);
    if (!frame.isObject) {
        fixed = varintSize(frame.count);
    } else if (frame.count == 1) {
        tag = TagObjectOne;
        ref = m_members[frame.members].name;
    } else {
        tag = TagObjectShape;
        m_shape.clear();
        for (std::size_t i = frame.members; i < m_members.size(); ++i)
            m_shape.push_back(m_members[i].name);
        ref = intern(BlockKind::Shape, reinterpret_cast<const std::uint8_t *>(m_shape.data()),
            m_shape.size() * sizeof(Ref), m_account);
        if (ref == 0)
            fail(kNoMemory);
    }
    const auto bytes = std::uint32_t(values + fixed);
    const std::size_t head = 1 + varintSize(bytes) + fixed;
    const std::size_t total = head + values;
    std::uint8_t *const first = m_out.data() + frame.start + kHeadRoom - head;
    *first = tag;
    std::uint8_t *p = writeVarint(first + 1, bytes);
    if (frame.isObject)
        std::memcpy(p, &ref, sizeof ref);
    else
        writeVarint(p, frame.count);
    if (m_error != nullptr) { // the tree will not be used; let go of what it holds
        releaseRefs(frame.start + kHeadRoom, m_out.size());
        if (ref != 0)
            releaseBlock(ref);
        m_out.resize(frame.start);
        put(TagNull);
        return;
    }
    if (total >= kSharedTreeBytes || m_frames.empty()) {
        ref = intern(BlockKind::Tree, first, total, m_account);
        m_out.resize(frame.start);
        putRef(frame.isObject ? TagObjectRef : TagArrayRef, ref);
        return;
    }
    std::memmove(m_out.data() + frame.start, first, total);
    m_out.resize(frame.start + total);
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
        if (!putPrefixHex(text))
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

bool TreeBuilder::putPrefixHex(std::string_view text)
{
    const std::size_t hex = trailingHex(text);
    if (hex < kMinPrefixedHexChars || hex == text.size())
        return false;
    const Ref prefix = internText(text.substr(0, text.size() - hex), m_account);
    putRef(TagPrefixHex, prefix);
    if (prefix == 0)
        return true;
    std::uint8_t bytes[256];
    packHex(text.substr(text.size() - hex), bytes);
    put(std::uint8_t(hex / 2));
    putBytes(bytes, hex / 2);
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

void TreeBuilder::copyContainer(Place place)
{
    const bool isObject = typeOf(place) == ValueType::Object;
    if (isPooled() && place.block != 0 && !m_frames.empty()) {
        beforeValue();
        const std::uint8_t *end = skipValue(place.p);
        if (place.p == place.base && std::size_t(end - place.p) >= kSharedTreeBytes) {
            retainBlock(place.block); // a block of its own already
            putRef(isObject ? TagObjectRef : TagArrayRef, place.block);
        } else {
            forEachRef(place.p, end, retainBlock);
            putBytes(place.p, std::size_t(end - place.p));
        }
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

std::string_view TreeBuilder::privateName(std::uint32_t start) const
{
    const std::uint8_t *p = m_out.data() + start;
    const std::uint32_t size = readVarint(p);
    return {reinterpret_cast<const char *>(p), size};
}

// For each member its last namesake, or itself; UINT32_MAX for those that have a namesake before
// them. Empty when all names differ.
std::vector<std::uint32_t> TreeBuilder::winners(const Frame &frame) const
{
    const Member *members = m_members.data() + frame.members;
    const auto isSame = [&](std::uint32_t a, std::uint32_t b) {
        return isPooled() ? members[a].name == members[b].name
                          : privateName(members[a].start) == privateName(members[b].start);
    };
    const auto isBefore = [&](std::uint32_t a, std::uint32_t b) {
        if (isPooled())
            return members[a].name < members[b].name;
        return privateName(members[a].start) < privateName(members[b].start);
    };
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
        if (!isKept[i]) {
            releaseRefs(members[i].start, endOf(i));
            releaseBlock(members[i].name);
        }
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
    if (isPooled()) { // open heads hold nulls, which forEachRef steps over
        releaseRefs(0, m_out.size());
        for (const Member &member : m_members)
            if (member.name != 0)
                releaseBlock(member.name);
    }
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
            handle = std::uint64_t(reinterpret_cast<std::uintptr_t>(block)) | kPrivateFlag;
        } else {
            fail(kNoMemory);
        }
    } else if (m_error == nullptr) {
        // A container is a block already; {}, [] and scalars become one. The reference is the
        // caller's now.
        const bool isBlock = m_out[0] == TagObjectRef || m_out[0] == TagArrayRef;
        handle = isBlock ? readRef(m_out.data() + 1)
                         : intern(BlockKind::Tree, m_out.data(), m_out.size(), m_account);
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
}

} // namespace davit::priv::pool
