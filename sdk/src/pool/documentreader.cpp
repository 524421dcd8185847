// Reading documents.
#include "documentreader.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <simdjson.h>
#include <support/bracketscanner.h>
#include <utility>

namespace davit::priv::pool {
namespace {

// Comparing in vain may cost so many times the document's size: deep nesting could make it more.
constexpr std::ptrdiff_t kPatience = 4;
constexpr const char *kTooEarly = "the text ends too early";
constexpr const char *kLoneSurrogate = "a lone surrogate";
constexpr const char *kNoUtf8 = "bytes that are not UTF-8";

constexpr std::uint64_t repeated(std::uint8_t byte)
{
    return 0x0101010101010101U * byte;
}

// Of eight bytes: the highest bit of each that ends plain text in a string. Bits above the lowest
// one that is set may be wrong.
std::uint64_t specialBytes(std::uint64_t bytes)
{
    const std::uint64_t quote = bytes ^ repeated('"');
    const std::uint64_t backslash = bytes ^ repeated('\\');
    return (((quote - repeated(1)) & ~quote) | ((backslash - repeated(1)) & ~backslash)
               | ((bytes - repeated(0x20)) & ~bytes))
        & repeated(0x80);
}

bool isSpecial(char c)
{
    return c == '"' || c == '\\' || std::uint8_t(c) < 0x20;
}

void appendUtf8(std::uint32_t point, std::string &out)
{
    if (point < 0x80) {
        out += char(point);
        return;
    }
    if (point < 0x800) {
        out += char(0xc0 | point >> 6);
    } else {
        if (point < 0x10000) {
            out += char(0xe0 | point >> 12);
        } else {
            out += char(0xf0 | point >> 18);
            out += char(0x80 | (point >> 12 & 0x3f));
        }
        out += char(0x80 | (point >> 6 & 0x3f));
    }
    out += char(0x80 | (point & 0x3f));
}

// As a 64-bit integer or a double where that is exact; else as text.
void emitNumber(std::string_view text, bool isWhole, TreeBuilder &builder)
{
    const char *const end = text.data() + text.size();
    std::int64_t whole = 0;
    std::uint64_t positive = 0;
    if (isWhole && text != "-0") {
        if (std::from_chars(text.data(), end, whole).ec == std::errc())
            return builder.integer(whole);
        if (std::from_chars(text.data(), end, positive).ec == std::errc())
            return builder.unsignedInteger(positive);
    } else if (!isWhole) {
        const double real = readNumber(text);
        if (std::isfinite(real))
            return builder.number(real);
    }
    builder.numberText(text);
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

// Members of a known object, in the order in which they come again.
class DocumentReader::Similar
{
public:
    explicit Similar(Place object) { set(object); }
    void set(Place object)
    {
        m_rest = Children(typeOf(object) == ValueType::Object ? object : Place());
    }
    Place find(std::string_view name)
    {
        for (Children ahead = m_rest; ahead.next();) {
            if (ahead.name() == name) {
                m_rest = ahead;
                return ahead.value();
            }
        }
        return {};
    }

private:
    Children m_rest{Place()};
};

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

// From within a string to the next quote, backslash or control character, or the text's end.
const char *DocumentReader::scanPlain(bool *hasHighBytes)
{
    std::uint64_t high = 0;
    const char *p = m_at;
    for (; m_end - p >= 8; p += 8) {
        const auto bytes = readPlain<std::uint64_t>(p);
        if (specialBytes(bytes) != 0)
            break;
        high |= bytes;
    }
    for (; p < m_end && !isSpecial(*p); ++p)
        high |= std::uint8_t(*p);
    *hasHighBytes = *hasHighBytes || (high & repeated(0x80)) != 0;
    return p;
}

// A string; in `unescaped` when it has escapes, else in the text itself.
bool DocumentReader::text(std::string_view *text, std::string *unescaped)
{
    const char *const begin = ++m_at;
    bool hasHighBytes = false;
    const char *stop = scanPlain(&hasHighBytes);
    *text = {begin, std::size_t(stop - begin)};
    m_at = stop;
    if (peek() == '\\') {
        unescaped->assign(begin, stop);
        while (accept('\\')) {
            if (!escape(*unescaped))
                return false;
            const char *const plain = m_at;
            m_at = scanPlain(&hasHighBytes);
            unescaped->append(plain, m_at);
        }
        *text = *unescaped;
    }
    if (!accept('"'))
        return fail(
            isAtEnd() ? "the text ends within a string" : "a control character in a string");
    if (hasHighBytes && !simdjson::validate_utf8(text->data(), text->size())) {
        m_at = begin;
        return fail(kNoUtf8);
    }
    return true;
}

bool DocumentReader::escape(std::string &out)
{
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = peek();
    if (const std::size_t i = kLetters.find(letter); !isAtEnd() && i != std::string_view::npos) {
        out += kMeanings[i];
        ++m_at;
        return true;
    }
    std::uint32_t point = 0;
    if (!accept('u'))
        return fail("an unknown escape");
    if (!hex4(&point))
        return false;
    if (point >= 0xdc00 && point <= 0xdfff)
        return fail(kLoneSurrogate);
    if (point >= 0xd800 && point <= 0xdbff) {
        std::uint32_t low = 0;
        if (m_end - m_at < 2 || m_at[0] != '\\' || m_at[1] != 'u')
            return fail(kLoneSurrogate);
        m_at += 2;
        if (!hex4(&low))
            return false;
        if (low < 0xdc00 || low > 0xdfff)
            return fail(kLoneSurrogate);
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    appendUtf8(point, out);
    return true;
}

bool DocumentReader::hex4(std::uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; ++i, ++m_at) {
        const char c = peek();
        std::uint32_t digit = 0;
        if (c >= '0' && c <= '9')
            digit = std::uint32_t(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = std::uint32_t(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F')
            digit = std::uint32_t(c - 'A' + 10);
        else
            return fail("an escape without four hex digits");
        *unit = *unit << 4 | digit;
    }
    return true;
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

bool DocumentReader::value(Place similar) // NOLINT(misc-no-recursion)
{
    switch (peek()) {
    case '{':
        return takeKnown(similar) || object(Level::Deeper, similar);
    case '[':
        return takeKnown(similar) || array(similar);
    case '"':
        return takeKnown(similar) || string();
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

bool DocumentReader::takeKnown(Place similar)
{
    if (!similar || m_patienceBytes < 0)
        return false;
    if (m_matcher.match(m_at, m_end, similar)) {
        m_builder->value(similar);
        m_at = m_matcher.reached();
        return true;
    }
    m_patienceBytes -= m_matcher.reached() - m_at;
    return false;
}

bool DocumentReader::object(Level level, Place similar) // NOLINT(misc-no-recursion)
{
    if (m_depth == kMaxDepth)
        return fail("nested deeper than 1024 levels");
    ++m_depth;
    ++m_at;
    Similar similars(similar);
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
    --m_depth;
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

bool DocumentReader::array(Place similar) // NOLINT(misc-no-recursion)
{
    if (m_depth == kMaxDepth)
        return fail("nested deeper than 1024 levels");
    ++m_depth;
    ++m_at;
    Children similars(typeOf(similar) == ValueType::Array ? similar : Place());
    m_builder->startArray();
    skipSpace();
    for (bool isFirst = true; !accept(']'); isFirst = false) {
        if (!isFirst && !accept(','))
            return failAtEnd("a comma or an end is missing");
        skipSpace();
        if (!value(similars.next() ? similars.value() : Place()))
            return false;
        skipSpace();
    }
    --m_depth;
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

bool DocumentReader::number()
{
    const auto digits = [this] {
        const char *const first = m_at;
        while (!isAtEnd() && *m_at >= '0' && *m_at <= '9')
            ++m_at;
        return m_at > first;
    };
    const char *const begin = m_at;
    accept('-');
    const char *const first = m_at;
    if (!digits())
        return failAtEnd("a value is missing");
    if (*first == '0' && m_at > first + 1)
        return fail("a number with a leading zero");
    bool isWhole = true;
    if (accept('.')) {
        isWhole = false;
        if (!digits())
            return fail("a number without digits behind its point");
    }
    if (accept('e') || accept('E')) {
        isWhole = false;
        if (!accept('+'))
            accept('-');
        if (!digits())
            return fail("a number without digits in its exponent");
    }
    emitNumber({begin, std::size_t(m_at - begin)}, isWhole, *m_builder);
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
    const bool isGood = value({});
    m_builder = builder;
    return isGood;
}

// Looks ahead in the metadata for name and namespace; what is wrong there is found by who reads it.
Place DocumentReader::findKnown()
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
    return (*m_known)(namespaceName, name);
}

// Documents ------------------------------------------------------------------------------------

void DocumentReader::start(std::string_view json, TreeBuilder &builder)
{
    m_builder = &builder;
    m_begin = m_at = json.data();
    m_end = m_begin + json.size();
    m_error = nullptr;
    m_depth = 0;
    m_patienceBytes = std::ptrdiff_t(json.size()) * kPatience;
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
    return value({}) && endOfText();
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
    return object(Level::Root, {});
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
