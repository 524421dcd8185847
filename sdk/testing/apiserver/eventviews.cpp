#include "eventviews.h"

namespace davit::testing::apiserver {
namespace {

using support::membersOf;
using support::stringMember;

constexpr std::size_t kMaxWordLength = 128; // reason, action, reportingInstance
constexpr std::size_t kMaxNoteLength = 1024;

// How the server writes a member that is not set.
enum class Unset : unsigned char { LeftOut, Null, Object, Text };

struct Member
{
    const char *stored;
    const char *served;
    Unset unset;
};
using Members = std::vector<Member>;

// In the order of the server's answers.
const Members &membersIn(const Kind &kind)
{
    static const Members core{{"involvedObject", "involvedObject", Unset::Object},
        {"reason", "reason", Unset::LeftOut}, {"message", "message", Unset::LeftOut},
        {"source", "source", Unset::Object}, {"firstTimestamp", "firstTimestamp", Unset::Null},
        {"lastTimestamp", "lastTimestamp", Unset::Null}, {"count", "count", Unset::LeftOut},
        {"type", "type", Unset::LeftOut}, {"eventTime", "eventTime", Unset::Null},
        {"series", "series", Unset::LeftOut}, {"action", "action", Unset::LeftOut},
        {"related", "related", Unset::LeftOut},
        {"reportingComponent", "reportingComponent", Unset::Text},
        {"reportingInstance", "reportingInstance", Unset::Text}};
    static const Members events{{"eventTime", "eventTime", Unset::Null},
        {"series", "series", Unset::LeftOut},
        {"reportingComponent", "reportingController", Unset::LeftOut},
        {"reportingInstance", "reportingInstance", Unset::LeftOut},
        {"action", "action", Unset::LeftOut}, {"reason", "reason", Unset::LeftOut},
        {"involvedObject", "regarding", Unset::Object}, {"related", "related", Unset::LeftOut},
        {"message", "note", Unset::LeftOut}, {"type", "type", Unset::LeftOut},
        {"source", "deprecatedSource", Unset::Object},
        {"firstTimestamp", "deprecatedFirstTimestamp", Unset::Null},
        {"lastTimestamp", "deprecatedLastTimestamp", Unset::Null},
        {"count", "deprecatedCount", Unset::LeftOut}};
    return kind.group.empty() ? core : events;
}

bool isUnset(const Json &value)
{
    return value.is_null() || value == Json("") || value == Json(0) || value == Json::object();
}

void takeFrame(const Json &from, Json *to)
{
    for (const char *name : {"kind", "apiVersion", "metadata"})
        if (const auto member = from.find(name); member != from.end())
            (*to)[name] = *member;
}

Cause required(const char *field)
{
    return {"FieldValueRequired", "Required value", field};
}

Cause wrong(const char *field, const std::string &why, const Json &value = Json(""))
{
    return {"FieldValueInvalid", "Invalid value: " + value.dump() + ": " + why, field};
}

void checkWord(const Json &event, const char *name, std::vector<Cause> *causes)
{
    const std::size_t length = stringMember(event, name).size();
    if (length == 0)
        causes->push_back(required(name));
    else if (length > kMaxWordLength)
        causes->push_back(
            wrong(name, "can have at most " + std::to_string(kMaxWordLength) + " characters"));
}

// What both groups ask for; more of an Event that has an eventTime.
void looseCauses(const Kind &kind, const Json &event, std::vector<Cause> *causes)
{
    const std::string space = stringMember(membersOf(event, "metadata"), "namespace");
    const std::string about = stringMember(membersOf(event, "involvedObject"), "namespace");
    const bool isNew = event.contains("eventTime");
    const bool isApart = about.empty() ? space != "default" && (!isNew || space != "kube-system")
                                       : !isNew && about != space;
    if (isApart)
        causes->push_back(
            wrong("involvedObject.namespace", "does not match event.namespace", Json(about)));
    if (!isNew)
        return;
    if (stringMember(event, "reportingComponent").empty())
        causes->push_back(
            required(kind.group.empty() ? "reportingComponent" : "reportingController"));
    for (const char *name : {"reportingInstance", "action", "reason"})
        checkWord(event, name, causes);
    if (stringMember(event, "message").size() > kMaxNoteLength)
        causes->push_back(
            wrong("message", "can have at most " + std::to_string(kMaxNoteLength) + " characters"));
}

void seriesCauses(const Json &event, std::vector<Cause> *causes)
{
    const Json *const series = support::objectMember(event, "series");
    if (!series)
        return;
    if (support::intMember(*series, "count") < 2)
        causes->push_back(wrong("series.count", "should be at least 2"));
    if (stringMember(*series, "lastObservedTime").empty())
        causes->push_back(required("series.lastObservedTime"));
}

void strictNewCauses(const Json &event, std::vector<Cause> *causes)
{
    seriesCauses(event, causes);
    if (!event.contains("eventTime"))
        causes->push_back(required("eventTime"));
    const std::string type = stringMember(event, "type");
    if (type != "Normal" && type != "Warning")
        causes->push_back(wrong("type", "has invalid value: " + type));
    for (const char *name : {"firstTimestamp", "lastTimestamp", "count", "source"})
        if (event.contains(name))
            causes->push_back(wrong(name, "needs to be unset"));
}

void strictChangeCauses(const Json &before, const Json &after, std::vector<Cause> *causes)
{
    const auto member = [](const Json &event, const char *name) {
        const auto found = event.find(name);
        return found != event.end() ? *found : Json();
    };
    if (!support::isSameJson(member(before, "series"), member(after, "series")))
        seriesCauses(after, causes);
    // The server looks at "reason" twice, and tells it twice.
    for (const char *name : {"involvedObject", "reason", "message", "source", "firstTimestamp",
             "lastTimestamp", "count", "reason", "type", "eventTime", "action", "related",
             "reportingComponent", "reportingInstance"})
        if (!support::isSameJson(member(before, name), member(after, name)))
            causes->push_back(
                wrong(name == std::string("reportingComponent") ? "reportingController" : name,
                    "field is immutable", member(after, name)));
}

} // namespace

bool isEvent(const Kind &kind)
{
    return kind.isBuiltIn && kind.kind == "Event";
}

std::string storageGroup(const std::string &group, const std::string &plural)
{
    return group == "events.k8s.io" && plural == "events" ? std::string() : group;
}

Json storedEvent(const Kind &kind, const Json &served)
{
    Json stored = Json::object();
    takeFrame(served, &stored);
    for (const Member &member : membersIn(kind))
        if (const auto found = served.find(member.served);
            found != served.end() && !isUnset(*found))
            stored[member.stored] = *found;
    return stored;
}

Json servedEvent(const Kind &kind, const Json &stored)
{
    Json served = Json::object();
    takeFrame(stored, &served);
    for (const Member &member : membersIn(kind)) {
        if (const auto found = stored.find(member.stored); found != stored.end())
            served[member.served] = *found;
        else if (member.unset == Unset::Null)
            served[member.served] = nullptr;
        else if (member.unset == Unset::Object)
            served[member.served] = Json::object();
        else if (member.unset == Unset::Text)
            served[member.served] = "";
    }
    return served;
}

ApiFault checkEvent(const Kind &kind, const Json &before, const Json &after)
{
    const Json event = storedEvent(kind, after);
    std::vector<Cause> causes;
    looseCauses(kind, event, &causes);
    if (!kind.group.empty() && before.is_null())
        strictNewCauses(event, &causes);
    else if (!kind.group.empty())
        strictChangeCauses(storedEvent(kind, before), event, &causes);
    if (causes.empty())
        return {};
    Kind core = kind; // the refusals of both name that of the core group
    core.group.clear();
    return invalid(core, stringMember(membersOf(after, "metadata"), "name"), causes);
}

std::vector<std::string> eventFieldNames(const Kind &kind)
{
    std::vector<std::string> names{"metadata.name", "metadata.namespace", "reason", "type"};
    const bool isCore = kind.group.empty();
    for (const char *name :
        {"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"})
        names.push_back((isCore ? "involvedObject." : "regarding.") + std::string(name));
    names.push_back(isCore ? "reportingComponent" : "reportingController");
    if (isCore)
        names.push_back("source");
    return names;
}

std::map<std::string, std::string> eventFields(const Json &stored)
{
    const Json &metadata = membersOf(stored, "metadata");
    std::map<std::string, std::string> fields{{"metadata.name", stringMember(metadata, "name")},
        {"metadata.namespace", stringMember(metadata, "namespace")},
        {"reason", stringMember(stored, "reason")}, {"type", stringMember(stored, "type")}};
    const Json &about = membersOf(stored, "involvedObject");
    for (const char *name :
        {"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"})
        for (const char *member : {"involvedObject.", "regarding."})
            fields[member + std::string(name)] = stringMember(about, name);
    const std::string reporter = stringMember(stored, "reportingComponent");
    fields["reportingComponent"] = fields["reportingController"] = reporter;
    const std::string source = stringMember(membersOf(stored, "source"), "component");
    fields["source"] = source.empty() ? reporter : source;
    return fields;
}

} // namespace davit::testing::apiserver
