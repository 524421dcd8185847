// Intern table, size classes and free lists of one shard.
#include "shard.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define DAVIT_POISON(address, size) ASAN_POISON_MEMORY_REGION(address, size)
#define DAVIT_UNPOISON(address, size) ASAN_UNPOISON_MEMORY_REGION(address, size)
#else
#define DAVIT_POISON(address, size) ((void)(address), (void)(size))
#define DAVIT_UNPOISON(address, size) ((void)(address), (void)(size))
#endif

namespace davit::priv::pool {
namespace {

constexpr std::size_t kMinCapacity = 16;
constexpr std::size_t kChunkBytes = kChunkPages * kPageBytes;
constexpr Ref kChunkGranules = kChunkBytes / kGranuleBytes;
constexpr std::size_t kMinBlockBytes = 16;
constexpr std::uint32_t kLinearClasses = 32;
constexpr std::uint32_t kMinDoubling = 8; // 2^8: where the linear classes end

// At the start of each chunk; chunks are aligned to their size.
struct ChunkHeader
{
    std::uint32_t liveBlocks;
    std::uint32_t unused;
};

ChunkHeader *chunkOf(Ref ref)
{
    return reinterpret_cast<ChunkHeader *>(addressOf(ref & ~(kChunkGranules - 1)));
}

std::size_t blockBytes(std::size_t contentBytes)
{
    const std::size_t bytes = Block::kHeaderBytes + contentBytes;
    return std::max((bytes + kGranuleBytes - 1) & ~(kGranuleBytes - 1), kMinBlockBytes);
}

std::uint32_t pagesFor(std::size_t bytes)
{
    return std::uint32_t((bytes + kPageBytes - 1) / kPageBytes);
}

std::uint8_t tagOf(std::uint32_t hash)
{
    const auto tag = std::uint8_t(hash >> 6); // the shard took the lowest six bits
    return tag == 0 ? 1 : tag;
}

// The link of a free block is its first word; the rest is poisoned under AddressSanitizer.
Ref &nextFree(Ref ref)
{
    return *reinterpret_cast<Ref *>(addressOf(ref));
}

} // namespace

std::uint32_t sizeClassOf(std::size_t bytes) noexcept
{
    if (bytes <= std::size_t(1) << kMinDoubling)
        return std::uint32_t((bytes + 7) / 8) - 1;
    const auto last = std::uint32_t(bytes - 1);
    const auto doubling = std::uint32_t(std::bit_width(last)) - 1;
    const std::uint32_t step = (last - (1U << doubling)) >> (doubling - 3);
    return kLinearClasses + (doubling - kMinDoubling) * 8 + step;
}

std::uint32_t sizeClassBytes(std::uint32_t sizeClass) noexcept
{
    if (sizeClass < kLinearClasses)
        return (sizeClass + 1) * 8;
    const std::uint32_t doubling = kMinDoubling + (sizeClass - kLinearClasses) / 8;
    const std::uint32_t step = (sizeClass - kLinearClasses) % 8;
    return (1U << doubling) + (step + 1) * (1U << (doubling - 3));
}

Ref Shard::find(
    std::uint32_t hash, BlockKind kind, const std::uint8_t *content, std::size_t size) const
{
    if (m_slots.empty())
        return 0;
    const std::uint8_t tag = tagOf(hash);
    for (std::size_t slot = home(hash); m_tags[slot] != 0;) {
        if (m_tags[slot] == tag) {
            const Block *block = blockAt(m_slots[slot]);
            if (block->hash == hash && block->size() == size && block->kind() == kind
                && std::memcmp(block->content(), content, size) == 0)
                return m_slots[slot];
        }
        slot = slot + 1 == m_slots.size() ? 0 : slot + 1;
    }
    return 0;
}

Ref Shard::insert(std::uint32_t hash, BlockKind kind, const std::uint8_t *content, std::size_t size,
    std::uint8_t account)
{
    const Ref ref = allocate(blockBytes(size));
    if (ref == 0)
        return 0;
    Block *block = ::new (addressOf(ref)) Block{
        {1}, hash, std::uint32_t(size) | std::uint32_t(kind) << 24 | std::uint32_t(account) << 26};
    std::memcpy(block->content(), content, size);
    if ((m_used + 1) * 9 > m_slots.size() * 8) // load up to 0.89
        resizeTable(std::max(kMinCapacity, m_slots.size() + m_slots.size() / 6));
    place(ref, hash);
    ++m_used;
    liveBytes += blockBytes(size);
    return ref;
}

void Shard::place(Ref ref, std::uint32_t hash)
{
    std::size_t slot = home(hash);
    while (m_tags[slot] != 0)
        slot = slot + 1 == m_slots.size() ? 0 : slot + 1;
    m_slots[slot] = ref;
    m_tags[slot] = tagOf(hash);
}

void Shard::resizeTable(std::size_t capacity)
{
    std::vector<Ref> slots(capacity);
    std::vector<std::uint8_t> tags(capacity);
    slots.swap(m_slots);
    tags.swap(m_tags);
    constexpr std::size_t kAhead = 16; // blocks lie anywhere: each would be waited for
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (i + kAhead < slots.size() && tags[i + kAhead] != 0)
            __builtin_prefetch(blockAt(slots[i + kAhead]));
        if (tags[i] != 0)
            place(slots[i], blockAt(slots[i])->hash);
    }
}

