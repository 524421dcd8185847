// One block of the pool: a header of 12 bytes, then its content. Blocks start on a granule.
#pragma once

#include "arena.h"

#include <string_view>

namespace davit::priv::pool {

enum class BlockKind : std::uint8_t {
    String, // UTF-8 bytes; also the names of members
    Shape, // references of the names of an object's members, in their order
    Tree // one packed object or array (encoding.h)
};

constexpr std::uint32_t kMaxBlockBytes = (1U << 24) - 1;

struct Block
{
    std::atomic<std::uint32_t> count;
    std::uint32_t hash;
    std::uint32_t sizeKindAccount; // 24 bits of content size, 2 of kind, 6 of account

    std::uint32_t size() const noexcept { return sizeKindAccount & kMaxBlockBytes; }
    BlockKind kind() const noexcept { return BlockKind((sizeKindAccount >> 24) & 3U); }
    std::uint8_t account() const noexcept { return std::uint8_t(sizeKindAccount >> 26); }
    const std::uint8_t *content() const noexcept
    {
        return reinterpret_cast<const std::uint8_t *>(this) + kHeaderBytes;
    }
    std::uint8_t *content() noexcept
    {
        return reinterpret_cast<std::uint8_t *>(this) + kHeaderBytes;
    }
    std::string_view text() const noexcept
    {
        return {reinterpret_cast<const char *>(content()), size()};
    }
    static constexpr std::size_t kHeaderBytes = 12;
};
static_assert(sizeof(Block) == Block::kHeaderBytes);

inline Block *blockAt(Ref ref) noexcept
{
    return reinterpret_cast<Block *>(addressOf(ref));
}

// A block outside the pool, for objects that were made in this process: same encoding, without
// references. It is its own root.
struct PrivateBlock
{
    std::atomic<std::uint32_t> count;
    std::uint32_t size;
    std::uint8_t *content() noexcept { return reinterpret_cast<std::uint8_t *>(this + 1); }
    const std::uint8_t *content() const noexcept
    {
        return reinterpret_cast<const std::uint8_t *>(this + 1);
    }
};

} // namespace davit::priv::pool
