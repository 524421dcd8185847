// Packing and unpacking of strings.
#include "packedstring.h"

#include "encoding.h"

#include <array>
#include <charconv>

namespace davit::priv::pool {
namespace {

constexpr std::size_t kMinHexChars = 8;
constexpr std::size_t kMinDecimalChars = 5;
constexpr std::size_t kMinSuffixChars = 5;
constexpr std::size_t kMaxSuffixChars = 10;
constexpr std::size_t kMaxHexChars = 510;
constexpr std::array<std::uint8_t, 4> kUuidDashes{8, 13, 18, 23};

constexpr std::array<std::int8_t, 256> hexTable()
{
    std::array<std::int8_t, 256> table{};
    for (std::int8_t &digit : table)
        digit = -1;
    for (int i = 0; i < 10; ++i)
        table[std::size_t('0' + i)] = std::int8_t(i);
    for (int i = 0; i < 6; ++i)
        table[std::size_t('a' + i)] = std::int8_t(10 + i);
    return table;
}
constexpr std::array<std::int8_t, 256> kHexValue = hexTable();

int hexValue(char c) noexcept
{
    return kHexValue[std::uint8_t(c)];
}

bool isDigit(char c) noexcept
{
    return c >= '0' && c <= '9';
}

// The number in text[at, at + count); false unless all are digits.
bool digits(std::string_view text, std::size_t at, std::size_t count, std::uint32_t *value) noexcept
{
    std::uint32_t sum = 0;
    for (std::size_t i = at; i < at + count; ++i) {
        if (!isDigit(text[i]))
            return false;
        sum = sum * 10 + std::uint32_t(text[i] - '0');
    }
    *value = sum;
    return true;
}

void appendDigits(std::uint32_t value, int width, std::string &out)
{
    char text[10];
    for (int i = width - 1; i >= 0; --i, value /= 10)
        text[i] = char('0' + value % 10);
    out.append(text, std::size_t(width));
}

// Days since 1970-01-01 of a date of the Gregorian calendar, and back (Hinnant's algorithms).
std::uint32_t daysOf(std::uint32_t year, std::uint32_t month, std::uint32_t day) noexcept
{
    year -= month <= 2 ? 1 : 0;
    const std::uint32_t era = year / 400;
    const std::uint32_t yearOfEra = year - era * 400;
    const std::uint32_t dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    const std::uint32_t dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
    return era * 146097 + dayOfEra - 719468;
}

void appendDate(std::uint32_t days, std::string &out)
{
    days += 719468;
    const std::uint32_t era = days / 146097;
    const std::uint32_t dayOfEra = days - era * 146097;
    const std::uint32_t yearOfEra
        = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365;
    const std::uint32_t dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
    const std::uint32_t shifted = (5 * dayOfYear + 2) / 153;
    const std::uint32_t month = shifted < 10 ? shifted + 3 : shifted - 9;
    appendDigits(yearOfEra + era * 400 + (month <= 2 ? 1 : 0), 4, out);
    out += '-';
    appendDigits(month, 2, out);
    out += '-';
    appendDigits(dayOfYear - (153 * shifted + 2) / 5 + 1, 2, out);
}

bool isDate(std::uint32_t year, std::uint32_t month, std::uint32_t day) noexcept
{
    constexpr std::array<std::uint8_t, 12> lengths{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (year < 1970 || year > 2105 || month < 1 || month > 12 || day < 1)
        return false;
    const bool isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day <= lengths[month - 1] + (isLeap && month == 2 ? 1U : 0U);
}

// "2026-01-02T03:04:05", the first 19 characters.
bool parseTime(std::string_view text, std::uint32_t *seconds) noexcept
{
    std::uint32_t year = 0;
    std::uint32_t month = 0;
    std::uint32_t day = 0;
    std::uint32_t hour = 0;
    std::uint32_t minute = 0;
    std::uint32_t second = 0;
    if (text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':')
        return false;
    if (!digits(text, 0, 4, &year) || !digits(text, 5, 2, &month) || !digits(text, 8, 2, &day)
        || !digits(text, 11, 2, &hour) || !digits(text, 14, 2, &minute)
        || !digits(text, 17, 2, &second))
        return false;
    if (!isDate(year, month, day) || hour > 23 || minute > 59 || second > 59)
        return false;
    *seconds = daysOf(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    return true;
}

void appendTime(std::uint32_t seconds, std::string &out)
{
    appendDate(seconds / 86400, out);
    const std::uint32_t ofDay = seconds % 86400;
    out += 'T';
    appendDigits(ofDay / 3600, 2, out);
    out += ':';
    appendDigits(ofDay / 60 % 60, 2, out);
    out += ':';
    appendDigits(ofDay % 60, 2, out);
}

template <typename T> std::size_t put(std::uint8_t *out, Tag tag, const T &value) noexcept
{
    *out = tag;
    std::memcpy(out + 1, &value, sizeof value);
    return 1 + sizeof value;
}

std::size_t packTimes(std::string_view text, std::uint8_t *out) noexcept
{
    std::uint32_t seconds = 0;
    std::uint32_t micro = 0;
    if (text.back() != 'Z' || !parseTime(text, &seconds))
        return 0;
    if (text.size() == 20)
        return put(out, TagTime, seconds);
    if (text[19] != '.' || !digits(text, 20, 6, &micro))
        return 0;
    put(out, TagMicroTime, seconds);
    std::memcpy(out + 5, &micro, 3);
    return 8;
}

std::size_t packUuid(std::string_view text, std::uint8_t *out) noexcept
{
    char hex[32];
    std::size_t count = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i == kUuidDashes[0] || i == kUuidDashes[1] || i == kUuidDashes[2]
            || i == kUuidDashes[3]) {
            if (text[i] != '-')
                return 0;
        } else {
            hex[count++] = text[i];
        }
    }
    *out = TagUuid;
    return packHex({hex, sizeof hex}, out + 1) ? 17 : 0;
}

char *writeHex(const std::uint8_t *bytes, std::size_t count, char *text) noexcept
{
    constexpr char kDigits[] = "0123456789abcdef";
    for (std::size_t i = 0; i < count; ++i) {
        *text++ = kDigits[bytes[i] >> 4];
        *text++ = kDigits[bytes[i] & 15];
    }
    return text;
}

void appendUuid(const std::uint8_t *bytes, std::string &out)
{
    char text[36];
    char *p = text;
    for (std::size_t i = 0; i < 16; i += 2) {
        if (i >= 4 && i <= 10)
            *p++ = '-';
        p = writeHex(bytes + i, 2, p);
    }
    out.append(text, sizeof text);
}

// A number of at most `limit`, without leading zeros, at text[*at]; -1 when there is none.
int shortNumber(std::string_view text, std::size_t *at, int limit) noexcept
{
    const std::size_t start = *at;
    int value = 0;
    for (; *at < text.size() && *at < start + 3 && isDigit(text[*at]); ++*at)
        value = value * 10 + (text[*at] - '0');
    const std::size_t size = *at - start;
    return size == 0 || value > limit || (size > 1 && text[start] == '0') ? -1 : value;
}

// "10.0.0.1" and "10.0.0.1/32".
std::size_t packIpv4(std::string_view text, std::uint8_t *out) noexcept
{
    std::size_t at = 0;
    for (int part = 0; part < 4; ++part) {
        if (part > 0 && (at >= text.size() || text[at++] != '.'))
            return 0;
        const int value = shortNumber(text, &at, 255);
        if (value < 0)
            return 0;
        out[1 + part] = std::uint8_t(value);
    }
    *out = TagIpv4;
    if (at == text.size())
        return 5;
    if (text[at++] != '/')
        return 0;
    const int bits = shortNumber(text, &at, 32);
    *out = TagIpv4Prefix;
    out[5] = std::uint8_t(bits);
    return bits >= 0 && at == text.size() ? 6 : 0;
}

std::size_t packDecimal(std::string_view text, std::uint8_t *out) noexcept
{
    if (text[0] == '0')
        return 0;
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return 0;
    return put(out, TagDecimal, value);
}

} // namespace

bool packHex(std::string_view text, std::uint8_t *out) noexcept
{
    if (text.size() % 2 != 0)
        return false;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int value = (hexValue(text[i]) << 4) | hexValue(text[i + 1]);
        if (value < 0)
            return false;
        *out++ = std::uint8_t(value);
    }
    return true;
}

