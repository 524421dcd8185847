// Taking again what is known.
#include "lastdocument.h"

#include <cstring>

namespace davit::priv::pool {
namespace {

// Comparing in vain may cost so many times the document's size: deep nesting could make it more.
constexpr std::ptrdiff_t kPatience = 4;
constexpr std::size_t kMemcmpBytes = 8; // that memcmp compares in the time of one that is matched

} // namespace

void LastDocument::start(const char *text, std::size_t size)
{
    m_begin = text;
    m_patienceBytes = std::ptrdiff_t(size) * kPatience;
    m_spans.clear();
}

std::size_t LastDocument::enter(const char *at)
{
    m_spans.push_back({std::uint32_t(at - m_begin), 0, 0});
    return m_spans.size() - 1;
}

void LastDocument::leave(std::size_t span, const char *at)
{
    m_spans[span].end = std::uint32_t(at - m_begin);
    m_spans[span].spans = std::uint32_t(m_spans.size() - span);
}

void LastDocument::addWhole(const char *begin, const char *end)
{
    m_spans.push_back({std::uint32_t(begin - m_begin), std::uint32_t(end - m_begin), 1});
}

std::size_t LastDocument::sizeOf(Known known) const
{
    return known.span == kNoSpan ? 0 : m_last[known.span].end - m_last[known.span].begin;
}

std::size_t LastDocument::take(
    const char *at, std::size_t available, Known known, TreeBuilder &builder)
{
    const std::size_t size = sizeOf(known);
    if (size == 0 || !hasPatience() || available < size)
        return 0;
    const Span last = m_last[known.span];
    if (std::memcmp(at, m_text.data() + last.begin, size) != 0) {
        losePatience(std::ptrdiff_t(size / kMemcmpBytes));
        return 0;
    }
    builder.value(known.place);
    const auto begin = std::uint32_t(at - m_begin);
    for (std::uint32_t i = known.span; i < known.span + last.spans; ++i) {
        const Span within = m_last[i];
        m_spans.push_back(
            {within.begin - last.begin + begin, within.end - last.begin + begin, within.spans});
    }
    return size;
}

void LastDocument::remember(const char *end, Place root, const TreeBuilder &builder)
{
    const auto size = std::size_t(end - m_begin);
    m_root = 0;
    if (size > kMaxRememberedBytes || builder.hasDroppedMembers())
        return;
    m_text.assign(m_begin, size);
    m_last.swap(m_spans);
    m_root = root.block;
}

void LastDocument::Similar::set(Known container)
{
    m_rest = Children(container.place);
    m_span = container.span;
    if (m_span != kNoSpan && m_document.m_last[m_span].spans == 1)
        m_span = kNoSpan; // nothing is within, or it was taken without looking
    else if (m_span != kNoSpan)
        ++m_span;
}

LastDocument::Known LastDocument::Similar::find(std::string_view name)
{
    std::uint32_t span = m_span;
    for (Children ahead = m_rest; ahead.next();) {
        const Known child = here(ahead.value(), &span);
        if (ahead.name() == name) {
            m_rest = ahead;
            m_span = span;
            return child;
        }
    }
    return {};
}

// The child, and `span` goes on to the next container.
LastDocument::Known LastDocument::Similar::here(Place child, std::uint32_t *span) const
{
    const ValueType type = *span == kNoSpan ? ValueType::Missing : typeOf(child);
    if (type != ValueType::Object && type != ValueType::Array)
        return {child, kNoSpan};
    const std::uint32_t own = *span;
    *span += m_document.m_last[own].spans;
    return {child, own};
}

} // namespace davit::priv::pool
