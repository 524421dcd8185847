#include "pluginmetadata.h"

#include "configschema.h"
#include "jsonreader.h"

#include <davit/selector.h>

#include <QtCore/qregularexpression.h>
#include <algorithm>
#include <support/dnsnames.h>

namespace davit::pluginhost {

namespace {

QString key(const char *name)
{
    return QString::fromLatin1(name);
}

QVersionNumber readVersion(JsonReader &reader, const char *name, Need need)
{
    static const QRegularExpression form(
        QStringLiteral("\\A[0-9]{1,9}\\.[0-9]{1,9}\\.[0-9]{1,9}\\z"));
    const QString text = reader.string(key(name), need);
    if (!text.isEmpty() && !form.match(text).hasMatch())
        reader.fail(
            key(name), QStringLiteral("must be a version such as 1.2.0, not \"%1\"").arg(text));
    return QVersionNumber::fromString(text);
}

void readDependencies(JsonReader &top, PluginMetadata *metadata)
{
    const QList<QJsonObject> entries = top.objects(key("Dependencies"));
    for (qsizetype i = 0; i < entries.size(); ++i) {
        JsonReader entry = top.element(key("Dependencies"), i, entries[i]);
        PluginDependency dependency;
        dependency.id = entry.string(key("Id"), Need::Required);
        dependency.version = readVersion(entry, "Version", Need::Required);
        entry.finish();
        metadata->dependencies.append(dependency);
    }
}

void checkSelectors(JsonReader &entry, const DeclaredResource &resource)
{
    LabelSelector labels;
    if (Status status = LabelSelector::parse(resource.labelSelector, &labels); !status.isOk())
        entry.fail(key("labelSelector"), QStringLiteral("is wrong: ") + status.error().message());
    FieldSelector fields;
    if (Status status = FieldSelector::parse(resource.fieldSelector, &fields); !status.isOk())
        entry.fail(key("fieldSelector"), QStringLiteral("is wrong: ") + status.error().message());
}

void readResources(JsonReader &top, PluginMetadata *metadata)
{
    const QList<QJsonObject> entries = top.objects(key("Resources"));
    for (qsizetype i = 0; i < entries.size(); ++i) {
        JsonReader entry = top.element(key("Resources"), i, entries[i]);
        DeclaredResource resource;
        resource.gvk.group = entry.string(key("group"));
        resource.gvk.version = entry.string(key("version"), Need::Required);
        resource.gvk.kind = entry.string(key("kind"), Need::Required);
        resource.plural = entry.string(key("resource"));
        if (resource.plural.isEmpty())
            resource.plural = pluralOf(resource.gvk.kind);
        resource.namespaces = entry.strings(key("namespaces"));
        if (resource.namespaces.contains(QString()))
            entry.fail(key("namespaces"),
                QStringLiteral("has an empty name; leave the list empty for all"));
        resource.labelSelector = entry.string(key("labelSelector"));
        resource.fieldSelector = entry.string(key("fieldSelector"));
        checkSelectors(entry, resource);
        const QString payload = entry.string(key("payload"));
        static const Gvk secret{QString(), key("v1"), key("Secret")};
        if (payload == u"metadata" || (payload.isEmpty() && resource.gvk == secret))
            resource.payload = Payload::Metadata;
        else if (!payload.isEmpty() && payload != u"full")
            entry.fail(key("payload"),
                QStringLiteral("must be \"full\" or \"metadata\", not \"%1\"").arg(payload));
        resource.isOptional = entry.boolean(key("optional"), false);
        entry.finish();
        const auto isSameKind
            = [&](const DeclaredResource &other) { return other.gvk == resource.gvk; };
        if (std::any_of(metadata->resources.begin(), metadata->resources.end(), isSameKind))
            entry.fail(
                key("kind"), QStringLiteral("declares %1 twice").arg(toString(resource.gvk)));
        metadata->resources.append(resource);
    }
}

void readRbac(JsonReader &top, PluginMetadata *metadata)
{
    const QList<QJsonObject> entries = top.objects(key("Rbac"));
    for (qsizetype i = 0; i < entries.size(); ++i) {
        JsonReader entry = top.element(key("Rbac"), i, entries[i]);
        client::PolicyRule rule;
        rule.apiGroups = entry.strings(key("apiGroups"));
        rule.resources = entry.strings(key("resources"));
        rule.resourceNames = entry.strings(key("resourceNames"));
        rule.nonResourceUrls = entry.strings(key("nonResourceURLs"));
        rule.verbs = entry.strings(key("verbs"), Need::Required);
        entry.finish();
        metadata->rbac.push_back(rule);
    }
}

} // namespace

Status readPluginMetadata(const QString &file, const QJsonObject &json, PluginMetadata *metadata)
{
    Status fault;
    JsonReader top(file, QString(), json, &fault);
    PluginMetadata read;
    read.id = top.string(key("Id"), Need::Required);
    if (!read.id.isEmpty() && !support::isDnsLabel(read.id))
        top.fail(key("Id"),
            QStringLiteral("must be 1 to 63 lower-case letters, digits and dashes, not \"%1\"")
                .arg(read.id));
    read.version = readVersion(top, "Version", Need::Required);
    read.compatVersion = readVersion(top, "CompatVersion", Need::Optional);
    if (read.compatVersion.isNull())
        read.compatVersion = read.version;
    if (read.compatVersion > read.version)
        top.fail(key("CompatVersion"), QStringLiteral("is newer than Version"));
    read.sdkAbi = top.integer(key("SdkAbi"), Need::Required);
    if (json.contains(key("SdkAbi")) && read.sdkAbi < 1)
        top.fail(key("SdkAbi"), QStringLiteral("must be 1 or more"));
    read.description = top.string(key("Description"));
    readDependencies(top, &read);
    readResources(top, &read);
    readRbac(top, &read);
    read.crds = top.strings(key("Crds"));
    read.configSchema = top.object(key("ConfigSchema"));
    if (Status status = ConfigSchema::check(read.configSchema); !status.isOk())
        top.fail(key("ConfigSchema"), QStringLiteral("is wrong: ") + status.error().message());
    top.finish();
    if (fault.isOk())
        *metadata = read;
    return fault;
}

QString pluralOf(const QString &kind)
{
    const QString lower = kind.toLower();
    if (lower.isEmpty() || lower == u"endpoints")
        return lower;
    if (lower.endsWith(u's') || lower.endsWith(u'x') || lower.endsWith(QLatin1StringView("ch"))
        || lower.endsWith(QLatin1StringView("sh")))
        return lower + QLatin1StringView("es");
    static const QString vowels = QStringLiteral("aeiou");
    if (lower.endsWith(u'y') && lower.size() > 1 && !vowels.contains(lower[lower.size() - 2]))
        return lower.left(lower.size() - 1) + QLatin1StringView("ies");
    return lower + QLatin1StringView("s");
}

} // namespace davit::pluginhost
