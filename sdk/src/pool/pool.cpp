// Interning and releasing.
#include "pool.h"

#include "encoding.h"
#include "shard.h"

#include <QtCore/qhashfunctions.h>
#define XXH_INLINE_ALL
#include <davit/priv/poolaccess.h>
#include <xxhash.h>

namespace davit::priv::pool {
namespace {

constexpr std::uint32_t kShards = 64;

struct Process
{
    Arena arena;
    std::array<Shard, kShards> shards;
};

// Never destroyed: objects in static storage may outlive any order of destruction.
Process &process() noexcept
{
    static Process *const instance = new Process;
    return *instance;
}

// Blocks whose last count goes; seldom more than a few dozen.
class PendingBlocks
{
public:
    void push(Ref ref)
    {
        if (m_count < m_first.size())
            m_first[m_count++] = ref;
        else
            m_more.push_back(ref);
    }
    Ref pop() noexcept
    {
        if (!m_more.empty()) {
            const Ref ref = m_more.back();
            m_more.pop_back();
            return ref;
        }
        return m_count == 0 ? 0 : m_first[--m_count];
    }

private:
    std::array<Ref, 64> m_first;
    std::size_t m_count = 0;
    std::vector<Ref> m_more;
};

// Content comes from the network: nobody outside may know where it collides.
std::uint32_t hashOf(BlockKind kind, const std::uint8_t *content, std::size_t size) noexcept
{
    static const auto seed = std::uint64_t(std::size_t(QHashSeed::globalSeed()));
    return std::uint32_t(XXH3_64bits_withSeed(content, size, seed + std::uint64_t(kind)) >> 17);
}

// Takes a count off while it is not the last one; false when it is.
bool dropShared(Block *block) noexcept
{
    std::uint32_t count = block->count.load(std::memory_order_relaxed);
    while (count > 1) {
        if (block->count.compare_exchange_weak(
                count, count - 1, std::memory_order_release, std::memory_order_relaxed))
            return true;
    }
    return false;
}

void dropLast(Ref ref, PendingBlocks &pending)
{
    Block *block = blockAt(ref);
    Shard &shard = shardOf(block->hash);
    std::lock_guard lock(shard.mutex);
    if (block->count.fetch_sub(1, std::memory_order_acq_rel) > 1)
        return; // someone interned it anew meanwhile
    shard.erase(ref);
    forEachChild(*block, [&pending](Ref child) { pending.push(child); });
    shard.retire(ref);
}

void releaseRefsIn(BlockKind kind, const std::uint8_t *content, std::size_t size) noexcept
{
    if (kind == BlockKind::Tree)
        forEachRef(content, content + size, releaseBlock);
    else if (kind == BlockKind::Shape)
        for (std::size_t i = 0; i < size; i += sizeof(Ref))
            releaseBlock(readRef(content + i));
}

} // namespace

Arena &theArena() noexcept
{
    return process().arena;
}

Shard &shardOf(std::uint32_t hash) noexcept
{
    return process().shards[hash % kShards];
}

Ref intern(BlockKind kind, const std::uint8_t *content, std::size_t size, std::uint8_t account)
{
    Ref ref = 0;
    bool isNew = false;
    if (size <= kMaxBlockBytes) {
        const std::uint32_t hash = hashOf(kind, content, size);
        Shard &shard = shardOf(hash);
        std::lock_guard lock(shard.mutex);
        ref = shard.find(hash, kind, content, size);
        if (ref != 0) {
            blockAt(ref)->count.fetch_add(1, std::memory_order_relaxed);
        } else {
            ref = shard.insert(hash, kind, content, size, account);
            isNew = ref != 0;
        }
    }
    if (!isNew)
        releaseRefsIn(kind, content, size);
    return ref;
}

void releaseBlock(Ref ref) noexcept
{
    if (dropShared(blockAt(ref)))
        return;
    PendingBlocks pending;
    for (; ref != 0; ref = pending.pop()) {
        if (!dropShared(blockAt(ref)))
            dropLast(ref, pending);
    }
}

bool isIntact(Ref root)
{
    PendingBlocks pending;
    for (Ref ref = root; ref != 0; ref = pending.pop()) {
        const Block &block = *blockAt(ref);
        if (hashOf(block.kind(), block.content(), block.size()) != block.hash)
            return false;
        forEachChild(block, [&pending](Ref child) { pending.push(child); });
    }
    return true;
}

PoolStats stats()
{
    PoolStats stats;
    for (std::uint32_t i = 0; i < kSizeClasses; ++i)
        stats.classes.push_back({sizeClassBytes(i), 0, 0});
    std::uint64_t largeBytes = 0;
    std::uint64_t classBytes = 0;
    for (Shard &shard : process().shards) {
        std::lock_guard lock(shard.mutex);
        for (std::uint32_t i = 0; i < kSizeClasses; ++i) {
            const SizeClass &list = shard.classes[i];
            stats.classes[i].liveBlocks += list.liveBlocks;
            stats.classes[i].freeBlocks += list.freeBlocks;
            stats.liveBlocks += list.liveBlocks;
            stats.freeBytes += std::uint64_t(list.freeBlocks) * sizeClassBytes(i);
            classBytes += std::uint64_t(list.liveBlocks) * sizeClassBytes(i);
        }
        stats.freeBytes += shard.bumpBytes();
        stats.liveBlocks += shard.largeBlocks;
        stats.liveBytes += shard.liveBytes;
        stats.tableBytes += shard.tableBytes();
        largeBytes += shard.largeBytes;
    }
    stats.wastedBytes = classBytes + largeBytes - stats.liveBytes;
    stats.mappedBytes = process().arena.mappedBytes();
    return stats;
}

void trim()
{
    for (Shard &shard : process().shards) {
        std::lock_guard lock(shard.mutex);
        shard.trim();
    }
}

} // namespace davit::priv::pool
