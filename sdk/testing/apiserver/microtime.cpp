#include "microtime.h"

#include <QtCore/qdatetime.h>
#include <cstdlib>
#include <map>
#include <support/gotext.h>
#include <support/rfc3339.h>

namespace davit::testing::apiserver {
namespace {

struct TimeMember
{
    const char *group;
    const char *kind;
    const char *pointer;
    const char *field; // in words of Go
};

constexpr char kLeases[] = "coordination.k8s.io";
constexpr TimeMember kMembers[] = {
    {kLeases, "Lease", "/spec/acquireTime", "LeaseSpec.spec.acquireTime"},
    {kLeases, "Lease", "/spec/renewTime", "LeaseSpec.spec.renewTime"},
    {kLeases, "LeaseCandidate", "/spec/pingTime", "LeaseCandidateSpec.spec.pingTime"},
    {kLeases, "LeaseCandidate", "/spec/renewTime", "LeaseCandidateSpec.spec.renewTime"},
    {"", "Event", "/eventTime", "Event.eventTime"},
    {"", "Event", "/series/lastObservedTime", "EventSeries.series.lastObservedTime"},
    {"events.k8s.io", "Event", "/eventTime", "Event.eventTime"},
    {"events.k8s.io", "Event", "/series/lastObservedTime", "EventSeries.series.lastObservedTime"}};

bool isDigits(const std::string &text, std::size_t from, std::size_t count)
{
    return text.size() >= from + count
        && text.find_first_not_of("0123456789", from) >= from + count;
}

// How many characters of the text, from `at` on, are this part of the layout; 0: none are.
std::size_t lengthOf(const std::string &part, const std::string &text, std::size_t at)
{
    if (part == "15") // the only one that may have one digit
        return isDigits(text, at, 2) ? 2 : isDigits(text, at, 1) ? 1 : 0;
    if (part == ".000000")
        return text.find_first_of(".,", at) == at && isDigits(text, at + 1, 6) ? 7 : 0;
    if (part == "Z07:00") {
        if (text.compare(at, 1, "Z") == 0)
            return 1;
        const bool isOffset = text.find_first_of("+-", at) == at && isDigits(text, at + 1, 2)
            && text.compare(at + 3, 1, ":") == 0 && isDigits(text, at + 4, 2);
        return isOffset ? 6 : 0;
    }
    if (part.front() >= '0' && part.front() <= '9')
        return isDigits(text, at, part.size()) ? part.size() : 0;
    return text.compare(at, part.size(), part) == 0 ? part.size() : 0;
}

// Calls `visit` with each one that is there and not null, until it answers with something.
template <typename Tree, typename Visit>
std::string forEachTime(const Kind &kind, Tree &object, Visit visit)
{
    std::string answer;
    for (const TimeMember &member : kMembers) {
        if (!kind.isBuiltIn || kind.group != member.group || kind.kind != member.kind)
            continue;
        const Json::json_pointer pointer(member.pointer);
        if (answer.empty() && object.contains(pointer) && !object.at(pointer).is_null())
            answer = visit(member, object.at(pointer));
    }
    return answer;
}

// What Go says of a text that is no such time; empty when it is one.
std::string notMicroTime(const std::string &text)
{
    static const std::string layout = "2006-01-02T15:04:05.000000Z07:00";
    static const std::vector<std::string> parts{
        "2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05", ".000000", "Z07:00"};
    const std::string begin = "parsing time \"" + text + '"';
    std::map<std::string, int> numbers;
    std::size_t at = 0;
    for (const std::string &part : parts) {
        const std::size_t length = lengthOf(part, text, at);
        if (length == 0)
            return begin + " as \"" + layout + "\": cannot parse \"" + text.substr(at) + "\" as \""
                + part + '"';
        if (part.front() >= '0' && part.front() <= '9')
            numbers[part] = std::atoi(text.substr(at, length).c_str());
        static const std::map<std::string, std::pair<int, const char *>> limits{
            {"01", {12, "month"}}, {"15", {23, "hour"}}, {"04", {59, "minute"}},
            {"05", {59, "second"}}};
        const auto limit = limits.find(part);
        if (limit != limits.end()
            && (numbers[part] > limit->second.first || (part == "01" && numbers[part] == 0)))
            return begin + ": " + limit->second.second + " out of range";
        at += length;
    }
    if (at < text.size())
        return begin + ": extra text: \"" + text.substr(at) + '"';
    return QDate::isValid(numbers["2006"], numbers["01"], numbers["02"])
        ? std::string()
        : begin + ": day out of range";
}

} // namespace

std::string wrongMicroTime(const Kind &kind, const Json &object, Reader reader)
{
    return forEachTime(kind, object, [reader](const TimeMember &member, const Json &value) {
        if (value.is_string())
            return notMicroTime(value.get<std::string>());
        return reader == Reader::Decoder ? cannotUnmarshal(value, member.field, "string")
                                         : support::noGoValue(value, "string");
    });
}

void writeMicroTimes(const Kind &kind, Json &object)
{
    forEachTime(kind, object, [](const TimeMember &, Json &value) {
        const QString text = QString::fromStdString(value.get<std::string>());
        if (const auto time = support::parseRfc3339(text); time && !text.endsWith(QLatin1Char('Z')))
            value = support::rfc3339(*time, 6).toStdString();
        return std::string();
    });
}

} // namespace davit::testing::apiserver