std::size_t trailingHex(std::string_view text) noexcept
{
    std::size_t count = 0;
    while (
        count < text.size() && count < kMaxHexChars && hexValue(text[text.size() - 1 - count]) >= 0)
        ++count;
    return count & ~std::size_t(1);
}

std::size_t generatedSuffix(std::string_view text) noexcept
{
    constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";
    std::size_t size = 0;
    while (size < text.size() && size <= kMaxSuffixChars
        && letters.find(text[text.size() - 1 - size]) != std::string_view::npos)
        ++size;
    const bool isSuffix = size >= kMinSuffixChars && size <= kMaxSuffixChars && size < text.size()
        && text[text.size() - 1 - size] == '-';
    return isSuffix ? size : 0;
}

std::size_t packString(std::string_view text, std::uint8_t *out) noexcept
{
    const std::size_t size = text.size();
    if (size < kMinDecimalChars || size > kMaxHexChars || hexValue(text[0]) < 0)
        return 0;
    std::size_t packed = 0;
    if (size == 36)
        packed = packUuid(text, out);
    else if (size == 20 || size == 27)
        packed = packTimes(text, out);
    else if (size <= 10 && isDigit(text[0]))
        packed = packDecimal(text, out);
    if (packed == 0 && size >= 7 && size <= 18 && isDigit(text[0]))
        packed = packIpv4(text, out);
    if (packed == 0 && size >= kMinHexChars && hexValue(text.back()) >= 0
        && packHex(text, out + 2)) {
        out[0] = TagHex;
        out[1] = std::uint8_t(size / 2);
        packed = 2 + size / 2;
    }
    return packed;
}

void appendHex(const std::uint8_t *bytes, std::size_t count, std::string &out)
{
    const std::size_t size = out.size();
    out.resize(size + 2 * count);
    writeHex(bytes, count, out.data() + size);
}

void unpackString(const std::uint8_t *p, std::string &out)
{
    switch (*p) {
    case TagUuid:
        appendUuid(p + 1, out);
        break;
    case TagTime:
        appendTime(readPlain<std::uint32_t>(p + 1), out);
        out += 'Z';
        break;
    case TagMicroTime: {
        appendTime(readPlain<std::uint32_t>(p + 1), out);
        std::uint32_t micro = 0;
        std::memcpy(&micro, p + 5, 3);
        out += '.';
        appendDigits(micro, 6, out);
        out += 'Z';
        break;
    }
    case TagHex:
        appendHex(p + 2, p[1], out);
        break;
    case TagIpv4:
    case TagIpv4Prefix:
        for (int i = 1; i <= 4; ++i)
            out.append(i > 1 ? "." : "").append(std::to_string(p[i]));
        if (*p == TagIpv4Prefix)
            out.append("/").append(std::to_string(p[5]));
        break;
    case TagDecimal:
        out += std::to_string(readPlain<std::uint32_t>(p + 1));
        break;
    default:
        break;
    }
}

} // namespace davit::priv::pool
