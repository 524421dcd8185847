// Sizes of packed values.
#include "encoding.h"

namespace davit::priv::pool {

const std::uint8_t *skipValue(const std::uint8_t *p) noexcept
{
    const std::uint8_t tag = *p++;
    if (tag < TagShortString)
        return p;
    if (tag < TagNull)
        return p + (tag - TagShortString);
    switch (tag) {
    case TagUInt8:
    case TagNegative8:
        return p + 1;
    case TagUInt16:
    case TagNegative16:
        return p + 2;
    case TagUInt32:
    case TagNegative32:
    case TagStringRef:
    case TagObjectRef:
    case TagArrayRef:
    case TagTime:
    case TagIpv4:
    case TagDecimal:
        return p + 4;
    case TagIpv4Prefix:
        return p + 5;
    case TagMicroTime:
        return p + 7;
    case TagUInt64:
    case TagNegative64:
    case TagDouble:
        return p + 8;
    case TagUuid:
        return p + 16;
    case TagHex:
        return p + 1 + *p;
    case TagPrefixHex:
    case TagPrefixString:
        return p + 5 + p[4];
    case TagNumberText:
    case TagStringLong:
    case TagObjectShape:
    case TagObjectOne:
    case TagObjectInline:
    case TagArray: {
        const std::uint32_t bytes = readVarint(p);
        return p + bytes;
    }
    default: // null, false, true, empty object, empty array
        return p;
    }
}

} // namespace davit::priv::pool
