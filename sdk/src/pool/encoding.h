// The packed form of one JSON value: a tag byte, then what the tag says. All numbers little-endian.
// An equal value has equal bytes wherever it stands in the pool, so comparing is memcmp.
//   References (4 bytes) occur in pooled blocks only; names of members inside the tree
//   (ObjectInline) and long strings in place (StringLong) in private blocks only.
#pragma once

#include "block.h"

#include <cstring>

namespace davit::priv::pool {

enum Tag : std::uint8_t {
    TagSmallInt = 0x00, // 0x00 to 0x3f: the integers 0 to 63
    TagShortString = 0x40, // 0x40 to 0x5f: a string of 0 to 31 bytes follows
    TagNull = 0x60,
    TagFalse,
    TagTrue,
    TagUInt8, // the value in 1, 2, 4, 8 bytes
    TagUInt16,
    TagUInt32,
    TagUInt64,
    TagNegative8, // -1 - value in 1, 2, 4, 8 bytes
    TagNegative16,
    TagNegative32,
    TagNegative64,
    TagDouble, // 8 bytes
    TagNumberText, // varint size, the number as it was sent
    TagStringLong, // varint size, bytes
    TagStringRef, // reference of a String block
    TagUuid, // 16 bytes: 8-4-4-4-12 lower-case hex
    TagTime, // 4 bytes: seconds since 1970, "2026-01-02T03:04:05Z"
    TagMicroTime, // 4 bytes of seconds, 3 of microseconds: "2026-01-02T03:04:05.000006Z"
    TagHex, // 1 byte n, n bytes: 2n lower-case hex digits
    TagPrefixHex, // reference of a String block, then as TagHex: "sha256:", "containerd://" ...
    TagPrefixString, // reference of a String block, 1 byte n, n bytes
    TagIpv4, // 4 bytes
    TagIpv4Prefix, // 4 bytes and 1 of prefix length: "10.1.2.3/32"
    TagDecimal, // 4 bytes: a string of digits without leading zero
    TagEmptyObject,
    TagEmptyArray,
    TagObjectShape, // varint bytes that follow, reference of a Shape block, values
    TagObjectOne, // varint bytes that follow, reference of the only name, value
    TagObjectInline, // varint bytes that follow, varint count, then per member: varint size, name,
                     // value
    TagArray, // varint bytes that follow, varint count, values
    TagObjectRef, // reference of a Tree block that holds an object
    TagArrayRef, // reference of a Tree block that holds an array
    TagEnd
};

// Varint: seven bits a byte, lowest first. Private blocks pad it to four bytes.
inline std::uint32_t readVarint(const std::uint8_t *&p) noexcept
{
    std::uint32_t value = *p & 0x7fU;
    for (unsigned shift = 7; *p++ & 0x80U; shift += 7)
        value |= (*p & 0x7fU) << shift;
    return value;
}

template <typename T> inline T readPlain(const void *p) noexcept
{
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

inline Ref readRef(const std::uint8_t *p) noexcept
{
    return readPlain<Ref>(p);
}

// What stands between a container's tag and its first member or element. Of other values: nothing.
struct ContainerHead
{
    const std::uint8_t *first = nullptr;
    const std::uint8_t *names = nullptr; // in a Shape block
    std::uint32_t count = 0;
    Ref name = 0; // TagObjectOne
};

inline ContainerHead headOf(const std::uint8_t *p) noexcept
{
    ContainerHead head;
    const std::uint8_t tag = *p++;
    if (tag < TagObjectShape || tag > TagArray)
        return head;
    readVarint(p);
    if (tag == TagObjectShape) {
        const Block *shape = blockAt(readRef(p));
        head.names = shape->content();
        head.count = shape->size() / sizeof(Ref);
        p += sizeof(Ref);
    } else if (tag == TagObjectOne) {
        head.name = readRef(p);
        head.count = 1;
        p += sizeof(Ref);
    } else {
        head.count = readVarint(p);
    }
    head.first = p;
    return head;
}

// The first byte behind the value at p. O(1).
const std::uint8_t *skipValue(const std::uint8_t *p) noexcept;

// Steps through the packed bytes [p, end) and calls visit(Ref) for each reference in them.
template <typename Visit>
void forEachRef(const std::uint8_t *p, const std::uint8_t *end, Visit &&visit)
{
    while (p < end) {
        const std::uint8_t tag = *p;
        switch (tag) {
        case TagStringRef:
        case TagObjectRef:
        case TagArrayRef:
        case TagPrefixHex:
        case TagPrefixString:
            visit(readRef(p + 1));
            p = skipValue(p);
            break;
        case TagObjectShape:
        case TagObjectOne: // step inside
            ++p;
            readVarint(p);
            visit(readRef(p));
            p += sizeof(Ref);
            break;
        case TagArray:
            ++p;
            readVarint(p);
            readVarint(p);
            break;
        default:
            p = skipValue(p);
        }
    }
}

// The references that a block counts.
template <typename Visit> void forEachChild(const Block &block, Visit &&visit)
{
    const std::uint8_t *p = block.content();
    const std::uint8_t *end = p + block.size();
    if (block.kind() == BlockKind::Tree)
        forEachRef(p, end, visit);
    else if (block.kind() == BlockKind::Shape)
        for (; p < end; p += sizeof(Ref))
            visit(readRef(p));
}

} // namespace davit::priv::pool
