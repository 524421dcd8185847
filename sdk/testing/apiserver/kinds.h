// The kinds that the embedded API server serves: a built-in table, and what CRDs add while it runs.
#pragma once

#include "apitypes.h"

#include <memory>
#include <set>

namespace davit::testing::apiserver {

enum class NameRule : unsigned char { Subdomain, Label, PathSegment };

// A column of a CRD's table.
struct PrinterColumn
{
    std::string name;
    std::string type;
    std::string jsonPath; // ".spec.size"
    int priority = 0;
};

// One resource in one version. Immutable once registered; never freed before the server.
struct Kind
{
    std::string group; // empty for the core group
    std::string version;
    std::string kind;
    std::string plural;
    std::string singular;
    std::vector<std::string> shortNames;
    std::vector<std::string> categories;
    bool isNamespaced = true;
    bool isBuiltIn = true;
    bool hasStatus = false; // status subresource
    bool hasGeneration = false;
    bool isReturnedWhenDeleted = false; // DELETE answers the object, not a Status
    NameRule nameRule = NameRule::Subdomain;
    std::string listKind;
    // Dotted paths, empty without a scale subresource.
    std::string scaleReplicasPath;
    std::string scaleStatusPath;
    std::string scaleSelectorPath;
    std::vector<PrinterColumn> columns; // of CRDs
    std::string createdPart; // a subresource that is only created: "eviction"; may be empty
    int storageId = 0; // versions of one resource share it, and the two groups of Events

    std::string apiVersion() const { return group.empty() ? version : group + "/" + version; }
    // "deployments.apps", "pods"
    std::string resource() const { return group.empty() ? plural : plural + "." + group; }
    // For patches and ownership: empty for a custom resource.
    std::string builtInKind() const { return isBuiltIn ? kind : std::string(); }
    bool hasScale() const { return !scaleReplicasPath.empty(); }
};

class KindRegistry
{
public:
    KindRegistry();

    // nullptr when nothing of that name is served.
    const Kind *find(
        const std::string &group, const std::string &version, const std::string &plural) const;
    const Kind *findByKind(const std::string &apiVersion, const std::string &kind) const;
    // Some served version of a storage, the first registered.
    const Kind *findByStorage(int storageId) const;
    // In the order of registration.
    std::vector<const Kind *> all() const;
    std::vector<const Kind *> ofGroupVersion(
        const std::string &group, const std::string &version) const;
    // Served versions of each group, in the order of registration; the core group is left out.
    std::vector<std::pair<std::string, std::vector<std::string>>> groups() const;

    // Serves what a CRD object describes, replacing what it described before. Gives the storage.
    int registerCrd(const Json &crd);
    // The storage id of group and plural, or -1.
    int storageOf(const std::string &group, const std::string &plural) const;
    void unregister(const std::string &group, const std::string &plural);
    // Whether the kind, or what a changed CRD made of it, is served still.
    bool isServed(const Kind &kind) const;

private:
    int add(Kind kind);

    std::vector<std::unique_ptr<Kind>> m_kinds;
    std::set<const Kind *> m_retired; // no longer served, still pointed to
    std::map<std::pair<std::string, std::string>, int> m_storages;
};

} // namespace davit::testing::apiserver
