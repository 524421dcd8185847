#include "discovery.h"

#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <QtCore/qurl.h>
#include <algorithm>

namespace davit::client {
namespace {

QString text(const QJsonObject &object, const char *name)
{
    return object.value(QLatin1StringView(name)).toString();
}

QStringList texts(const QJsonObject &object, const char *name)
{
    QStringList list;
    const QJsonArray array = object.value(QLatin1StringView(name)).toArray();
    for (const auto &item : array)
        list.append(item.toString());
    return list;
}

QList<QJsonObject> objects(const QJsonObject &object, const char *name)
{
    QList<QJsonObject> list;
    const QJsonArray array = object.value(QLatin1StringView(name)).toArray();
    for (const auto &item : array)
        list.append(item.toObject());
    return list;
}

ApiResource describe(const QJsonObject &entry, const Gvk &gvk, const QString &plural)
{
    ApiResource described;
    described.resource.gvk = gvk;
    described.resource.plural = plural;
    described.shortNames = texts(entry, "shortNames");
    described.categories = texts(entry, "categories");
    described.verbs = texts(entry, "verbs");
    return described;
}

ApiVersion readVersion(const QJsonObject &document, const QString &group)
{
    ApiVersion version;
    version.name = text(document, "version");
    version.isStale = text(document, "freshness") == QLatin1StringView("Stale");
    const QList<QJsonObject> entries = objects(document, "resources");
    for (const QJsonObject &entry : entries) {
        // A resource may answer with a kind of another group; it is addressed in this one.
        const QJsonObject kind = entry.value(QLatin1StringView("responseKind")).toObject();
        const QString plural = text(entry, "resource");
        if (plural.isEmpty() || text(kind, "kind").isEmpty())
            continue; // subresources alone: the parent is served by nobody
        ApiResource resource = describe(entry, {group, version.name, text(kind, "kind")}, plural);
        resource.resource.isNamespaced = text(entry, "scope") == QLatin1StringView("Namespaced");
        resource.singular = text(entry, "singularResource");
        const QList<QJsonObject> parts = objects(entry, "subresources");
        for (const QJsonObject &part : parts)
            resource.subresources.append(text(part, "subresource"));
        version.resources.push_back(std::move(resource));
    }
    return version;
}

bool isEqual(const QString &a, const QString &b)
{
    return a.compare(b, Qt::CaseInsensitive) == 0;
}

// True when `name` is `word` alone, or with the resource's group, or version and group, behind it.
bool names(const QString &name, const QString &word, const Gvk &gvk)
{
    if (word.isEmpty() || !name.startsWith(word, Qt::CaseInsensitive))
        return false;
    if (name.size() == word.size())
        return true;
    if (name[word.size()] != QLatin1Char('.'))
        return false;
    const QString rest = name.mid(word.size() + 1);
    const QString versioned
        = gvk.group.isEmpty() ? gvk.version : gvk.version + QLatin1Char('.') + gvk.group;
    return isEqual(rest, versioned) || (!gvk.group.isEmpty() && isEqual(rest, gvk.group));
}

} // namespace

const char kAggregatedAccept[]
    = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

QByteArray rootTarget(DiscoveryRoot root)
{
    return root == DiscoveryRoot::Core ? "/api" : "/apis";
}

QByteArray discoveryTarget(const Gvk &gvk)
{
    const QByteArray version = QUrl::toPercentEncoding(gvk.version);
    if (gvk.group.isEmpty())
        return "/api/" + version;
    return "/apis/" + QUrl::toPercentEncoding(gvk.group) + '/' + version;
}

bool readAggregated(const QByteArray &body, std::vector<ApiGroup> *groups)
{
    const QJsonObject list = QJsonDocument::fromJson(body).object();
    if (text(list, "kind") != QLatin1StringView("APIGroupDiscoveryList"))
        return false;
    const QList<QJsonObject> items = objects(list, "items");
    for (const QJsonObject &item : items) {
        ApiGroup group;
        group.name = text(item.value(QLatin1StringView("metadata")).toObject(), "name");
        const QList<QJsonObject> versions = objects(item, "versions");
        for (const QJsonObject &version : versions)
            group.versions.push_back(readVersion(version, group.name));
        groups->push_back(std::move(group));
    }
    return true;
}

bool readGroups(const QByteArray &body, std::vector<ApiGroup> *groups)
{
    const QJsonObject list = QJsonDocument::fromJson(body).object();
    if (list.value(QLatin1StringView("versions")).isArray()) { // APIVersions
        ApiGroup core;
        const QStringList versions = texts(list, "versions");
        for (const QString &version : versions)
            core.versions.push_back({version, false, {}});
        groups->push_back(std::move(core));
        return true;
    }
    if (!list.value(QLatin1StringView("groups")).isArray())
        return false;
    const QList<QJsonObject> entries = objects(list, "groups");
    for (const QJsonObject &entry : entries) {
        ApiGroup group;
        group.name = text(entry, "name");
        const QList<QJsonObject> versions = objects(entry, "versions");
        for (const QJsonObject &version : versions)
            group.versions.push_back({text(version, "version"), false, {}});
        const QString preferred
            = text(entry.value(QLatin1StringView("preferredVersion")).toObject(), "version");
        std::stable_partition(group.versions.begin(), group.versions.end(),
            [&](const ApiVersion &version) { return version.name == preferred; });
        groups->push_back(std::move(group));
    }
    return true;
}

QString readResources(
    const QByteArray &body, const Gvk &groupVersion, std::vector<ApiResource> *resources)
{
    QJsonParseError parse;
    const QJsonObject document = QJsonDocument::fromJson(body, &parse).object();
    if (parse.error != QJsonParseError::NoError)
        return QStringLiteral("is no JSON");
    const QString listKind = text(document, "kind");
    if (listKind != QLatin1StringView("APIResourceList"))
        return listKind.isEmpty() ? QStringLiteral("has no kind")
                                  : QStringLiteral("is a %1").arg(listKind);
    const QJsonValue list = document.value(QLatin1StringView("resources"));
    if (!list.isArray() && !list.isNull() && !list.isUndefined())
        return QStringLiteral("has resources that are no list");
    std::vector<ApiResource> read;
    const QList<QJsonObject> entries = objects(document, "resources");
    for (qsizetype i = 0; i < entries.size(); ++i) {
        const QJsonObject &entry = entries[i];
        const QJsonValue isNamespaced = entry.value(QLatin1StringView("namespaced"));
        const QString plural = text(entry, "name");
        const QString kind = text(entry, "kind");
        if (plural.isEmpty() || kind.isEmpty()
            || (!isNamespaced.isBool() && !isNamespaced.isUndefined()))
            return QStringLiteral("has a wrong name, kind or namespaced in resources[%1]").arg(i);
        if (plural.contains(QLatin1Char('/')))
            continue; // a subresource, see below
        ApiResource resource
            = describe(entry, {groupVersion.group, groupVersion.version, kind}, plural);
        resource.resource.isNamespaced = isNamespaced.toBool();
        resource.singular = text(entry, "singularName");
        read.push_back(std::move(resource));
    }
    for (const QJsonObject &entry : entries) {
        const QStringList parts = text(entry, "name").split(QLatin1Char('/'));
        for (ApiResource &resource : read)
            if (parts.size() == 2 && parts[0] == resource.resource.plural)
                resource.subresources.append(parts[1]);
    }
    *resources = std::move(read);
    return {};
}

NameMatch matchName(const ApiResource &resource, const QString &name)
{
    const Gvk &gvk = resource.resource.gvk;
    if (names(name, resource.resource.plural, gvk) || names(name, resource.singular, gvk)
        || names(name, gvk.kind, gvk))
        return NameMatch::Name;
    const bool isShort = std::any_of(resource.shortNames.begin(), resource.shortNames.end(),
        [&](const QString &word) { return names(name, word, gvk); });
    return isShort ? NameMatch::ShortName : NameMatch::None;
}

} // namespace davit::client
