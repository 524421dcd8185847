// One of the 64 parts of the pool: its intern table and its free lists. All under the owner's lock.
#pragma once

#include "block.h"

#include <array>
#include <mutex>
#include <vector>

namespace davit::priv::pool {

constexpr std::size_t kMaxSmallBytes = 8192; // larger blocks take whole pages
constexpr std::uint32_t kSizeClasses = 72;
constexpr std::uint32_t kChunkPages = 4; // what a shard takes from the arena at a time

// Steps of 8 bytes up to 256, then eight steps to each doubling.
std::uint32_t sizeClassOf(std::size_t bytes) noexcept;
std::uint32_t sizeClassBytes(std::uint32_t sizeClass) noexcept;

struct SizeClass
{
    Ref firstFree = 0;
    std::uint32_t freeBlocks = 0;
    std::uint32_t liveBlocks = 0;
};

class Shard
{
public:
    std::mutex mutex; // guards everything below

    // The block with this content, or 0. No count is taken.
    Ref find(
        std::uint32_t hash, BlockKind kind, const std::uint8_t *content, std::size_t size) const;
    // A new block of count 1, in the table; 0 when memory is used up.
    Ref insert(std::uint32_t hash, BlockKind kind, const std::uint8_t *content, std::size_t size,
        std::uint8_t account);
    void erase(Ref ref);
    // Every free passes here: today to the free list, later after the epochs of other processes.
    void retire(Ref ref);
    // Gives chunks without a live block back.
    void trim();

    std::array<SizeClass, kSizeClasses> classes;
    std::uint64_t liveBytes = 0;
    std::uint64_t largeBlocks = 0;
    std::uint64_t largeBytes = 0; // whole pages
    std::size_t tableBytes() const { return m_slots.capacity() * sizeof(Ref) + m_tags.capacity(); }
    std::size_t bumpBytes() const { return m_bumpEnd - m_bump; }

private:
    Ref allocate(std::size_t bytes);
    Ref allocateFromChunk(std::uint32_t sizeClass);
    void pushFree(Ref ref, std::uint32_t sizeClass);
    void giveRestToFreeLists();
    void resizeTable(std::size_t capacity);
    void place(Ref ref, std::uint32_t hash);
    std::size_t home(std::uint32_t hash) const
    {
        return std::size_t((std::uint64_t(hash) * m_slots.size()) >> 32);
    }

    std::vector<Ref> m_slots; // open addressing, linear
    std::vector<std::uint8_t> m_tags; // eight bits of the hash a slot; 0: empty
    std::size_t m_used = 0;
    std::vector<Ref> m_chunks;
    Ref m_bumpChunk = 0;
    std::size_t m_bump = 0; // byte offset of free room in m_bumpChunk
    std::size_t m_bumpEnd = 0;
};

Shard &shardOf(std::uint32_t hash) noexcept;

} // namespace davit::priv::pool
