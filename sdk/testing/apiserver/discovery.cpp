#include "discovery.h"

namespace davit::testing::apiserver {
namespace {

// The release whose behaviour is copied.
constexpr const char *kServedVersion = "v1.37.2";

std::string dump(const Json &tree)
{
    return support::toStdString(support::dumpJson(tree));
}

Json textList(const std::vector<std::string> &texts)
{
    Json list = Json::array();
    for (const std::string &text : texts)
        list.push_back(text);
    return list;
}

const Json &objectVerbs()
{
    static const Json verbs = Json::array(
        {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"});
    return verbs;
}

// What is created as a kind's createdPart.
Json createdKind(const Kind &kind)
{
    const bool isEviction = kind.createdPart == "eviction";
    return {{"group", isEviction ? "policy" : "authentication.k8s.io"}, {"version", "v1"},
        {"kind", isEviction ? "Eviction" : "TokenRequest"}};
}

const Json &partVerbs()
{
    static const Json verbs = Json::array({"get", "patch", "update"});
    return verbs;
}

Json groupEntry(const std::string &group, const std::vector<std::string> &versions)
{
    Json list = Json::array();
    for (const std::string &version : versions)
        list.push_back({{"groupVersion", group + "/" + version}, {"version", version}});
    Json entry{{"name", group}};
    entry["preferredVersion"] = list.front();
    entry["versions"] = std::move(list);
    return entry;
}

Json responseKind(const std::string &group, const std::string &version, const std::string &kind)
{
    return {{"group", group}, {"version", version}, {"kind", kind}};
}

Json aggregatedResource(const Kind &kind)
{
    Json resource{{"resource", kind.plural},
        {"responseKind", responseKind(kind.group, kind.version, kind.kind)},
        {"scope", kind.isNamespaced ? "Namespaced" : "Cluster"},
        {"singularResource", kind.singular}, {"verbs", objectVerbs()}};
    if (!kind.shortNames.empty())
        resource["shortNames"] = textList(kind.shortNames);
    if (!kind.categories.empty())
        resource["categories"] = textList(kind.categories);
    Json parts = Json::array();
    if (kind.hasStatus)
        parts.push_back({{"subresource", "status"},
            {"responseKind", responseKind(kind.group, kind.version, kind.kind)},
            {"verbs", partVerbs()}});
    if (kind.hasScale())
        parts.push_back({{"subresource", "scale"},
            {"responseKind", responseKind("autoscaling", "v1", "Scale")}, {"verbs", partVerbs()}});
    if (!kind.createdPart.empty())
        parts.push_back({{"subresource", kind.createdPart}, {"responseKind", createdKind(kind)},
            {"verbs", Json::array({"create"})}});
    if (!parts.empty())
        resource["subresources"] = std::move(parts);
    return resource;
}

Json aggregatedVersion(
    const KindRegistry &kinds, const std::string &group, const std::string &version)
{
    Json resources = Json::array();
    for (const Kind *kind : kinds.ofGroupVersion(group, version))
        resources.push_back(aggregatedResource(*kind));
    return {{"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}};
}

std::string itemPath(const Kind &kind)
{
    return (kind.group.empty() ? "/api/" : "/apis/") + kind.apiVersion()
        + (kind.isNamespaced ? "/namespaces/{namespace}/" : "/") + kind.plural + "/{name}";
}

std::string schemaName(const Kind &kind)
{
    return "io.davit.embedded." + (kind.group.empty() ? std::string("core") : kind.group) + "."
        + kind.version + "." + kind.kind;
}

Json gvkList(const Kind &kind)
{
    return responseKind(kind.group, kind.version, kind.kind);
}

// kubectl looks here for the query parameters of a PATCH before it sends one.
Json patchOperation(const Kind &kind)
{
    Json parameters = Json::array();
    for (const char *name : {"dryRun", "fieldManager", "fieldValidation", "force"})
        parameters.push_back({{"name", name}, {"in", "query"},
            {"schema",
                {{"type", name == std::string("force") ? "boolean" : "string"},
                    {"uniqueItems", true}}}});
    Json operation{{"operationId", "patch" + kind.kind}, {"parameters", std::move(parameters)}};
    operation["responses"]["200"] = {{"description", "OK"}};
    operation["x-kubernetes-action"] = "patch";
    operation["x-kubernetes-group-version-kind"] = gvkList(kind);
    return operation;
}

} // namespace

std::string coreVersionsJson(const std::string &address)
{
    Json versions{{"kind", "APIVersions"}, {"versions", Json::array({"v1"})}};
    versions["serverAddressByClientCIDRs"] = Json::array();
    versions["serverAddressByClientCIDRs"].push_back(
        {{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", address}});
    return dump(versions);
}

std::string groupListJson(const KindRegistry &kinds)
{
    Json list{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", Json::array()}};
    for (const auto &[group, versions] : kinds.groups())
        list["groups"].push_back(groupEntry(group, versions));
    return dump(list);
}

std::string groupJson(const KindRegistry &kinds, const std::string &wanted)
{
    for (const auto &[group, versions] : kinds.groups()) {
        if (group != wanted)
            continue;
        Json entry{{"kind", "APIGroup"}, {"apiVersion", "v1"}};
        entry.update(groupEntry(group, versions));
        return dump(entry);
    }
    return {};
}

std::string resourceListJson(
    const KindRegistry &kinds, const std::string &group, const std::string &version)
{
    Json resources = Json::array();
    for (const Kind *kind : kinds.ofGroupVersion(group, version)) {
        Json entry{{"name", kind->plural}, {"singularName", kind->singular},
            {"namespaced", kind->isNamespaced}, {"kind", kind->kind}, {"verbs", objectVerbs()}};
        if (!kind->shortNames.empty())
            entry["shortNames"] = textList(kind->shortNames);
        if (!kind->categories.empty())
            entry["categories"] = textList(kind->categories);
        resources.push_back(std::move(entry));
        if (kind->hasStatus)
            resources.push_back({{"name", kind->plural + "/status"}, {"singularName", ""},
                {"namespaced", kind->isNamespaced}, {"kind", kind->kind}, {"verbs", partVerbs()}});
        if (kind->hasScale())
            resources.push_back({{"name", kind->plural + "/scale"}, {"singularName", ""},
                {"namespaced", kind->isNamespaced}, {"group", "autoscaling"}, {"version", "v1"},
                {"kind", "Scale"}, {"verbs", partVerbs()}});
        if (!kind->createdPart.empty()) {
            Json part{{"name", kind->plural + "/" + kind->createdPart}, {"singularName", ""},
                {"namespaced", kind->isNamespaced}};
            part.update(createdKind(*kind));
            part["verbs"] = Json::array({"create"});
            resources.push_back(std::move(part));
        }
    }
    if (resources.empty())
        return {};
    Json list{{"kind", "APIResourceList"}};
    if (!group.empty())
        list["apiVersion"] = "v1";
    list["groupVersion"] = group.empty() ? version : group + "/" + version;
    list["resources"] = std::move(resources);
    return dump(list);
}

std::string aggregatedJson(const KindRegistry &kinds, bool isCore)
{
    Json list{{"kind", "APIGroupDiscoveryList"}, {"apiVersion", "apidiscovery.k8s.io/v2"},
        {"metadata", Json::object()}, {"items", Json::array()}};
    const auto add = [&](const std::string &group, const std::vector<std::string> &versions) {
        Json item{{"metadata", Json::object()}, {"versions", Json::array()}};
        if (!group.empty())
            item["metadata"]["name"] = group;
        for (const std::string &version : versions)
            item["versions"].push_back(aggregatedVersion(kinds, group, version));
        list["items"].push_back(std::move(item));
    };
    if (isCore)
        add({}, {"v1"});
    else
        for (const auto &[group, versions] : kinds.groups())
            add(group, versions);
    return dump(list);
}

std::string versionJson()
{
    return dump(
        {{"major", "1"}, {"minor", "37"}, {"gitVersion", std::string(kServedVersion) + "+davit"},
            {"gitCommit", ""}, {"gitTreeState", "clean"}, {"buildDate", "2026-01-01T00:00:00Z"},
            {"goVersion", ""}, {"compiler", ""}, {"platform", "linux/amd64"}});
}

std::string openApiIndexJson(const KindRegistry &kinds)
{
    Json paths = Json::object();
    const auto add = [&paths](const std::string &path) {
        paths[path] = {{"serverRelativeURL", "/openapi/v3/" + path}};
    };
    add("api/v1");
    for (const auto &[group, versions] : kinds.groups())
        for (const std::string &version : versions)
            add("apis/" + group + "/" + version);
    Json index = Json::object();
    index["paths"] = std::move(paths);
    return dump(index);
}

std::string openApiJson(
    const KindRegistry &kinds, const std::string &group, const std::string &version)
{
    const auto served = kinds.ofGroupVersion(group, version);
    if (served.empty())
        return {};
    Json document{{"openapi", "3.0.0"},
        {"info", {{"title", "Davit embedded API server"}, {"version", kServedVersion}}}};
    Json &paths = document["paths"] = Json::object();
    Json &schemas = document["components"]["schemas"] = Json::object();
    for (const Kind *kind : served) {
        paths[itemPath(*kind)]["patch"] = patchOperation(*kind);
        Json schema{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
        schema["x-kubernetes-group-version-kind"] = Json::array();
        schema["x-kubernetes-group-version-kind"].push_back(gvkList(*kind));
        schemas[schemaName(*kind)] = std::move(schema);
    }
    return dump(document);
}

} // namespace davit::testing::apiserver
