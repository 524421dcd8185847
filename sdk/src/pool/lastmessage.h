// The protobuf message that was read before, and the blocks that its lists, maps and messages
// became: what comes again with the same bytes in the same place is that block, after one memcmp.
// Borrows the blocks: whoever uses it holds the object. Not thread-safe. Test: tst_protobufreader,
// similar.
#pragma once

#include "treebuilder.h"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace davit::priv::pool {

class LastMessage
{
    // Where a list, map or message stands in its message, in the order of their first bytes.
    struct Span
    {
        std::uint32_t begin;
        std::uint32_t end;
        std::uint32_t spans; // this one and those within
        std::uint32_t number; // of the field
        Ref block; // 0: it lies in its parent
    };

public:
    // A span of the last message.
    using Known = std::uint32_t;
    static constexpr Known kUnknown = std::numeric_limits<Known>::max();
    // What is directly within a known span, in the order in which it comes again.
    class Within
    {
    public:
        Within() = default;
        Within(const LastMessage &message, Known around);
        // Of a message: numbers are asked for in ascending order.
        Known find(std::uint32_t number);
        // Of a list.
        Known next();

    private:
        const Span *m_spans = nullptr; // the last message's
        Known m_at = 0;
        Known m_end = 0;
    };

    // A new message is read.
    void start(std::string_view message);
    // The whole of the last message.
    Known root() const { return m_last.empty() ? kUnknown : 0; }
    // What field `number` holds begins at `at`; tell leave() of its end and what it became.
    std::size_t enter(const char *at, std::uint32_t number);
    void leave(std::size_t span, const char *at, Ref block);
    // Builds the known span's block when these are its bytes. Comparing in vain is bounded by the
    // message's size.
    bool take(std::string_view bytes, Known known, TreeBuilder &builder);
    // The message that was read became an object, which now lives at least as long as this.
    void remember(const TreeBuilder &builder);
    void forget() { m_last.clear(); }

private:
    std::string_view m_message;
    std::string m_text;
    std::vector<Span> m_last;
    std::vector<Span> m_spans; // of the one that is being read
    std::ptrdiff_t m_patienceBytes = 0;
    bool m_isKept = false; // the message that is being read; of a large one no spans are noted
};

} // namespace davit::priv::pool
