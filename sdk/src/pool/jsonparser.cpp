// The strict parser. Iterative: nesting costs no stack.
#include "jsonparser.h"

#include "treebuilder.h"

#include <simdjson.h>

namespace davit::priv::pool {
namespace {

using Kind = JsonEvent::Kind;

class Parser
{
public:
    Parser(std::string_view json, JsonTape &tape) : m_json(json), m_tape(tape) { }

    bool run()
    {
        if (!simdjson::validate_utf8(m_json.data(), m_json.size()))
            return fail("bytes that are not UTF-8");
        do {
            skipSpace();
        } while (step() && !m_isDone);
        skipSpace();
        if (m_tape.error == nullptr && m_at < m_json.size())
            fail("more text behind the value");
        return m_tape.error == nullptr;
    }

private:
    bool fail(const char *error)
    {
        m_tape.error = error;
        m_tape.errorByte = m_at;
        return false;
    }
    char peek() const { return m_at < m_json.size() ? m_json[m_at] : '\0'; }
    bool isAtEnd() const { return m_at >= m_json.size(); }
    bool accept(char c)
    {
        if (isAtEnd() || m_json[m_at] != c)
            return false;
        ++m_at;
        return true;
    }
    void skipSpace()
    {
        while (!isAtEnd() && (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t'))
            ++m_at;
    }
    void add(Kind kind, std::size_t offset = 0)
    {
        const std::size_t size = m_tape.text.size() - offset;
        m_tape.events.push_back({kind, std::uint32_t(size), offset});
    }
    void addPlain(Kind kind) { m_tape.events.push_back({kind, 0, 0}); }

    bool step();
    bool value();
    bool open(Kind kind);
    bool close(Kind kind);
    void valueDone() { m_isDone = m_open.empty(); }
    bool literal(std::string_view word, Kind kind);
    bool number();
    bool quoted(Kind kind);
    bool escape();
    bool hex4(std::uint32_t *unit);
    void appendUtf8(std::uint32_t point);

    const std::string_view m_json;
    JsonTape &m_tape;
    std::size_t m_at = 0;
    std::vector<std::uint32_t> m_open; // events that opened what is open
    bool m_needsComma = false;
    bool m_isDone = false;
};

// One value, or one end, with what must stand before it.
bool Parser::step()
{
    if (m_open.empty())
        return value();
    const bool isObject = m_tape.events[m_open.back()].kind == Kind::StartObject;
    if (peek() == (isObject ? '}' : ']') && !isAtEnd())
        return close(isObject ? Kind::EndObject : Kind::EndArray);
    if (m_needsComma) {
        if (!accept(','))
            return fail(isAtEnd() ? "the text ends too early" : "a comma or an end is missing");
        skipSpace();
    }
    if (isObject) {
        if (peek() != '"')
            return fail(isAtEnd() ? "the text ends too early" : "a member's name is missing");
        if (!quoted(Kind::Key))
            return false;
        skipSpace();
        if (!accept(':'))
            return fail(isAtEnd() ? "the text ends too early" : "a colon is missing");
        skipSpace();
    }
    return value();
}

bool Parser::value()
{
    bool isGood = false;
    switch (peek()) {
    case '{':
        return open(Kind::StartObject);
    case '[':
        return open(Kind::StartArray);
    case '"':
        isGood = quoted(Kind::String);
        break;
    case 't':
        isGood = literal("true", Kind::True);
        break;
    case 'f':
        isGood = literal("false", Kind::False);
        break;
    case 'n':
        isGood = literal("null", Kind::Null);
        break;
    default:
        isGood = number();
    }
    m_needsComma = true;
    valueDone();
    return isGood;
}

bool Parser::open(Kind kind)
{
    if (m_open.size() == kMaxDepth)
        return fail("nested deeper than 1024 levels");
    ++m_at;
    m_open.push_back(std::uint32_t(m_tape.events.size()));
    addPlain(kind);
    m_needsComma = false;
    return true;
}

bool Parser::close(Kind kind)
{
    ++m_at;
    addPlain(kind);
    m_tape.events[m_open.back()].size = std::uint32_t(m_tape.events.size());
    m_open.pop_back();
    m_needsComma = true;
    valueDone();
    return true;
}

bool Parser::literal(std::string_view word, Kind kind)
{
    if (m_json.substr(m_at, word.size()) != word)
        return fail("an unknown word");
    m_at += word.size();
    addPlain(kind);
    return true;
}

bool Parser::number()
{
    const auto digits = [this] {
        const std::size_t start = m_at;
        while (peek() >= '0' && peek() <= '9')
            ++m_at;
        return m_at > start;
    };
    const std::size_t start = m_at;
    accept('-');
    const bool hasZero = peek() == '0';
    const std::size_t first = m_at;
    if (!digits())
        return fail(isAtEnd() ? "the text ends too early" : "a value is missing");
    if (hasZero && m_at > first + 1)
        return fail("a number with a leading zero");
    if (accept('.') && !digits())
        return fail("a number without digits behind its point");
    if (accept('e') || accept('E')) {
        if (!accept('+'))
            accept('-');
        if (!digits())
            return fail("a number without digits in its exponent");
    }
    const std::size_t offset = m_tape.text.size();
    m_tape.text.append(m_json, start, m_at - start);
    add(Kind::Number, offset);
    return true;
}

bool Parser::quoted(Kind kind)
{
    ++m_at;
    const std::size_t offset = m_tape.text.size();
    for (;;) {
        const std::size_t start = m_at;
        while (!isAtEnd() && std::uint8_t(peek()) >= 0x20 && peek() != '"' && peek() != '\\')
            ++m_at;
        m_tape.text.append(m_json, start, m_at - start);
        if (isAtEnd())
            return fail("the text ends within a string");
        if (accept('"'))
            break;
        if (!accept('\\'))
            return fail("a control character in a string");
        if (!escape())
            return false;
    }
    add(kind, offset);
    return true;
}

bool Parser::escape()
{
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = peek();
    if (const std::size_t i = kLetters.find(letter); !isAtEnd() && i != std::string_view::npos) {
        m_tape.text += kMeanings[i];
        ++m_at;
        return true;
    }
    std::uint32_t point = 0;
    if (!accept('u'))
        return fail("an unknown escape");
    if (!hex4(&point))
        return false;
    if (point >= 0xdc00 && point <= 0xdfff)
        return fail("a lone surrogate");
    if (point >= 0xd800 && point <= 0xdbff) {
        std::uint32_t low = 0;
        if (m_json.substr(m_at, 2) != "\\u")
            return fail("a lone surrogate");
        m_at += 2;
        if (!hex4(&low))
            return false;
        if (low < 0xdc00 || low > 0xdfff)
            return fail("a lone surrogate");
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    appendUtf8(point);
    return true;
}

bool Parser::hex4(std::uint32_t *unit)
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

void Parser::appendUtf8(std::uint32_t point)
{
    std::string &out = m_tape.text;
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

} // namespace

bool parseJson(std::string_view json, JsonTape *tape)
{
    tape->events.clear();
    tape->text.clear();
    tape->error = nullptr;
    if (json.size() > 0xffffffffU) {
        tape->error = "larger than 4 GiB";
        return false;
    }
    return Parser(json, *tape).run();
}

} // namespace davit::priv::pool
