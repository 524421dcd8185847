// Segments and page runs.
#include "arena.h"

#include <algorithm>
#include <sys/mman.h>

namespace davit::priv::pool {

constinit std::atomic<std::byte *> g_segments[kSegmentCount] = {};

namespace {

constexpr std::uint32_t kGranulesPerPage = kPageBytes / kGranuleBytes;

Ref runAt(std::uint32_t segment, std::uint32_t page)
{
    return (segment << kGranuleBits) + page * kGranulesPerPage;
}

} // namespace

Ref Arena::takePages(std::uint32_t pages, std::uint32_t alignment)
{
    std::lock_guard lock(m_mutex);
    if (pages >= kPagesPerSegment) {
        const std::uint32_t span = (pages + kPagesPerSegment - 1) / kPagesPerSegment;
        const std::uint32_t index = mapSpan(span);
        return index == 0 ? 0 : runAt(index, 0);
    }
    while (m_firstFree < m_segments.size() && m_segments[m_firstFree].freePages == 0)
        ++m_firstFree;
    for (std::uint32_t index = m_firstFree; index < m_segments.size(); ++index) {
        if (m_segments[index].freePages < pages)
            continue;
        if (const Ref run = takeFrom(index, pages, alignment))
            return run;
    }
    const std::uint32_t index = mapSpan(1);
    if (index == 0)
        return 0;
    m_segments[index].freePages = kPagesPerSegment;
    m_firstFree = std::min(m_firstFree, index);
    return takeFrom(index, pages, alignment);
}

// First fit within one segment; 0 when its free pages are scattered.
Ref Arena::takeFrom(std::uint32_t index, std::uint32_t pages, std::uint32_t alignment)
{
    Segment &segment = m_segments[index];
    for (std::uint32_t first = 0; first + pages <= kPagesPerSegment;) {
        std::uint32_t page = first;
        while (page < first + pages && !segment.isUsed(page))
            ++page;
        if (page < first + pages) { // the next place behind the used page
            first = (page + alignment) / alignment * alignment;
            continue;
        }
        for (page = first; page < first + pages; ++page)
            segment.used[page / 64] |= std::uint64_t(1) << (page % 64);
        segment.freePages -= pages;
        return runAt(index, first);
    }
    return 0;
}

void Arena::givePages(Ref run, std::uint32_t pages)
{
    std::lock_guard lock(m_mutex);
    const std::uint32_t index = run >> kGranuleBits;
    if (pages >= kPagesPerSegment) {
        unmapSpan(index);
        return;
    }
    Segment &segment = m_segments[index];
    const std::uint32_t first = (run & ((1U << kGranuleBits) - 1)) / kGranulesPerPage;
    for (std::uint32_t i = first; i < first + pages; ++i)
        segment.used[i / 64] &= ~(std::uint64_t(1) << (i % 64));
    segment.freePages += pages;
    m_firstFree = std::min(m_firstFree, index);
    if (segment.freePages == kPagesPerSegment)
        unmapSpan(index);
    else
        madvise(addressOf(run), pages * kPageBytes, MADV_DONTNEED);
}

// Finds `segments` indexes in a row and maps them as one; 0 when there are none.
std::uint32_t Arena::mapSpan(std::uint32_t segments)
{
    if (m_segments.empty())
        m_segments.resize(1);
    std::uint32_t index = 0;
    std::uint32_t run = 0;
    for (std::uint32_t i = 1; i < m_segments.size() && run < segments; ++i) {
        const bool isMapped = g_segments[i].load(std::memory_order_relaxed) != nullptr;
        run = isMapped ? 0 : run + 1;
        index = i + 1 - run;
    }
    if (run < segments) {
        index = std::uint32_t(m_segments.size()) - run;
        if (index + segments > kSegmentCount)
            return 0;
    }
    void *memory = mmap(nullptr, segments * kSegmentBytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    if (m_segments.size() < index + segments)
        m_segments.resize(index + segments);
    for (std::uint32_t i = 0; i < segments; ++i) {
        m_segments[index + i] = Segment();
        g_segments[index + i].store(
            static_cast<std::byte *>(memory) + i * kSegmentBytes, std::memory_order_release);
    }
    m_segments[index].span = segments;
    m_mappedBytes += segments * kSegmentBytes;
    return index;
}

void Arena::unmapSpan(std::uint32_t index)
{
    const std::uint32_t segments = m_segments[index].span;
    std::byte *memory = g_segments[index].load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < segments; ++i) {
        g_segments[index + i].store(nullptr, std::memory_order_release);
        m_segments[index + i] = Segment();
    }
    munmap(memory, segments * kSegmentBytes);
    m_mappedBytes -= segments * kSegmentBytes;
}

std::uint64_t Arena::mappedBytes() const
{
    std::lock_guard lock(m_mutex);
    return m_mappedBytes;
}

} // namespace davit::priv::pool
