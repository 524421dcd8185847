// Bit by byte: the idea of bit masks for blocks of 64 bytes is simdjson's
// (include/simdjson/generic).
#include "bracketscanner.h"

#include <bit>
#include <cstdint>
#include <utility>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace davit::support {
namespace {

constexpr int kBlockBytes = 64;

// One bit for each byte of a block, the first one lowest.
struct BlockBits
{
    std::uint64_t quotes = 0;
    std::uint64_t backslashes = 0;
    std::uint64_t opens = 0; // { and [
    std::uint64_t closes = 0; // } and ]
};

#if defined(__SSE2__)

inline void addBits(const char *bytes, int at, BlockBits *all)
{
    const auto bits = [at](__m128i equal) {
        return std::uint64_t(std::uint32_t(_mm_movemask_epi8(equal))) << at;
    };
    const __m128i vector = _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes + at));
    // '[' and '{', ']' and '}' differ in this bit alone, and no other byte becomes one by it.
    const __m128i folded = _mm_or_si128(vector, _mm_set1_epi8(0x20));
    all->quotes |= bits(_mm_cmpeq_epi8(vector, _mm_set1_epi8('"')));
    all->backslashes |= bits(_mm_cmpeq_epi8(vector, _mm_set1_epi8('\\')));
    all->opens |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')));
    all->closes |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
}

// Written out: no loop at -O2.
inline BlockBits bitsOf(const char *block)
{
    BlockBits all;
    addBits(block, 0, &all);
    addBits(block, 16, &all);
    addBits(block, 32, &all);
    addBits(block, 48, &all);
    return all;
}

#else

inline BlockBits bitsOf(const char *block)
{
    BlockBits all;
    for (int at = 0; at < kBlockBytes; ++at) {
        const char c = block[at];
        all.quotes |= std::uint64_t(c == '"') << at;
        all.backslashes |= std::uint64_t(c == '\\') << at;
        all.opens |= std::uint64_t(c == '{' || c == '[') << at;
        all.closes |= std::uint64_t(c == '}' || c == ']') << at;
    }
    return all;
}

#endif

// The bytes behind backslashes that are not escaped themselves; `isEscaped` goes from block to
// block.
std::uint64_t escapedBytes(std::uint64_t backslashes, bool *isEscaped)
{
    std::uint64_t escaped = *isEscaped ? 1 : 0;
    backslashes &= ~escaped;
    *isEscaped = false;
    while (backslashes != 0) {
        const std::uint64_t lowest = backslashes & -backslashes;
        *isEscaped = lowest == std::uint64_t(1) << 63;
        escaped |= lowest << 1;
        backslashes &= ~(lowest | lowest << 1);
    }
    return escaped;
}

// Each bit becomes the parity of itself and those below: set from an opening quote to the byte
// before the closing one.
inline std::uint64_t insideStrings(std::uint64_t quotes)
{
    quotes ^= quotes << 1;
    quotes ^= quotes << 2;
    quotes ^= quotes << 4;
    quotes ^= quotes << 8;
    quotes ^= quotes << 16;
    return quotes ^ quotes << 32;
}

// std::popcount() is a call on x86-64 without its extensions.
inline int countBits(std::uint64_t bits)
{
    bits -= (bits >> 1) & 0x5555555555555555U;
    bits = (bits & 0x3333333333333333U) + ((bits >> 2) & 0x3333333333333333U);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fU;
    return int(bits * 0x0101010101010101U >> 56);
}

} // namespace

const char *BracketScanner::feedBlocks(const char *p, const char *end)
{
    for (; end - p >= kBlockBytes; p += kBlockBytes) {
        const BlockBits bits = bitsOf(p);
        std::uint64_t quotes = bits.quotes;
        if (bits.backslashes != 0 || m_isEscaped)
            quotes &= ~escapedBytes(bits.backslashes, &m_isEscaped);
        const std::uint64_t inside = insideStrings(quotes) ^ (m_isInString ? ~std::uint64_t(0) : 0);
        m_isInString = (inside >> (kBlockBytes - 1)) != 0;
        if (const int closes = countBits(bits.closes & ~inside); closes < m_depth) {
            m_depth += countBits(bits.opens & ~inside) - closes;
            continue; // it cannot end here
        }
        for (auto left = (bits.opens | bits.closes) & ~inside; left != 0; left &= left - 1) {
            m_depth += (bits.opens & left & -left) != 0 ? 1 : -1;
            if (m_depth == 0) {
                m_isDone = true;
                return p + std::countr_zero(left) + 1;
            }
        }
    }
    return p;
}

bool BracketScanner::feedByte(char c)
{
    const bool wasEscaped = std::exchange(m_isEscaped, false);
    if (c == '\\')
        m_isEscaped = !wasEscaped;
    else if (c == '"')
        m_isInString = m_isInString != !wasEscaped;
    else if (!m_isInString && (c == '{' || c == '['))
        ++m_depth;
    else if (!m_isInString && (c == '}' || c == ']'))
        return --m_depth == 0;
    return false;
}

const char *BracketScanner::feed(const char *p, const char *end)
{
    if (!m_isDone)
        p = feedBlocks(p, end);
    while (p < end && !m_isDone)
        m_isDone = feedByte(*p++);
    return p;
}

} // namespace davit::support
