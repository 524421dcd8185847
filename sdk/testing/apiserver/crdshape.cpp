#include "crdshape.h"

#include "objectshape.h"

#include <algorithm>

namespace davit::testing::apiserver {
namespace {

using Test = bool (*)(const Json &);

struct Member
{
    const char *name;
    const char *type; // in words of Go
    Test isRight;
};

bool isText(const Json &value)
{
    return value.is_string();
}

bool isBool(const Json &value)
{
    return value.is_boolean();
}

bool isMap(const Json &value)
{
    return value.is_object();
}

bool isInt32(const Json &value)
{
    return value.is_number_integer() && value >= -2147483648LL && value <= 2147483647LL;
}

bool isListOf(const Json &value, Test isRight)
{
    return value.is_array() && std::all_of(value.begin(), value.end(), isRight);
}

bool isTexts(const Json &value)
{
    return isListOf(value, isText);
}

bool isMaps(const Json &value)
{
    return isListOf(value, isMap);
}

constexpr Member kCrd[] = {{"spec", "object", isMap}};
constexpr Member kSpec[]
    = {{"group", "string", isText}, {"scope", "string", isText}, {"names", "object", isMap},
        {"versions", "[]object", isMaps}, {"preserveUnknownFields", "bool", isBool}};
constexpr Member kNames[] = {{"plural", "string", isText}, {"singular", "string", isText},
    {"kind", "string", isText}, {"listKind", "string", isText}, {"shortNames", "[]string", isTexts},
    {"categories", "[]string", isTexts}};
constexpr Member kVersion[] = {{"name", "string", isText}, {"served", "bool", isBool},
    {"storage", "bool", isBool}, {"deprecated", "bool", isBool}, {"schema", "object", isMap},
    {"subresources", "object", isMap}, {"additionalPrinterColumns", "[]object", isMaps}};
constexpr Member kSubresources[] = {{"status", "object", isMap}, {"scale", "object", isMap}};
constexpr Member kScale[] = {{"specReplicasPath", "string", isText},
    {"statusReplicasPath", "string", isText}, {"labelSelectorPath", "string", isText}};
constexpr Member kColumn[] = {{"name", "string", isText}, {"type", "string", isText},
    {"jsonPath", "string", isText}, {"priority", "int32", isInt32}};

// The first member of the object that has the wrong type, as a sentence; empty when all are right.
template <std::size_t N>
std::string wrongMember(const Json &object, const std::string &path, const Member (&members)[N])
{
    for (const Member &member : members) {
        const auto found = object.find(member.name);
        if (found != object.end() && !found->is_null() && !member.isRight(*found))
            return cannotUnmarshal(
                *found, "CustomResourceDefinition." + path + member.name, member.type);
    }
    return {};
}

std::string wrongInVersion(const Json &version, const std::string &path)
{
    std::string wrong = wrongMember(version, path, kVersion);
    const Json &subresources = support::membersOf(version, "subresources");
    if (wrong.empty())
        wrong = wrongMember(subresources, path + "subresources.", kSubresources);
    if (wrong.empty())
        wrong = wrongMember(
            support::membersOf(subresources, "scale"), path + "subresources.scale.", kScale);
    if (!wrong.empty())
        return wrong;
    for (const Json &column : support::itemsOf(version, "additionalPrinterColumns")) {
        wrong = wrongMember(column, path + "additionalPrinterColumns.", kColumn);
        if (!wrong.empty())
            break;
    }
    return wrong;
}

std::string wrongInCrd(const Json &crd)
{
    const Json &spec = support::membersOf(crd, "spec");
    std::string wrong = wrongMember(crd, "", kCrd);
    if (wrong.empty())
        wrong = wrongMember(spec, "spec.", kSpec);
    if (wrong.empty())
        wrong = wrongMember(support::membersOf(spec, "names"), "spec.names.", kNames);
    if (!wrong.empty())
        return wrong;
    for (const Json &version : support::itemsOf(spec, "versions")) {
        wrong = wrongInVersion(version, "spec.versions.");
        if (!wrong.empty())
            break;
    }
    return wrong;
}

} // namespace

ApiFault crdShapeFault(const Kind &kind, const Json &crd)
{
    const std::string wrong = wrongInCrd(crd);
    if (wrong.empty())
        return {};
    return badRequest(kind.kind + " in version \"" + kind.version + "\" cannot be handled as a "
        + kind.kind + ": " + wrong);
}

std::vector<Cause> crdCauses(const Json &crd)
{
    std::vector<Cause> causes;
    const auto needText = [&causes](const Json &object, const char *name, std::string path) {
        if (support::stringMember(object, name).empty())
            causes.push_back({"FieldValueRequired", "Required value", std::move(path)});
    };
    const Json &spec = support::membersOf(crd, "spec");
    needText(spec, "group", "spec.group");
    needText(support::membersOf(spec, "names"), "plural", "spec.names.plural");
    needText(support::membersOf(spec, "names"), "kind", "spec.names.kind");
    const Json &versions = support::itemsOf(spec, "versions");
    if (versions.empty())
        causes.push_back({"FieldValueRequired", "Required value", "spec.versions"});
    for (std::size_t i = 0; i < versions.size(); ++i)
        needText(versions[i], "name", "spec.versions[" + std::to_string(i) + "].name");
    return causes;
}

} // namespace davit::testing::apiserver
