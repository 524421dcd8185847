#include "pluginchecks.h"

#include <davit/controllerplugin.h>

#include <QtCore/qfileinfo.h>
#include <QtCore/qmap.h>
#include <QtCore/qpluginloader.h>
#include <algorithm>

namespace davit::pluginhost {

namespace {

Status refused(const QString &path, const QString &reason)
{
    return Status(ErrorCode::InvalidConfiguration, path + QLatin1StringView(": ") + reason);
}

QString qtVersionText(int version)
{
    return QStringLiteral("%1.%2").arg(version >> 16).arg((version >> 8) & 0xff);
}

Status checkRights(const QString &path, const PluginMetadata &metadata)
{
    const client::Rbac rbac(metadata.rbac);
    for (const DeclaredResource &resource : metadata.resources)
        for (const char *verb : {"get", "list", "watch"})
            if (!rbac.allows({QString::fromLatin1(verb), resource.gvk.group, resource.plural,
                    QString(), client::exactName(resource.fieldSelector)}))
                return refused(path,
                    QStringLiteral("Resources has %1, but Rbac does not grant \"%2\" on \"%3\" of "
                                   "group \"%4\"; add the rule to the metadata")
                        .arg(toString(resource.gvk), QLatin1StringView(verb), resource.plural,
                            resource.gvk.group));
    return Status::ok();
}

void refuse(PluginSpec &spec, const QString &reason)
{
    spec.setState(PluginState::Refused, spec.file().path + QLatin1StringView(": ") + reason);
}

// What is still Found, by Id; a second one of an Id is refused.
QMap<QString, PluginSpec *> uniqueSpecs(const Specs &specs)
{
    QMap<QString, PluginSpec *> byId;
    for (const auto &spec : specs) {
        const PluginState state = spec->state();
        if (state == PluginState::Refused || spec->id().isEmpty())
            continue;
        if (const PluginSpec *first = byId.value(spec->id()))
            refuse(*spec,
                QStringLiteral("Id \"%1\" is taken by %2; remove one of the two files")
                    .arg(spec->id(), first->file().path));
        else
            byId.insert(spec->id(), spec.get());
    }
    return byId;
}

// Why a dependency is not met; empty when it is.
QString missing(const PluginDependency &wanted, const PluginSpec *found)
{
    if (!found)
        return QStringLiteral("it depends on \"%1\" %2, which is not here; add that plugin")
            .arg(wanted.id, wanted.version.toString());
    if (found->state() == PluginState::Refused)
        return QStringLiteral("it depends on \"%1\", which was refused").arg(wanted.id);
    const PluginMetadata &metadata = found->metadata();
    if (wanted.version < metadata.compatVersion || metadata.version < wanted.version)
        return QStringLiteral("it depends on \"%1\" %2, but the one here is %3 and compatible back "
                              "to %4; install one that fits")
            .arg(wanted.id, wanted.version.toString(), metadata.version.toString(),
                metadata.compatVersion.toString());
    return {};
}

class Sorter
{
public:
    explicit Sorter(const QMap<QString, PluginSpec *> &byId) : m_byId(byId) { }

    void visit(PluginSpec &spec)
    {
        if (spec.state() != PluginState::Found)
            return;
        m_path.append(spec.id());
        for (const PluginDependency &wanted : spec.metadata().dependencies) {
            const qsizetype begin = m_path.indexOf(wanted.id);
            if (begin >= 0) {
                refuseCycle(begin);
                break;
            }
            PluginSpec *found = m_byId.value(wanted.id);
            if (found)
                visit(*found);
            if (spec.state() == PluginState::Refused)
                break; // it is part of a cycle that was found below
            if (const QString fault = missing(wanted, found); !fault.isEmpty()) {
                refuse(spec, fault);
                break;
            }
        }
        m_path.removeLast();
        if (spec.state() != PluginState::Found)
            return;
        spec.setState(PluginState::Checked);
        order.push_back(&spec);
    }

    std::vector<PluginSpec *> order;

private:
    void refuseCycle(qsizetype begin)
    {
        const QStringList cycle = m_path.mid(begin);
        for (qsizetype i = 0; i < cycle.size(); ++i) {
            const QStringList from = cycle.mid(i) + cycle.mid(0, i + 1);
            refuse(*m_byId.value(cycle[i]),
                QStringLiteral("its dependencies form a circle (%1); cut it in the metadata of one")
                    .arg(from.join(QLatin1StringView(" -> "))));
        }
    }

    const QMap<QString, PluginSpec *> &m_byId;
    QStringList m_path; // Ids from the first visited to the one that is visited now
};

} // namespace

Status readRawMetadata(const QString &path, RawMetadata *raw)
{
    const QFileInfo file(path);
    if (!file.exists())
        return refused(path, QStringLiteral("there is no such file; name the library of a plugin"));
    if (!file.isFile()) // opening a FIFO would block
        return refused(path, QStringLiteral("it is no regular file; name the library of a plugin"));
    if (!file.isReadable())
        return refused(path, QStringLiteral("it cannot be read; change its rights"));
    const QPluginLoader loader(path);
    const QJsonObject json = loader.metaData();
    if (json.isEmpty()) {
        const QString why = loader.errorString();
        return refused(path,
            QStringLiteral("it is no Qt plugin (%1); build it with davit_add_operator(), and see "
                           "that Q_PLUGIN_METADATA names a FILE that is valid JSON")
                .arg(why.isEmpty() ? QStringLiteral("no metadata") : why.simplified()));
    }
    raw->iid = json.value(QStringLiteral("IID")).toString();
    raw->qtVersion = json.value(QStringLiteral("version")).toInt();
    raw->json = json.value(QStringLiteral("MetaData")).toObject();
    return Status::ok();
}

Status checkPlugin(const QString &path, const RawMetadata &raw, PluginMetadata *metadata)
{
    if (raw.iid != QLatin1StringView(DAVIT_CONTROLLER_PLUGIN_IID))
        return refused(path,
            QStringLiteral("its IID is \"%1\", not \"%2\"; use DAVIT_CONTROLLER_PLUGIN_IID in "
                           "Q_PLUGIN_METADATA")
                .arg(raw.iid, QLatin1StringView(DAVIT_CONTROLLER_PLUGIN_IID)));
    // Before the strict reader: a newer SDK may have fields that this one does not know.
    const int abi = raw.json.value(QStringLiteral("SdkAbi")).toInt();
    if (abi > DAVIT_SDK_ABI)
        return refused(path,
            QStringLiteral("it was built for SDK ABI %1, this host has %2; update davit, or build "
                           "the plugin with an older SDK")
                .arg(abi)
                .arg(DAVIT_SDK_ABI));
    PluginMetadata read;
    if (Status status = readPluginMetadata(path, raw.json, &read); !status.isOk())
        return status;
    const int host = QT_VERSION;
    if (raw.qtVersion >> 16 != host >> 16 || raw.qtVersion >> 8 > host >> 8)
        return refused(path,
            QStringLiteral(
                "it was built with Qt %1, this host has %2; build it with Qt %2 or older")
                .arg(qtVersionText(raw.qtVersion), qtVersionText(host)));
    if (Status status = checkRights(path, read); !status.isOk())
        return status;
    *metadata = read;
    return Status::ok();
}

std::vector<PluginSpec *> checkTogether(const Specs &specs)
{
    const QMap<QString, PluginSpec *> byId = uniqueSpecs(specs);
    Sorter sorter(byId);
    for (const auto &spec : specs)
        if (!spec->id().isEmpty())
            sorter.visit(*spec);
    return sorter.order;
}

} // namespace davit::pluginhost
