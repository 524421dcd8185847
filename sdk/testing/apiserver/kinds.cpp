#include "kinds.h"

#include "eventviews.h"

#include <algorithm>

namespace davit::testing::apiserver {
namespace {

enum Flag : unsigned {
    None = 0,
    Cluster = 1, // not namespaced
    WithStatus = 2,
    WithGeneration = 4,
    Scales = 8,
    ReturnsDeleted = 16,
    LabelName = 32,
    PathName = 64,
    InAll = 128 // kubectl get all
};

struct Row
{
    const char *group;
    const char *version;
    const char *kind;
    const char *plural;
    const char *shortName;
    unsigned flags;
};

constexpr Row kRows[] = {
    {"", "v1", "ConfigMap", "configmaps", "cm", None},
    {"", "v1", "Secret", "secrets", "", None},
    {"", "v1", "Namespace", "namespaces", "ns", Cluster | WithStatus | ReturnsDeleted | LabelName},
    {"", "v1", "Pod", "pods", "po", WithStatus | WithGeneration | ReturnsDeleted | InAll},
    {"", "v1", "Service", "services", "svc", WithStatus | ReturnsDeleted | LabelName | InAll},
    {"", "v1", "ServiceAccount", "serviceaccounts", "sa", ReturnsDeleted},
    {"", "v1", "Event", "events", "ev", None},
    {"", "v1", "Endpoints", "endpoints", "ep", None},
    {"", "v1", "Node", "nodes", "no", Cluster | WithStatus},
    {"", "v1", "PersistentVolume", "persistentvolumes", "pv",
        Cluster | WithStatus | ReturnsDeleted},
    {"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "pvc",
        WithStatus | ReturnsDeleted},
    {"", "v1", "ReplicationController", "replicationcontrollers", "rc",
        WithStatus | WithGeneration | Scales | InAll},
    {"", "v1", "LimitRange", "limitranges", "limits", None},
    {"", "v1", "ResourceQuota", "resourcequotas", "quota", WithStatus | ReturnsDeleted},
    {"apps", "v1", "Deployment", "deployments", "deploy",
        WithStatus | WithGeneration | Scales | InAll},
    {"apps", "v1", "ReplicaSet", "replicasets", "rs", WithStatus | WithGeneration | Scales | InAll},
    {"apps", "v1", "StatefulSet", "statefulsets", "sts",
        WithStatus | WithGeneration | Scales | InAll},
    {"apps", "v1", "DaemonSet", "daemonsets", "ds", WithStatus | WithGeneration | InAll},
    {"apps", "v1", "ControllerRevision", "controllerrevisions", "", None},
    {"batch", "v1", "Job", "jobs", "", WithStatus | WithGeneration | InAll},
    {"batch", "v1", "CronJob", "cronjobs", "cj", WithStatus | WithGeneration | InAll},
    {"coordination.k8s.io", "v1", "Lease", "leases", "", None},
    {"events.k8s.io", "v1", "Event", "events", "ev", None},
    {"networking.k8s.io", "v1", "Ingress", "ingresses", "ing", WithStatus | WithGeneration},
    {"networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", "netpol", WithGeneration},
    {"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "pdb",
        WithStatus | WithGeneration},
    {"rbac.authorization.k8s.io", "v1", "Role", "roles", "", PathName},
    {"rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", "", PathName},
    {"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", "", Cluster | PathName},
    {"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", "",
        Cluster | PathName},
    {"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", "crd",
        Cluster | WithStatus | WithGeneration},
};

std::string lowerCase(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
        [](unsigned char c) { return char(std::tolower(c)); });
    return text;
}

std::vector<std::string> textsOf(const Json &list)
{
    std::vector<std::string> texts;
    for (const Json &item : list)
        if (item.is_string())
            texts.push_back(item.get<std::string>());
    return texts;
}

std::vector<PrinterColumn> columnsOf(const Json &version)
{
    std::vector<PrinterColumn> columns;
    for (const Json &item : support::itemsOf(version, "additionalPrinterColumns"))
        columns.push_back({support::stringMember(item, "name"), support::stringMember(item, "type"),
            support::stringMember(item, "jsonPath"), support::intMember(item, "priority")});
    return columns;
}

// The subresources of one version of a CRD.
void setSubresources(Kind &kind, const Json &version)
{
    const Json *subresources = support::objectMember(version, "subresources");
    if (!subresources)
        return;
    kind.hasStatus = subresources->contains("status");
    if (const Json *scale = support::objectMember(*subresources, "scale")) {
        kind.scaleReplicasPath = support::stringMember(*scale, "specReplicasPath");
        kind.scaleStatusPath = support::stringMember(*scale, "statusReplicasPath");
        kind.scaleSelectorPath = support::stringMember(*scale, "labelSelectorPath");
    }
}

} // namespace

