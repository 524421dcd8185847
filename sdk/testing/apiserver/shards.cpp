// Shard selectors: which hashes of a field belong to a list or watch (1.9).
#include "apistore.h"
#include "faults.h"

#include <algorithm>
#include <limits>
#include <regex>

namespace davit::testing::apiserver {
namespace {

constexpr unsigned long long kLastHash = std::numeric_limits<unsigned long long>::max();
constexpr const char *kUid = "object.metadata.uid";
constexpr const char *kNamespace = "object.metadata.namespace";
constexpr const char *kBeyondLast = "0x10000000000000000";
constexpr std::size_t kLongestText = 4096; // std::regex goes as deep as a text is long

// FNV-1a, 64 bits.
unsigned long long hashOf(const std::string &text)
{
    unsigned long long hash = 14695981039346656037ULL;
    for (const char c : text)
        hash = (hash ^ (unsigned char)(c)) * 1099511628211ULL;
    return hash;
}

} // namespace

// Empty, or what is wrong.
std::string Shards::add(const std::string &field, const std::string &start, const std::string &end)
{
    if (field != kUid && field != kNamespace)
        return "unsupported field path \"" + field + "\"; supported: " + kUid + ", " + kNamespace;
    if (!m_field.empty() && field != m_field)
        return "all shard ranges must use the same field, got \"" + m_field + "\" and \"" + field
            + "\"";
    static const std::regex digits("0x[0-9a-f]{16}");
    for (const auto &[name, hash] : {std::pair("hexStart", start), std::pair("hexEnd", end)})
        if (hash != kBeyondLast && !std::regex_match(hash, digits))
            return name + (" must be a 0x-prefixed 16-digit hex value, got \"" + hash + "\"");
    const bool isToEnd = end == kBeyondLast;
    if (start == kBeyondLast || (!isToEnd && start >= end))
        return "shard range start " + start + " must be less than end " + end;
    m_field = field;
    m_ranges.push_back(
        {std::stoull(start, nullptr, 16), isToEnd ? kLastHash : std::stoull(end, nullptr, 16) - 1});
    m_text += (m_text.empty() ? "shardRange(" : " || shardRange(") + field + ", '" + start + "', '"
        + end + "')";
    return {};
}

ApiFault Shards::parse(const std::string &text, Shards *shards)
{
    if (text.empty())
        return {};
    const auto wrong = [](const std::string &fault) {
        return ApiFault{500, "", "invalid shard selector: " + fault, {}, {}}; // as the real one
    };
    if (text.find_first_not_of(" \t\r\n") == std::string::npos)
        return wrong(
            "empty shard selector is not allowed; omit the parameter for unfiltered lists");
    if (text.size() > kLongestText)
        return wrong("it is longer than " + std::to_string(kLongestText) + " bytes");
    static const std::regex call(R"re(\s*shardRange\s*\(\s*([\w.]+)\s*,\s*(['"])([^'"]*)\2\s*,)re"
                                 R"re(\s*(['"])([^'"]*)\4\s*\)\s*(\|\||$))re");
    auto at = text.cbegin();
    bool isOver = false;
    while (!isOver) {
        std::smatch match;
        if (!std::regex_search(
                at, text.cend(), match, call, std::regex_constants::match_continuous))
            return wrong("expected shardRange() call or || operator at \""
                + std::string(at, text.cend()) + "\"");
        if (const std::string fault = shards->add(match[1], match[3], match[5]); !fault.empty())
            return wrong(fault);
        isOver = match[6].length() == 0;
        at = match[0].second;
    }
    return {};
}

bool Shards::matches(const Record &record) const
{
    if (m_ranges.empty())
        return true;
    const unsigned long long hash = hashOf(m_field == kUid ? record.uid : record.namespaceName);
    return std::any_of(m_ranges.begin(), m_ranges.end(),
        [hash](const Range &range) { return range.first <= hash && hash <= range.last; });
}

} // namespace davit::testing::apiserver
