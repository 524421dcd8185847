#include "inspect.h"

#include "definitionwatch.h"
#include "elfsymbols.h"

#include <pluginhost/pluginchecks.h>

#include <QtCore/qfileinfo.h>
#include <QtCore/qjsondocument.h>

namespace davit::host {

namespace {

using client::PolicyRule;
using pluginhost::DeclaredResource;
using pluginhost::PluginMetadata;

QString line(const char *name, const QString &value)
{
    return QStringLiteral("  %1 %2\n").arg(QString::fromUtf8(name).leftJustified(12), value);
}

QString describe(const DeclaredResource &resource)
{
    QStringList details;
    if (resource.payload == Payload::Metadata)
        details << QStringLiteral("metadata only");
    if (!resource.namespaces.isEmpty())
        details << QStringLiteral("in ") + resource.namespaces.join(QLatin1String(", "));
    if (!resource.labelSelector.isEmpty())
        details << QStringLiteral("labels ") + resource.labelSelector;
    if (!resource.fieldSelector.isEmpty())
        details << QStringLiteral("fields ") + resource.fieldSelector;
    if (resource.isOptional)
        details << QStringLiteral("optional");
    return toString(resource.gvk)
        + (details.isEmpty() ? QString()
                             : QStringLiteral(" (%1)").arg(details.join(QLatin1String("; "))));
}

QString describe(const PolicyRule &rule)
{
    QStringList resources = rule.resources;
    for (QString &resource : resources)
        if (rule.apiGroups != QStringList(QString()))
            resource += QLatin1Char('.') + rule.apiGroups.join(QLatin1Char('|'));
    QString text = rule.verbs.join(QLatin1String(", ")) + QStringLiteral(": ")
        + (resources + rule.nonResourceUrls).join(QLatin1String(", "));
    if (!rule.resourceNames.isEmpty())
        text += QStringLiteral(" named ") + rule.resourceNames.join(QLatin1String(", "));
    return text;
}

QString describe(const PluginMetadata &metadata)
{
    QString text;
    if (!metadata.description.isEmpty())
        text += line("is", metadata.description);
    for (const DeclaredResource &resource : metadata.resources)
        text += line("watches", describe(resource));
    for (const PolicyRule &rule : metadata.rbac)
        text += line("may", describe(rule));
    if (namesInstallable(metadata))
        text += line("davit may",
            QStringLiteral(
                "list, watch: customresourcedefinitions.apiextensions.k8s.io, to hear at "
                "once of kinds that are installed or changed"));
    for (const QString &file : metadata.crds)
        text += line("CRD file", file);
    for (const pluginhost::PluginDependency &dependency : metadata.dependencies)
        text += line("needs", dependency.id + QLatin1Char(' ') + dependency.version.toString());
    const QJsonObject settings
        = metadata.configSchema.value(QLatin1StringView("properties")).toObject();
    for (auto i = settings.constBegin(); i != settings.constEnd(); ++i) {
        const QJsonObject schema = i.value().toObject();
        const auto member
            = [&](const char *name) { return schema.value(QLatin1StringView(name)).toVariant(); };
        QString told = i.key();
        for (const char *const name : {"type", "description"}) {
            if (const QString text = member(name).toString(); !text.isEmpty())
                told += QStringLiteral(": ") + text;
        }
        text += line("setting", told);
    }
    return text;
}

QString describeSymbols(const QString &path)
{
    const Result<ElfSymbols> symbols = readElfSymbols(path);
    if (!symbols.isOk())
        return {};
    QString text;
    if (!symbols.value().unique.isEmpty())
        text += line("warning",
            QStringLiteral("%1 GNU-unique symbols (%2), which every library in the process that "
                           "has them shares; build it with davit_add_operator()")
                .arg(symbols.value().unique.size())
                .arg(symbols.value().unique.first()));
    for (const QString &version : symbols.value().neededVersions)
        if (version.startsWith(QLatin1StringView("DAVIT_SDK_PRIVATE")))
            text += line("warning",
                QStringLiteral("it uses the SDK's private part (%1), which changes without notice")
                    .arg(version));
    return text;
}

} // namespace

QString inspectPlugin(const QString &path, bool *isGood)
{
    const QString absolute = QFileInfo(path).absoluteFilePath();
    pluginhost::RawMetadata raw;
    PluginMetadata metadata;
    Status status = pluginhost::readRawMetadata(absolute, &raw);
    if (status.isOk())
        status = pluginhost::checkPlugin(absolute, raw, &metadata);
    QString text = path + QLatin1Char('\n');
    const QString id = raw.json.value(QLatin1StringView("Id")).toString();
    if (!id.isEmpty())
        text += line(
            "Id", id + QLatin1Char(' ') + raw.json.value(QLatin1StringView("Version")).toString());
    if (raw.qtVersion != 0)
        text += line("built with",
            QStringLiteral("SDK ABI %1, Qt %2.%3") // which patch release, no plugin file tells
                .arg(raw.json.value(QLatin1StringView("SdkAbi")).toInt())
                .arg(raw.qtVersion >> 16)
                .arg((raw.qtVersion >> 8) & 0xff));
    if (status.isOk())
        text += describe(metadata);
    if (raw.qtVersion != 0) // a plugin at least, if not one that fits
        text += describeSymbols(absolute);
    if (!metadata.crds.isEmpty())
        text += line("warning",
            QStringLiteral(
                "davit does not install CRDs yet; apply those files with kubectl first"));
    text += line("metadata",
        status.isOk() ? QStringLiteral("good; davit plugin try loads the library itself")
                      : QStringLiteral("refused: ") + status.error().message());
    *isGood = *isGood && status.isOk();
    return text;
}

} // namespace davit::host
