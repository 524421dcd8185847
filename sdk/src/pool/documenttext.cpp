// Reading documents: strings and numbers.
#include "documentreader.h"

#include <charconv>
#include <cmath>
#include <simdjson.h>

namespace davit::priv::pool {
namespace {

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

} // namespace davit::priv::pool