KindRegistry::KindRegistry()
{
    for (const Row &row : kRows) {
        Kind kind;
        kind.group = row.group;
        kind.version = row.version;
        kind.kind = row.kind;
        kind.plural = row.plural;
        kind.singular = lowerCase(kind.kind);
        kind.listKind = kind.kind + "List";
        if (*row.shortName)
            kind.shortNames = {row.shortName};
        if (row.flags & InAll)
            kind.categories = {"all"};
        kind.isNamespaced = !(row.flags & Cluster);
        kind.hasStatus = row.flags & WithStatus;
        kind.hasGeneration = row.flags & WithGeneration;
        kind.isReturnedWhenDeleted = row.flags & ReturnsDeleted;
        kind.nameRule = row.flags & LabelName ? NameRule::Label
            : row.flags & PathName            ? NameRule::PathSegment
                                              : NameRule::Subdomain;
        if (kind.group.empty() && kind.kind == "Pod")
            kind.createdPart = "eviction";
        else if (kind.group.empty() && kind.kind == "ServiceAccount")
            kind.createdPart = "token";
        if (row.flags & Scales) {
            kind.scaleReplicasPath = ".spec.replicas";
            kind.scaleStatusPath = ".status.replicas";
            kind.scaleSelectorPath = ".spec.selector";
        }
        add(std::move(kind));
    }
}

int KindRegistry::add(Kind kind)
{
    const auto place = m_storages
                           .emplace(std::pair(storageGroup(kind.group, kind.plural), kind.plural),
                               int(m_storages.size()))
                           .first;
    kind.storageId = place->second;
    m_kinds.push_back(std::make_unique<Kind>(std::move(kind)));
    return place->second;
}

const Kind *KindRegistry::find(
    const std::string &group, const std::string &version, const std::string &plural) const
{
    for (const auto &kind : m_kinds)
        if (kind->plural == plural && kind->group == group && kind->version == version
            && !m_retired.count(kind.get()))
            return kind.get();
    return nullptr;
}

const Kind *KindRegistry::findByKind(const std::string &apiVersion, const std::string &name) const
{
    for (const Kind *kind : all())
        if (kind->kind == name && kind->apiVersion() == apiVersion)
            return kind;
    return nullptr;
}

const Kind *KindRegistry::findByStorage(int storageId) const
{
    for (const Kind *kind : all())
        if (kind->storageId == storageId)
            return kind;
    return nullptr;
}

std::vector<const Kind *> KindRegistry::all() const
{
    std::vector<const Kind *> kinds;
    kinds.reserve(m_kinds.size());
    for (const auto &kind : m_kinds)
        if (!m_retired.count(kind.get()))
            kinds.push_back(kind.get());
    return kinds;
}

std::vector<const Kind *> KindRegistry::ofGroupVersion(
    const std::string &group, const std::string &version) const
{
    std::vector<const Kind *> kinds;
    for (const Kind *kind : all())
        if (kind->group == group && kind->version == version)
            kinds.push_back(kind);
    return kinds;
}

std::vector<std::pair<std::string, std::vector<std::string>>> KindRegistry::groups() const
{
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;
    for (const Kind *kind : all()) {
        if (kind->group.empty())
            continue;
        auto group = std::find_if(groups.begin(), groups.end(),
            [kind](const auto &other) { return other.first == kind->group; });
        if (group == groups.end())
            group = groups.insert(groups.end(), {kind->group, {}});
        auto &versions = group->second;
        if (std::find(versions.begin(), versions.end(), kind->version) == versions.end())
            versions.push_back(kind->version);
    }
    return groups;
}

int KindRegistry::registerCrd(const Json &crd)
{
    const Json *spec = support::objectMember(crd, "spec");
    const Json *names = spec ? support::objectMember(*spec, "names") : nullptr;
    const Json *versions = spec ? support::arrayMember(*spec, "versions") : nullptr;
    if (!names || !versions)
        return -1;
    Kind base;
    base.group = support::stringMember(*spec, "group");
    base.kind = support::stringMember(*names, "kind");
    base.plural = support::stringMember(*names, "plural");
    base.singular = support::stringMember(*names, "singular");
    base.listKind = support::stringMember(*names, "listKind");
    base.shortNames = textsOf(support::itemsOf(*names, "shortNames"));
    base.categories = textsOf(support::itemsOf(*names, "categories"));
    base.isNamespaced = support::stringMember(*spec, "scope") != "Cluster";
    base.isBuiltIn = false;
    base.hasGeneration = true;
    if (base.singular.empty())
        base.singular = lowerCase(base.kind);
    if (base.listKind.empty())
        base.listKind = base.kind + "List";
    unregister(base.group, base.plural);
    int storageId = -1;
    for (const Json &version : *versions) {
        if (!support::boolMember(version, "served", true))
            continue;
        Kind kind = base;
        kind.version = support::stringMember(version, "name");
        kind.columns = columnsOf(version);
        setSubresources(kind, version);
        storageId = add(std::move(kind));
    }
    return storageId;
}

int KindRegistry::storageOf(const std::string &group, const std::string &plural) const
{
    const auto found = m_storages.find({storageGroup(group, plural), plural});
    return found != m_storages.end() ? found->second : -1;
}

void KindRegistry::unregister(const std::string &group, const std::string &plural)
{
    for (const auto &kind : m_kinds)
        if (kind->group == group && kind->plural == plural)
            m_retired.insert(kind.get());
}

bool KindRegistry::isServed(const Kind &kind) const
{
    return !m_retired.count(&kind) || find(kind.group, kind.version, kind.plural);
}

} // namespace davit::testing::apiserver
