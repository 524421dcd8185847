// What a server serves, read from its discovery documents in both forms: the aggregated one, and
// the lists of groups, versions and resources of older servers. Pure functions.
// Source: Kubernetes API concepts, "Discovery API". Test: tst_discovery.
#pragma once

#include <QtCore/qstringlist.h>
#include <transport/resource.h>
#include <vector>

namespace davit::client {

// One resource in one version.
struct ApiResource
{
    transport::Resource resource;
    QString singular; // "widget"
    QStringList shortNames; // "wd"
    QStringList categories; // "all"
    QStringList verbs; // "get", "list", …
    QStringList subresources; // "status", "scale"
};

struct ApiVersion
{
    QString name; // "v1"
    // The server cannot say now what this version has: its own (aggregated) server is away.
    bool isStale = false;
    std::vector<ApiResource> resources;
};

struct ApiGroup
{
    QString name; // empty for the core group
    std::vector<ApiVersion> versions; // the preferred one first
};

// Which documents a group is in.
enum class DiscoveryRoot : quint8 { Core, Groups };
inline DiscoveryRoot rootOf(const QString &group)
{
    return group.isEmpty() ? DiscoveryRoot::Core : DiscoveryRoot::Groups;
}
QByteArray rootTarget(DiscoveryRoot root); // "/api", "/apis"
// For Accept: the aggregated form, or what there is.
extern const char kAggregatedAccept[];
// The path of a group and version's resource list: "/api/v1", "/apis/apps/v1".
QByteArray discoveryTarget(const Gvk &gvk);

// From an APIGroupDiscoveryList. False when the body is none.
bool readAggregated(const QByteArray &body, std::vector<ApiGroup> *groups);
// From an APIGroupList or, of the core group, APIVersions: groups and versions without resources.
bool readGroups(const QByteArray &body, std::vector<ApiGroup> *groups);
// From an APIResourceList; says what makes the body none, or nothing. As Go decodes it: a list that
// is null or left out is empty, and one wrong type spoils the whole. `groupVersion` names group and
// version.
QString readResources(
    const QByteArray &body, const Gvk &groupVersion, std::vector<ApiResource> *resources);

// How well a name fits a resource.
enum class NameMatch : quint8 { None, ShortName, Name };
// `name` is what people write, in any case: a plural, singular or kind, a short name, each with the
// group ("widgets.demo.example") or version and group ("widgets.v1.demo.example") behind it or not.
NameMatch matchName(const ApiResource &resource, const QString &name);

} // namespace davit::client
