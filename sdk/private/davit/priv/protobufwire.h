// Protocol buffers' wire format: the fields of one message, one after the other. Groups, which
// nobody sends any more, are refused. Source: "Encoding", the format's public description.
// Test: tst_protobufwire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace davit::priv {

enum class WireType : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct WireField
{
    std::uint32_t number = 0;
    WireType type = WireType::Varint;
    std::uint64_t value = 0; // of all types but Bytes
    std::string_view bytes; // of type Bytes
    const char *begin = nullptr; // of its tag
    const char *end = nullptr; // behind it
};

// The varint at `p`. Null when the text ends first or it is longer than ten bytes. O(1).
inline const char *readVarint(const char *p, const char *end, std::uint64_t *value) noexcept
{
    if (p < end && std::uint8_t(*p) < 0x80) { // most of them
        *value = std::uint8_t(*p);
        return p + 1;
    }
    std::uint64_t result = 0;
    for (unsigned shift = 0; shift < 70 && p < end; shift += 7) {
        const auto byte = std::uint8_t(*p++);
        result |= std::uint64_t(byte & 0x7fU) << (shift < 63 ? shift : 63);
        if (byte < 0x80) {
            *value = result;
            return p;
        }
    }
    return nullptr;
}

// Borrows the message.
class WireCursor
{
public:
    explicit WireCursor(std::string_view message) noexcept
        : m_at(message.data()), m_end(message.data() + message.size())
    { }
    // False at the end, and where the message is cut or wrong: isGood() tells.
    bool next(WireField *field) noexcept;
    bool isGood() const noexcept { return m_isGood; }
    const char *at() const noexcept { return m_at; }

private:
    bool fail() noexcept
    {
        m_isGood = false;
        return false;
    }

    const char *m_at;
    const char *const m_end;
    bool m_isGood = true;
};

inline bool WireCursor::next(WireField *field) noexcept
{
    if (m_at == m_end || !m_isGood)
        return false;
    std::uint64_t tag = 0;
    const char *p = readVarint(m_at, m_end, &tag);
    if (p == nullptr || tag >> 3 == 0 || tag > 0xffffffffU)
        return fail();
    field->number = std::uint32_t(tag >> 3);
    field->type = WireType(tag & 7U);
    field->begin = m_at;
    field->value = 0;
    field->bytes = {};
    std::uint64_t size = 0;
    switch (field->type) {
    case WireType::Varint:
        p = readVarint(p, m_end, &field->value);
        break;
    case WireType::Bytes:
        p = readVarint(p, m_end, &size);
        if (p == nullptr || size > std::uint64_t(m_end - p))
            return fail();
        field->bytes = {p, std::size_t(size)};
        p += size;
        break;
    case WireType::Fixed64:
    case WireType::Fixed32:
        size = field->type == WireType::Fixed64 ? 8 : 4;
        if (std::uint64_t(m_end - p) < size)
            return fail();
        std::memcpy(&field->value, p, std::size_t(size)); // little-endian, as all hosts of Davit
        p += size;
        break;
    default:
        return fail();
    }
    if (p == nullptr)
        return fail();
    field->end = m_at = p;
    return true;
}

} // namespace davit::priv
