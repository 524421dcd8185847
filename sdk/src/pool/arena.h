// Memory of the pool: mmap'ed segments that never move. A reference is an index of 8-byte granules,
// so 32 bits reach 32 GiB. Reading a reference takes no lock. Test: tst_pool.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace davit::priv::pool {

using Ref = std::uint32_t; // 0: none

constexpr std::size_t kGranuleBytes = 8;
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kSegmentBytes = std::size_t(1) << 20;
constexpr std::uint32_t kGranuleBits = 17; // granules of a segment, as a power of two
constexpr std::uint32_t kSegmentCount = 1U << (32 - kGranuleBits);
constexpr std::uint32_t kPagesPerSegment = kSegmentBytes / kPageBytes;

// Where each segment lies; null for one that is not mapped. Grows by publishing one pointer.
extern std::atomic<std::byte *> g_segments[kSegmentCount];

inline std::byte *addressOf(Ref ref) noexcept
{
    std::byte *segment = g_segments[ref >> kGranuleBits].load(std::memory_order_acquire);
    return segment + (std::size_t(ref & ((1U << kGranuleBits) - 1)) * kGranuleBytes);
}

// Hands out runs of pages. [thread-safe]
class Arena
{
public:
    // A run of whole pages, zeroed; 0 when memory or references are used up. It starts at a
    // multiple of `alignment` pages. Runs of a segment and more get segments of their own.
    Ref takePages(std::uint32_t pages, std::uint32_t alignment = 1);
    // Gives a run back: its pages leave the process at once, and so does a segment without any.
    void givePages(Ref run, std::uint32_t pages);
    std::uint64_t mappedBytes() const;

private:
    struct Segment
    {
        std::uint64_t used[kPagesPerSegment / 64] = {};
        std::uint32_t freePages = 0;
        std::uint32_t span = 0; // segments mapped as one; 0: a part of such a span, or unmapped
        bool isUsed(std::uint32_t page) const
        {
            return ((used[page / 64] >> (page % 64)) & 1U) != 0;
        }
    };
    Ref takeFrom(std::uint32_t index, std::uint32_t pages, std::uint32_t alignment);
    std::uint32_t mapSpan(std::uint32_t segments);
    void unmapSpan(std::uint32_t index);

    mutable std::mutex m_mutex;
    std::vector<Segment> m_segments; // GUARDED_BY(m_mutex); index 0 is never used
    std::uint64_t m_mappedBytes = 0; // GUARDED_BY(m_mutex)
    std::uint32_t m_firstFree = 1; // GUARDED_BY(m_mutex): no segment before it has free pages
};

// The one arena of the process; never destroyed.
Arena &theArena() noexcept;

} // namespace davit::priv::pool