void Shard::erase(Ref ref)
{
    const std::size_t capacity = m_slots.size();
    std::size_t hole = home(blockAt(ref)->hash);
    while (m_slots[hole] != ref || m_tags[hole] == 0)
        hole = hole + 1 == capacity ? 0 : hole + 1;
    // Move back what would no longer be found past the hole.
    for (std::size_t slot = hole;;) {
        slot = slot + 1 == capacity ? 0 : slot + 1;
        if (m_tags[slot] == 0)
            break;
        const std::size_t wanted = home(blockAt(m_slots[slot])->hash);
        const bool staysReachable
            = hole <= slot ? (hole < wanted && wanted <= slot) : (hole < wanted || wanted <= slot);
        if (staysReachable)
            continue;
        m_slots[hole] = m_slots[slot];
        m_tags[hole] = m_tags[slot];
        hole = slot;
    }
    m_tags[hole] = 0;
    --m_used;
    if (capacity > kMinCapacity && m_used * 10 < capacity * 3)
        resizeTable(std::max(kMinCapacity, capacity / 2));
}

Ref Shard::allocate(std::size_t bytes)
{
    if (bytes > kMaxSmallBytes) {
        const std::uint32_t pages = pagesFor(bytes);
        Arena &arena = theArena();
        const Ref ref = arena.takePages(pages);
        if (ref != 0) {
            ++largeBlocks;
            largeBytes += pages * kPageBytes;
        }
        return ref;
    }
    const std::uint32_t sizeClass = sizeClassOf(bytes);
    SizeClass &list = classes[sizeClass];
    Ref ref = list.firstFree;
    if (ref != 0) {
        list.firstFree = nextFree(ref);
        --list.freeBlocks;
    } else {
        ref = allocateFromChunk(sizeClass);
        if (ref == 0)
            return 0;
    }
    DAVIT_UNPOISON(addressOf(ref), sizeClassBytes(sizeClass));
    ++list.liveBlocks;
    ++chunkOf(ref)->liveBlocks;
    return ref;
}

Ref Shard::allocateFromChunk(std::uint32_t sizeClass)
{
    const std::size_t bytes = sizeClassBytes(sizeClass);
    if (m_bumpEnd - m_bump < bytes) {
        const Ref chunk = theArena().takePages(kChunkPages, kChunkPages);
        if (chunk == 0)
            return 0;
        giveRestToFreeLists();
        m_chunks.push_back(chunk);
        m_bumpChunk = chunk;
        ::new (addressOf(chunk)) ChunkHeader{0, 0};
        m_bump = sizeof(ChunkHeader);
        m_bumpEnd = kChunkBytes;
    }
    const Ref ref = m_bumpChunk + Ref(m_bump / kGranuleBytes);
    m_bump += bytes;
    return ref;
}

void Shard::giveRestToFreeLists()
{
    while (m_bumpEnd - m_bump >= kMinBlockBytes) {
        const std::size_t left = std::min(m_bumpEnd - m_bump, kMaxSmallBytes);
        std::uint32_t sizeClass = sizeClassOf(left);
        if (sizeClassBytes(sizeClass) > left)
            --sizeClass;
        pushFree(m_bumpChunk + Ref(m_bump / kGranuleBytes), sizeClass);
        m_bump += sizeClassBytes(sizeClass);
    }
    m_bump = m_bumpEnd;
}

void Shard::pushFree(Ref ref, std::uint32_t sizeClass)
{
    SizeClass &list = classes[sizeClass];
    nextFree(ref) = list.firstFree;
    list.firstFree = ref;
    ++list.freeBlocks;
    DAVIT_POISON(addressOf(ref) + kGranuleBytes, sizeClassBytes(sizeClass) - kGranuleBytes);
}

void Shard::retire(Ref ref)
{
    const std::size_t bytes = blockBytes(blockAt(ref)->size());
    liveBytes -= bytes;
    if (bytes > kMaxSmallBytes) {
        const std::uint32_t pages = pagesFor(bytes);
        --largeBlocks;
        largeBytes -= pages * kPageBytes;
        theArena().givePages(ref, pages);
        return;
    }
    const std::uint32_t sizeClass = sizeClassOf(bytes);
    --classes[sizeClass].liveBlocks;
    --chunkOf(ref)->liveBlocks;
    pushFree(ref, sizeClass);
}

void Shard::trim()
{
    bool hasDead = false;
    for (const Ref chunk : m_chunks)
        hasDead = hasDead || chunkOf(chunk)->liveBlocks == 0;
    if (!hasDead)
        return;
    for (SizeClass &list : classes) { // take the dead chunks' blocks off the free lists
        Ref kept = 0;
        std::uint32_t count = 0;
        for (Ref ref = list.firstFree; ref != 0;) {
            const Ref next = nextFree(ref);
            if (chunkOf(ref)->liveBlocks != 0) {
                nextFree(ref) = kept;
                kept = ref;
                ++count;
            }
            ref = next;
        }
        list.firstFree = kept;
        list.freeBlocks = count;
    }
    std::erase_if(m_chunks, [this](Ref chunk) {
        if (chunkOf(chunk)->liveBlocks != 0)
            return false;
        if (chunk == m_bumpChunk) {
            m_bumpChunk = 0;
            m_bump = m_bumpEnd = 0;
        }
        DAVIT_UNPOISON(addressOf(chunk), kChunkBytes);
        theArena().givePages(chunk, kChunkPages);
        return true;
    });
    m_chunks.shrink_to_fit();
}

} // namespace davit::priv::pool
