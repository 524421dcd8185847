// Taking again what is known.
#include "lastmessage.h"

#include <cstring>

namespace davit::priv::pool {
namespace {

// Comparing in vain may cost so many times the message's size: deep nesting could make it more.
constexpr std::ptrdiff_t kPatience = 32;

} // namespace

LastMessage::Within::Within(const LastMessage &message, Known around)
{
    if (around == kUnknown)
        return;
    m_spans = message.m_last.data();
    m_at = around + 1;
    m_end = around + m_spans[around].spans;
}

LastMessage::Known LastMessage::Within::find(std::uint32_t number)
{
    while (m_at < m_end && m_spans[m_at].number < number)
        m_at += m_spans[m_at].spans;
    return m_at < m_end && m_spans[m_at].number == number ? m_at : kUnknown;
}

LastMessage::Known LastMessage::Within::next()
{
    if (m_at >= m_end)
        return kUnknown;
    const Known own = m_at;
    m_at += m_spans[own].spans;
    return own;
}

void LastMessage::start(std::string_view message)
{
    m_message = message;
    m_isKept = message.size() <= kMaxRememberedBytes;
    m_patienceBytes = std::ptrdiff_t(message.size()) * kPatience;
    m_spans.clear();
}

std::size_t LastMessage::enter(const char *at, std::uint32_t number)
{
    if (!m_isKept)
        return 0;
    m_spans.push_back({std::uint32_t(at - m_message.data()), 0, 0, number, 0});
    return m_spans.size() - 1;
}

void LastMessage::leave(std::size_t span, const char *at, Ref block)
{
    if (!m_isKept)
        return;
    m_spans[span].end = std::uint32_t(at - m_message.data());
    m_spans[span].spans = std::uint32_t(m_spans.size() - span);
    m_spans[span].block = block;
}

bool LastMessage::take(std::string_view bytes, Known known, TreeBuilder &builder)
{
    if (known == kUnknown)
        return false;
    const Span last = m_last[known];
    if (last.block == 0 || last.end - last.begin != bytes.size() || m_patienceBytes < 0)
        return false;
    if (std::memcmp(bytes.data(), m_text.data() + last.begin, bytes.size()) != 0) {
        m_patienceBytes -= std::ptrdiff_t(bytes.size());
        return false;
    }
    builder.block(last.block);
    if (!m_isKept)
        return true;
    const std::uint32_t moved = std::uint32_t(bytes.data() - m_message.data()) - last.begin;
    const std::size_t own = m_spans.size();
    m_spans.insert(m_spans.end(), m_last.begin() + std::ptrdiff_t(known),
        m_last.begin() + std::ptrdiff_t(known + last.spans));
    for (std::size_t i = own; i < m_spans.size(); ++i) {
        m_spans[i].begin += moved;
        m_spans[i].end += moved;
    }
    return true;
}

void LastMessage::remember(const TreeBuilder &builder)
{
    m_last.clear();
    if (!m_isKept || builder.hasDroppedMembers())
        return;
    m_text.assign(m_message);
    m_last.swap(m_spans);
}

} // namespace davit::priv::pool
