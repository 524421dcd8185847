// The text of the document that was read before, and where in it the containers of its object
// stand: what comes again with the same bytes in the same place is taken from that object, after
// one memcmp. Borrows the pooled object through Places; not thread-safe. Test: tst_objectdecoder
// similar.
#pragma once

#include "place.h"
#include "treebuilder.h"

#include <string>
#include <vector>

namespace davit::priv::pool {

class LastDocument
{
public:
    static constexpr std::uint32_t kNoSpan = 0xffffffffU;
    // Where a container below the root stands in a text, in the order of their first bytes.
    struct Span
    {
        std::uint32_t begin;
        std::uint32_t end;
        std::uint32_t spans; // this one and those of the containers within, if they are known
    };
    // What a known object holds in the same place.
    struct Known
    {
        Place place;
        std::uint32_t span = kNoSpan; // of it in the last text; kNoSpan: its text is not known
    };
    class Similar;

    // A new document is read.
    void start(const char *text, std::size_t size);
    // The root of a known object.
    Known rootAs(Place root) const { return {root, root && root.block == m_root ? 0 : kNoSpan}; }
    // A container begins at `at`; tell leave() of its end.
    std::size_t enter(const char *at);
    void leave(std::size_t span, const char *at);
    // A container that was read without looking what is within.
    void addWhole(const char *begin, const char *end);
    // How long the known container's text is; 0 when it is not known.
    std::size_t sizeOf(Known known) const;
    // Builds the known container when its text stands at `at` again, of which `available` bytes
    // are there: the bytes taken, else 0. Comparing in vain is bounded by the document's size.
    std::size_t take(const char *at, std::size_t available, Known known, TreeBuilder &builder);
    bool hasPatience() const { return m_patienceBytes >= 0; }
    void losePatience(std::ptrdiff_t bytes) { m_patienceBytes -= bytes; }
    // The document that was read ends at `end` and became this object.
    void remember(const char *end, Place root, const TreeBuilder &builder);
    void forget() { m_root = 0; }

private:
    const char *m_begin = nullptr;
    std::string m_text;
    std::vector<Span> m_last;
    std::vector<Span> m_spans; // of the one that is being read
    Ref m_root = 0;
    std::ptrdiff_t m_patienceBytes = 0;
};

// Members or elements of a known container, in the order in which they come again.
class LastDocument::Similar
{
public:
    Similar(Known container, const LastDocument &document) : m_document(document)
    {
        set(container);
    }
    void set(Known container);
    Known find(std::string_view name);
    Known next() { return m_rest.next() ? here(m_rest.value(), &m_span) : Known(); }

private:
    Known here(Place child, std::uint32_t *span) const;

    const LastDocument &m_document;
    Children m_rest{Place()};
    std::uint32_t m_span = kNoSpan;
};

} // namespace davit::priv::pool
