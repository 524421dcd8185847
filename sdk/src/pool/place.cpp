// Reading packed trees.
#include "place.h"

#include "handle.h"
#include "packedstring.h"

#include <charconv>
#include <cmath>

namespace davit::priv::pool {
namespace {

Place follow(Place place) noexcept
{
    if (place.p != nullptr && (*place.p == TagObjectRef || *place.p == TagArrayRef)) {
        const Ref ref = readRef(place.p + 1);
        const std::uint8_t *content = blockAt(ref)->content();
        return {content, content, ref};
    }
    return place;
}

bool equalContainers(Place a, Place b)
{
    if (sizeOf(a) != sizeOf(b))
        return false;
    Children left(a);
    Children right(b);
    while (left.next() && right.next()) {
        if (left.name() != right.name() || !equal(left.value(), right.value()))
            return false;
    }
    return true;
}

void writeContainer(Place place, std::string &out)
{
    const bool isObject = typeOf(place) == ValueType::Object;
    out += isObject ? '{' : '[';
    bool isFirst = true;
    for (Children children(place); children.next(); isFirst = false) {
        if (!isFirst)
            out += ',';
        if (isObject) {
            writeJsonString(children.name(), out);
            out += ':';
        }
        writeJson(children.value(), out);
    }
    out += isObject ? '}' : ']';
}

} // namespace

Place rootPlace(std::uint64_t handle) noexcept
{
    return placeAt(handle, isPrivate(handle) ? 0 : std::uint64_t(rootRef(handle)) << 32);
}

Place placeAt(std::uint64_t handle, std::uint64_t position) noexcept
{
    if (handle == 0)
        return {};
    const Ref block = Ref(position >> 32);
    const std::uint8_t *base
        = block == 0 ? privateBlock(handle)->content() : blockAt(block)->content();
    return {base, base + std::uint32_t(position), block};
}

ValueType typeOf(Place place) noexcept
{
    if (!place)
        return ValueType::Missing;
    const std::uint8_t tag = *place.p;
    if (tag < TagShortString)
        return ValueType::Integer;
    if (tag < TagNull)
        return ValueType::String;
    switch (tag) {
    case TagNull:
        return ValueType::Null;
    case TagFalse:
    case TagTrue:
        return ValueType::Boolean;
    case TagDouble:
    case TagNumberText:
        return ValueType::Double;
    case TagEmptyArray:
    case TagArray:
    case TagArrayRef:
        return ValueType::Array;
    case TagEmptyObject:
    case TagObjectShape:
    case TagObjectOne:
    case TagObjectInline:
    case TagObjectRef:
        return ValueType::Object;
    default:
        return tag >= TagUInt8 && tag <= TagNegative64 ? ValueType::Integer : ValueType::String;
    }
}

std::uint32_t sizeOf(Place place) noexcept
{
    return place ? headOf(place.p).count : 0;
}

Place member(Place object, std::string_view name) noexcept
{
    if (typeOf(object) != ValueType::Object)
        return {};
    const ContainerHead head = headOf(object.p);
    if (head.names == nullptr) {
        for (Children children(object); children.next();) {
            if (children.name() == name)
                return children.value();
        }
        return {};
    }
    // The names first: they are few cache lines, which all objects of this shape share.
    std::uint32_t index = 0;
    while (index < head.count && blockAt(readRef(head.names + index * sizeof(Ref)))->text() != name)
        ++index;
    if (index == head.count)
        return {};
    const std::uint8_t *p = head.first;
    for (; index > 0; --index)
        p = skipValue(p);
    return follow({object.base, p, object.block});
}

Place childAt(Place container, std::uint32_t index) noexcept
{
    if (!container)
        return {};
    for (Children children(container); children.next(); --index) {
        if (index == 0)
            return children.value();
    }
    return {};
}

std::string_view nameAt(Place object, std::uint32_t index) noexcept
{
    if (typeOf(object) != ValueType::Object)
        return {};
    for (Children children(object); children.next(); --index) {
        if (index == 0)
            return children.name();
    }
    return {};
}

std::string_view textOf(Place place, Scratch &scratch)
{
    if (typeOf(place) != ValueType::String)
        return {};
    const std::uint8_t *p = place.p;
    if (*p < TagNull)
        return {reinterpret_cast<const char *>(p + 1), std::size_t(*p - TagShortString)};
    scratch.clear();
    switch (*p) {
    case TagStringLong: {
        ++p;
        const std::uint32_t size = readVarint(p);
        return {reinterpret_cast<const char *>(p), size};
    }
    case TagStringRef:
        return blockAt(readRef(p + 1))->text();
    case TagPrefixHex:
        scratch = blockAt(readRef(p + 1))->text();
        appendHex(p + 6, p[5], scratch);
        return scratch;
    case TagPrefixString:
        scratch = blockAt(readRef(p + 1))->text();
        scratch.append(reinterpret_cast<const char *>(p + 6), p[5]);
        return scratch;
    default:
        unpackString(p, scratch);
        return scratch;
    }
}

bool readInteger(Place place, Integer *integer) noexcept
{
    if (!place)
        return false;
    const std::uint8_t tag = *place.p;
    if (tag < TagShortString) {
        *integer = {tag, false};
        return true;
    }
    if (tag < TagUInt8 || tag > TagNegative64)
        return false;
    integer->isNegative = tag >= TagNegative8;
    const unsigned bytes = 1U << (unsigned(tag - TagUInt8) % 4);
    integer->magnitude = 0;
    std::memcpy(&integer->magnitude, place.p + 1, bytes); // little-endian, as stored
    return true;
}

double readNumber(std::string_view text) noexcept
{
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc::result_out_of_range)
        return value;
    const std::size_t exponent = text.find_first_of("eE");
    const bool isTiny = exponent != std::string_view::npos && text[exponent + 1] == '-';
    value = isTiny ? 0.0 : HUGE_VAL;
    return text[0] == '-' ? -value : value;
}

