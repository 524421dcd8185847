// The intern table and the lives of pooled blocks. 64 shards by hash, each with a mutex. Rules:
//   - Interning finds an equal block and counts it, or copies the candidate in; both under the
//     lock of one shard.
//   - The last release takes the block out of the table under that lock, so that interning never
//     revives a dead one; its children follow from a list, never two locks at once.
// Test: tst_pool.
#pragma once

#include "block.h"

namespace davit::priv {
struct PoolStats;
}

namespace davit::priv::pool {

// The block with this content, counted once more for the caller. Takes over the references in
// `content`. 0 when memory is used up or the content is too large; the references are released.
// [thread-safe]
Ref intern(BlockKind kind, const std::uint8_t *content, std::size_t size, std::uint8_t account);
inline Ref internText(std::string_view text, std::uint8_t account)
{
    return intern(BlockKind::String, reinterpret_cast<const std::uint8_t *>(text.data()),
        text.size(), account);
}
inline void retainBlock(Ref ref) noexcept
{
    blockAt(ref)->count.fetch_add(1, std::memory_order_relaxed);
}
// [thread-safe]
void releaseBlock(Ref ref) noexcept;

// True when this block and all below it still are what they were when they came in: their bytes
// give their hashes. Somebody in the process may have written where nobody may. O(bytes).
// [thread-safe]
bool isIntact(Ref root);

// [thread-safe]
PoolStats stats();
void trim();

} // namespace davit::priv::pool
