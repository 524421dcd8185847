// Reading documents.
#include "documentreader.h"

#include <cstring>
#include <support/bracketscanner.h>
#include <utility>

namespace davit::priv::pool {
namespace {

constexpr const char *kTooEarly = "the text ends too early";

// To compare with another string costs more than to read this one.
bool isStoredAsRead(Place place)
{
    return place
        && (*place.p == TagStringRef || (*place.p >= TagShortString && *place.p < TagNull));
}

} // namespace

bool Selection::wantsMember(std::string_view name) const noexcept
{
    return depth == Depth::Full || name == "metadata"
        || (!replacesKind() && (name == "apiVersion" || name == "kind"));
}

bool Selection::wantsMetadata(std::string_view name) const noexcept
{
    return managedFields == ManagedFields::Keep || name != "managedFields";
}

// Text -----------------------------------------------------------------------------------------

bool DocumentReader::fail(const char *error)
{
    if (m_error == nullptr)
        m_error = error;
    return false;
}

bool DocumentReader::failAtEnd(const char *error)
{
    return fail(isAtEnd() ? kTooEarly : error);
}

bool DocumentReader::accept(char c)
{
    if (isAtEnd() || *m_at != c)
        return false;
    ++m_at;
    return true;
}

void DocumentReader::skipSpace()
{
    while (!isAtEnd() && (*m_at == ' ' || *m_at == '\n' || *m_at == '\r' || *m_at == '\t'))
        ++m_at;
}

bool DocumentReader::memberName(std::string_view *name)
{
    if (peek() != '"')
        return failAtEnd("a member's name is missing");
    m_unescaped.clear();
    if (!text(name, &m_unescaped))
        return false;
    if (name->data() == m_unescaped.data())
        *name = m_names.emplace_front(*name);
    skipSpace();
    if (!accept(':'))
        return failAtEnd("a colon is missing");
    skipSpace();
    return true;
}

// Values ---------------------------------------------------------------------------------------

bool DocumentReader::value(Known similar) // NOLINT(misc-no-recursion)
{
    switch (peek()) {
    case '{':
        return takeSameText(similar) || object(Level::Deeper, similar);
    case '[':
        return takeSameText(similar) || array(similar);
    case '"':
        return (isStoredAsRead(similar.place) && takeKnown(similar.place)) || string();
    case 't':
        m_builder->boolean(true);
        return word("true");
    case 'f':
        m_builder->boolean(false);
        return word("false");
    case 'n':
        m_builder->null();
        return word("null");
    default:
        return number();
    }
}

// A container whose text is that of the known one.
bool DocumentReader::takeSameText(Known similar)
{
    const char *const begin = m_at;
    if (similar.span == LastDocument::kNoSpan) {
        if (!takeKnown(similar.place))
            return false;
        m_last.addWhole(begin, m_at);
        return true;
    }
    m_at += m_last.take(m_at, std::size_t(m_end - m_at), similar, *m_builder);
    return m_at != begin;
}

bool DocumentReader::takeKnown(Place similar)
{
    if (!similar || !m_last.hasPatience())
        return false;
    if (m_matcher.match(m_at, m_end, similar)) {
        m_builder->value(similar);
        m_at = m_matcher.reached();
        return true;
    }
    m_last.losePatience(m_matcher.reached() - m_at);
    return false;
}

bool DocumentReader::enter(std::size_t *span)
{
    if (m_depth == kMaxDepth)
        return fail("nested deeper than 1024 levels");
    *span = m_last.enter(m_at);
    ++m_depth;
    ++m_at;
    return true;
}

void DocumentReader::leave(std::size_t span)
{
    --m_depth;
    m_last.leave(span, m_at);
}

bool DocumentReader::object(Level level, Known similar) // NOLINT(misc-no-recursion)
{
    std::size_t span = 0;
    if (!enter(&span))
        return false;
    Similar similars(similar, m_last);
    if (level != Level::Root)
        m_builder->startObject();
    skipSpace();
    for (bool isFirst = true; !accept('}'); isFirst = false) {
        if (!isFirst && !accept(','))
            return failAtEnd("a comma or an end is missing");
        skipSpace();
        std::string_view name;
        if (!memberName(&name))
            return false;
        if (level == Level::Root) {
            if (!rootMember(name, similars))
                return false;
        } else if (level == Level::Metadata && !m_selection.wantsMetadata(name)) {
            if (!stepOver())
                return false;
        } else {
            m_builder->key(name);
            if (!value(similars.find(name)))
                return false;
        }
        skipSpace();
    }
    leave(span);
    m_builder->endObject();
    return true;
}

bool DocumentReader::rootMember(std::string_view name, Similar &similars)
{
    if (!m_selection.wantsMember(name))
        return stepOver();
    m_sawApiVersion = m_sawApiVersion || name == "apiVersion";
    m_sawKind = m_sawKind || name == "kind";
    m_builder->key(name);
    if (name != "metadata" || peek() != '{')
        return value(similars.find(name));
    if (m_known != nullptr && *m_known)
        similars.set(findKnown());
    return object(Level::Metadata, similars.find(name));
}

bool DocumentReader::array(Known similar) // NOLINT(misc-no-recursion)
{
    std::size_t span = 0;
    if (!enter(&span))
        return false;
    Similar similars(similar, m_last);
    m_builder->startArray();
    skipSpace();
    for (bool isFirst = true; !accept(']'); isFirst = false) {
        if (!isFirst && !accept(','))
            return failAtEnd("a comma or an end is missing");
        skipSpace();
        if (!value(similars.next()))
            return false;
        skipSpace();
    }
    leave(span);
    m_builder->endArray();
    return true;
}

bool DocumentReader::string()
{
    std::string_view content;
    if (!text(&content, &m_unescaped))
        return false;
    m_builder->string(content);
    return true;
}

bool DocumentReader::word(std::string_view text)
{
    if (std::size_t(m_end - m_at) < text.size() || std::memcmp(m_at, text.data(), text.size()) != 0)
        return fail("an unknown word");
    m_at += text.size();
    return true;
}

// Of a container only brackets and quotes are looked at.
bool DocumentReader::stepOver()
{
    if (peek() == '{' || peek() == '[') {
        support::BracketScanner scanner;
        m_at = scanner.feed(m_at, m_end);
        return scanner.isDone() || fail(kTooEarly);
    }
    TreeBuilder nowhere(Storage::Private);
    TreeBuilder *const builder = std::exchange(m_builder, &nowhere);
    const bool isGood = value(Known());
    m_builder = builder;
    return isGood;
}

// Looks ahead in the metadata for name and namespace; what is wrong there is found by who reads it.
DocumentReader::Known DocumentReader::findKnown()
{
    const char *const at = m_at;
    std::string_view name;
    std::string_view namespaceName;
    std::string unescaped[2];
    skipSpace();
    for (bool isFirst = true; accept(isFirst ? '{' : ','); isFirst = false) {
        std::string_view member;
        skipSpace();
        if (peek() != '"' || !memberName(&member))
            break;
        const bool isName = member == "name";
        if ((isName || member == "namespace") && peek() == '"') {
            if (!text(isName ? &name : &namespaceName, &unescaped[isName ? 0 : 1]))
                break;
        } else if (!stepOver()) {
            break;
        }
        if (!name.empty() && !namespaceName.empty())
            break;
        skipSpace();
    }
    m_at = at;
    m_error = nullptr;
    const Place root = (*m_known)(namespaceName, name);
    return m_last.rootAs(root);
}

// Documents ------------------------------------------------------------------------------------

void DocumentReader::start(std::string_view json, TreeBuilder &builder)
{
    m_builder = &builder;
    m_begin = m_at = json.data();
    m_end = m_begin + json.size();
    m_error = nullptr;
    m_depth = 0;
    m_last.start(m_begin, json.size());
    m_names.clear();
    skipSpace();
}

bool DocumentReader::endOfText()
{
    skipSpace();
    return isAtEnd() || fail("more text behind the value");
}

bool DocumentReader::readValue(std::string_view json, TreeBuilder &builder)
{
    start(json, builder);
    m_known = nullptr;
    return value(Known()) && endOfText();
}

bool DocumentReader::readOnce(
    std::string_view json, const KnownObjects &known, TreeBuilder &builder)
{
    start(json, builder);
    m_known = &known;
    m_sawApiVersion = m_sawKind = false;
    builder.startObject();
    if (!m_selection.apiVersion.empty() && !m_guessedApiVersion) {
        builder.key("apiVersion");
        builder.string(m_selection.apiVersion);
    }
    if (!m_selection.kind.empty() && !m_guessedKind) {
        builder.key("kind");
        builder.string(m_selection.kind);
    }
    return object(Level::Root, Known());
}

bool DocumentReader::readObject(std::string_view json, const Selection &selection,
    const KnownObjects &known, TreeBuilder &builder)
{
    return readRoot(json, selection, known, builder) && endOfText();
}

bool DocumentReader::readFront(std::string_view json, const Selection &selection,
    const KnownObjects &known, TreeBuilder &builder, std::size_t *bytes)
{
    if (!readRoot(json, selection, known, builder))
        return false;
    *bytes = std::size_t(m_at - m_begin);
    return true;
}

bool DocumentReader::readRoot(std::string_view json, const Selection &selection,
    const KnownObjects &known, TreeBuilder &builder)
{
    start(json, builder);
    if (peek() != '{') {
        if (isAtEnd())
            return fail(kTooEarly);
        m_at = m_begin;
        return fail("no JSON object");
    }
    m_selection = selection;
    if (!readOnce(json, known, builder))
        return false;
    const bool isGuessRight
        = (selection.apiVersion.empty() || m_sawApiVersion == m_guessedApiVersion)
        && (selection.kind.empty() || m_sawKind == m_guessedKind);
    m_guessedApiVersion = m_sawApiVersion;
    m_guessedKind = m_sawKind;
    if (isGuessRight)
        return true;
    builder.reset();
    return readOnce(json, known, builder);
}

} // namespace davit::priv::pool