double readDouble(Place place, double fallback) noexcept
{
    Integer integer;
    if (readInteger(place, &integer))
        return integer.isNegative ? -1.0 - double(integer.magnitude) : double(integer.magnitude);
    if (typeOf(place) != ValueType::Double)
        return fallback;
    if (*place.p == TagDouble)
        return readPlain<double>(place.p + 1);
    const std::uint8_t *p = place.p + 1;
    const std::uint32_t size = readVarint(p);
    return readNumber({reinterpret_cast<const char *>(p), size});
}

std::string_view numberText(Place place, Scratch &scratch)
{
    char text[40];
    Integer integer;
    if (readInteger(place, &integer)) {
        std::to_chars_result end{};
        if (integer.isNegative)
            end = std::to_chars(text, text + sizeof text, -1 - std::int64_t(integer.magnitude));
        else
            end = std::to_chars(text, text + sizeof text, integer.magnitude);
        scratch.assign(text, end.ptr);
        return scratch;
    }
    if (typeOf(place) != ValueType::Double)
        return {};
    if (*place.p == TagNumberText) {
        const std::uint8_t *p = place.p + 1;
        const std::uint32_t size = readVarint(p);
        return {reinterpret_cast<const char *>(p), size};
    }
    const auto end = std::to_chars(text, text + sizeof text, readPlain<double>(place.p + 1));
    scratch.assign(text, end.ptr);
    if (scratch.find_first_of(".e") == std::string::npos)
        scratch += ".0"; // stays no integer when it is read again
    return scratch;
}

bool equal(Place a, Place b)
{
    const ValueType type = typeOf(a);
    if (type != typeOf(b))
        return false;
    if (type == ValueType::Missing || (a.p == b.p))
        return true;
    if (a.block != 0 && b.block != 0) { // both pooled: equal values have equal bytes
        const auto size = std::size_t(skipValue(a.p) - a.p);
        return size == std::size_t(skipValue(b.p) - b.p) && std::memcmp(a.p, b.p, size) == 0;
    }
    if (type == ValueType::Object || type == ValueType::Array)
        return equalContainers(a, b);
    Scratch left;
    Scratch right;
    if (type == ValueType::String)
        return textOf(a, left) == textOf(b, right);
    if (type == ValueType::Integer || type == ValueType::Double)
        return numberText(a, left) == numberText(b, right);
    return *a.p == *b.p;
}

void writeJsonString(std::string_view text, std::string &out)
{
    constexpr char kDigits[] = "0123456789abcdef";
    out += '"';
    std::size_t done = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = std::uint8_t(text[i]);
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        out.append(text, done, i - done);
        done = i + 1;
        out += '\\';
        switch (c) {
        case '\n':
            out += 'n';
            break;
        case '\t':
            out += 't';
            break;
        case '\r':
            out += 'r';
            break;
        case '\b':
            out += 'b';
            break;
        case '\f':
            out += 'f';
            break;
        case '"':
        case '\\':
            out += char(c);
            break;
        default:
            out += "u00";
            out += kDigits[c >> 4];
            out += kDigits[c & 15];
        }
    }
    out.append(text, done);
    out += '"';
}

void writeJson(Place place, std::string &out)
{
    Scratch scratch;
    switch (typeOf(place)) {
    case ValueType::Missing:
        break;
    case ValueType::Null:
        out += "null";
        break;
    case ValueType::Boolean:
        out += *place.p == TagTrue ? "true" : "false";
        break;
    case ValueType::Integer:
    case ValueType::Double:
        out += numberText(place, scratch);
        break;
    case ValueType::String:
        writeJsonString(textOf(place, scratch), out);
        break;
    case ValueType::Array:
    case ValueType::Object:
        writeContainer(place, out);
        break;
    }
}

Children::Children(Place container) noexcept : m_container(container)
{
    if (!container)
        return;
    m_tag = *container.p;
    const ContainerHead head = headOf(container.p);
    m_next = head.first;
    m_names = head.names;
    m_left = head.count;
    if (head.name != 0)
        m_name = blockAt(head.name)->text();
}

bool Children::next() noexcept
{
    if (m_left == 0)
        return false;
    --m_left;
    if (m_tag == TagObjectShape) {
        m_name = blockAt(readRef(m_names))->text();
        m_names += sizeof(Ref);
    } else if (m_tag == TagObjectInline) {
        const std::uint32_t size = readVarint(m_next);
        m_name = {reinterpret_cast<const char *>(m_next), size};
        m_next += size;
    }
    m_value = follow({m_container.base, m_next, m_container.block});
    m_next = skipValue(m_next);
    return true;
}

} // namespace davit::priv::pool
