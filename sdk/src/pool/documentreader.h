// From JSON text to a TreeBuilder in one pass. Strict (RFC 8259): checks UTF-8, refuses lone
// surrogates and nesting beyond kMaxDepth, keeps each number's exact value, names the byte of a
// fault. Three things make it fast: members that are not wanted are stepped over unparsed (of them
// only brackets and quotes are looked at), parts that say what a known object holds in the same
// place are taken from there, and when that is the document read before, its text is still here, so
// that comparing is a memcmp. Test: tst_objectdecoder.
#pragma once

#include "jsonmatcher.h"
#include "lastdocument.h"
#include "treebuilder.h"

#include <davit/priv/poolaccess.h>
#include <forward_list>
#include <functional>
#include <vector>

namespace davit::priv::pool {

// What of a document is wanted.
struct Selection
{
    ManagedFields managedFields = ManagedFields::Keep;
    Depth depth = Depth::Full;
    // Members to put in front when the document has none of that name, or instead of them where
    // only metadata is wanted; empty: nothing.
    std::string_view apiVersion;
    std::string_view kind;

    bool wantsMember(std::string_view name) const noexcept; // of the root
    // A server that sends metadata alone calls every object a PartialObjectMetadata.
    bool replacesKind() const noexcept { return depth == Depth::MetadataOnly && !kind.empty(); }
    bool wantsMetadata(std::string_view name) const noexcept; // of its metadata
};

// The root of the pooled object that is most like the one of this namespace and name, or nothing.
// It lives until the document is read.
using KnownObjects = std::function<Place(std::string_view namespaceName, std::string_view name)>;

// Keeps its buffers between documents. Not thread-safe.
class DocumentReader
{
public:
    // The object in `json`, white space around it at most. `builder` is empty; on false it is to be
    // reset, and error() and errorByte() say why.
    bool readObject(std::string_view json, const Selection &selection, const KnownObjects &known,
        TreeBuilder &builder);
    // The same for text that goes on behind the object: `bytes` says how long it is. False also
    // when the text ends before it does.
    bool readFront(std::string_view json, const Selection &selection, const KnownObjects &known,
        TreeBuilder &builder, std::size_t *bytes);
    // Says that the document just read, whose text still stands, became this object. When `known`
    // of the next one names it too, that one's text is compared with this one's.
    void remember(Place root, const TreeBuilder &builder) { m_last.remember(m_at, root, builder); }
    // Another reader's object took the place of the last one.
    void forget() { m_last.forget(); }
    // Any value, whole.
    bool readValue(std::string_view json, TreeBuilder &builder);

    const char *error() const { return m_error; }
    std::size_t errorByte() const { return std::size_t(m_at - m_begin); }

private:
    enum class Level : std::uint8_t { Root, Metadata, Deeper };
    using Known = LastDocument::Known;
    using Similar = LastDocument::Similar;

    void start(std::string_view json, TreeBuilder &builder);
    bool readRoot(std::string_view json, const Selection &selection, const KnownObjects &known,
        TreeBuilder &builder);
    bool readOnce(std::string_view json, const KnownObjects &known, TreeBuilder &builder);
    bool fail(const char *error);
    bool failAtEnd(const char *error);
    bool isAtEnd() const { return m_at == m_end; }
    char peek() const { return m_at == m_end ? '\0' : *m_at; }
    bool accept(char c);
    void skipSpace();
    bool endOfText();

    bool value(Known similar);
    bool object(Level level, Known similar);
    bool rootMember(std::string_view name, Similar &similars);
    bool array(Known similar);
    bool enter(std::size_t *span);
    void leave(std::size_t span);
    bool string();
    bool number();
    bool word(std::string_view text);
    bool takeKnown(Place similar);
    bool takeSameText(Known similar);
    bool stepOver();
    Known findKnown();

    bool memberName(std::string_view *name);
    bool text(std::string_view *text, std::string *unescaped);
    const char *scanPlain(bool *hasHighBytes);
    bool escape(std::string &out);
    bool hex4(std::uint32_t *unit);

    TreeBuilder *m_builder = nullptr;
    const char *m_begin = nullptr;
    const char *m_at = nullptr;
    const char *m_end = nullptr;
    const char *m_error = nullptr;
    Selection m_selection;
    const KnownObjects *m_known = nullptr;
    JsonMatcher m_matcher;
    LastDocument m_last;
    std::uint32_t m_depth = 0;
    std::string m_unescaped;
    std::forward_list<std::string> m_names; // unescaped ones stay until the document is read
    // Whether a document has apiVersion and kind itself is known at its end only, and they go in
    // front: so it is guessed from the last document, and seldom read twice.
    bool m_guessedApiVersion = false;
    bool m_guessedKind = false;
    bool m_sawApiVersion = false;
    bool m_sawKind = false;
};

} // namespace davit::priv::pool
