// Text against packed trees.
#include "jsonmatcher.h"

#include <cstring>

namespace davit::priv::pool {
namespace {

// Whether one of the eight bytes is `c`. Exact: no carry runs from one byte into the next.
bool holds(std::uint64_t bytes, char c)
{
    constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7fU;
    const std::uint64_t rest = bytes ^ (0x0101010101010101U * std::uint8_t(c));
    return ~(((rest & kLow) + kLow) | rest | kLow) != 0;
}

// Less than eight bytes; each counts, some twice. Spaces fill up what is left.
[[gnu::always_inline]] inline std::uint64_t loadShort(const char *p, std::size_t size)
{
    std::uint32_t front = 0x20202020U;
    std::uint32_t back = 0x20202020U;
    if (size >= 4) {
        std::memcpy(&front, p, 4);
        std::memcpy(&back, p + size - 4, 4);
    } else if (size >= 2) {
        std::memcpy(&front, p, 2);
        std::memcpy(&back, p + size - 2, 2);
    } else if (size == 1) {
        std::memcpy(&front, p, 1);
    }
    return std::uint64_t(back) << 32 | front;
}

bool holdsControl(std::uint64_t bytes)
{
    return ((bytes - 0x2020202020202020U) & ~bytes & 0x8080808080808080U) != 0;
}

[[gnu::always_inline]] inline bool isSamePlain(std::uint64_t a, std::uint64_t b)
{
    return a == b && !holds(a, '"') && !holds(a, '\\') && !holdsControl(a);
}

// So that the misses of a tree's parts do not wait for each other.
void prefetchParts(const Block &tree)
{
    const std::uint8_t *const content = tree.content();
    forEachRef(content, content + tree.size(), [](Ref ref) { __builtin_prefetch(addressOf(ref)); });
}

std::string_view textOf(const std::uint8_t *bytes, std::size_t size)
{
    return {reinterpret_cast<const char *>(bytes), size};
}

} // namespace

bool JsonMatcher::match(const char *p, const char *end, Place place)
{
    m_end = end;
    m_at = p;
    if (!place || place.block == 0)
        return false;
    if (place.p == place.base)
        prefetchParts(*blockAt(place.block));
    const std::uint8_t *packed = place.p;
    return value(packed);
}

// Steps over the packed value as far as it matches. Depth is bounded by the pool's own limit.
bool JsonMatcher::value(const std::uint8_t *&packed) // NOLINT(misc-no-recursion)
{
    const std::uint8_t tag = *packed;
    if (tag >= TagShortString && tag < TagNull) {
        const std::size_t size = std::size_t(tag - TagShortString);
        const std::string_view text = textOf(packed + 1, size);
        packed += 1 + size;
        return quoted(text);
    }
    switch (tag) {
    case TagStringRef: {
        const Ref ref = readRef(packed + 1);
        packed += 1 + sizeof(Ref);
        return quoted(blockAt(ref)->text());
    }
    case TagObjectRef:
    case TagArrayRef: {
        const Block &tree = *blockAt(readRef(packed + 1));
        prefetchParts(tree);
        const std::uint8_t *content = tree.content();
        packed += 1 + sizeof(Ref);
        return value(content);
    }
    case TagObjectShape:
    case TagObjectOne:
        return object(packed);
    case TagArray:
        return array(packed);
    case TagEmptyObject:
        ++packed;
        return plain("{}");
    case TagEmptyArray:
        ++packed;
        return plain("[]");
    case TagTrue:
        ++packed;
        return plain("true");
    case TagFalse:
        ++packed;
        return plain("false");
    case TagNull:
        ++packed;
        return plain("null");
    default:
        return unusual(packed);
    }
}

bool JsonMatcher::object(const std::uint8_t *&packed) // NOLINT(misc-no-recursion)
{
    const ContainerHead head = headOf(packed);
    packed = head.first;
    for (std::uint32_t i = 0; i < head.count; ++i) {
        const Ref name = head.names != nullptr ? readRef(head.names + i * sizeof(Ref)) : head.name;
        if (!take(i == 0 ? '{' : ',') || !quoted(blockAt(name)->text()) || !take(':')
            || !value(packed))
            return false;
    }
    return take('}');
}

bool JsonMatcher::array(const std::uint8_t *&packed) // NOLINT(misc-no-recursion)
{
    const ContainerHead head = headOf(packed);
    packed = head.first;
    for (std::uint32_t i = 0; i < head.count; ++i) {
        if (!take(i == 0 ? '[' : ',') || !value(packed))
            return false;
    }
    return take(']');
}

// Numbers, and strings that are not stored as they read.
bool JsonMatcher::unusual(const std::uint8_t *&packed)
{
    const Place place{packed, packed, 0};
    packed = skipValue(packed);
    switch (typeOf(place)) {
    case ValueType::String:
        return quoted(pool::textOf(place, m_scratch));
    case ValueType::Integer:
    case ValueType::Double:
        return number(numberText(place, m_scratch));
    default:
        return false;
    }
}

bool JsonMatcher::number(std::string_view text)
{
    return plain(text) && m_at < m_end && (*m_at == ',' || *m_at == '}' || *m_at == ']');
}

bool JsonMatcher::quoted(std::string_view text)
{
    return take('"') && plain(text) && take('"');
}

// The same bytes, none of which means anything else in a string.
bool JsonMatcher::plain(std::string_view text)
{
    const std::size_t size = text.size();
    if (std::size_t(m_end - m_at) < size)
        return false;
    const char *const p = text.data();
    if (size < 8) {
        if (!isSamePlain(loadShort(p, size), loadShort(m_at, size)))
            return false;
    } else {
        for (std::size_t at = 0; at + 8 < size; at += 8) {
            if (!isSamePlain(
                    readPlain<std::uint64_t>(p + at), readPlain<std::uint64_t>(m_at + at))) {
                m_at += at;
                return false;
            }
        }
        if (!isSamePlain(
                readPlain<std::uint64_t>(p + size - 8), readPlain<std::uint64_t>(m_at + size - 8)))
            return false;
    }
    m_at += size;
    return true;
}

} // namespace davit::priv::pool
