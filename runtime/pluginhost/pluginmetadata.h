// What a plugin says about itself: the JSON that moc puts into its file, read before any code of it
// runs. Contract:
//   - Reading is strict: a wrong type, a missing member or one that the schema does not know is an
//   error, in one sentence that names file, field and fault.
// Source: sdk/metadata.schema.json. Test: tst_pluginmetadata.
#pragma once

#include <davit/informerrequest.h>
#include <davit/status.h>

#include <QtCore/qjsonobject.h>
#include <QtCore/qlist.h>
#include <QtCore/qversionnumber.h>
#include <client/policyrule.h>

namespace davit::pluginhost {

// A kind that the plugin may watch, and how much of it.
struct DeclaredResource
{
    Gvk gvk;
    QString plural; // for Rbac; guessed from the kind unless the metadata says it
    QStringList namespaces; // empty: all
    QString labelSelector;
    QString fieldSelector;
    Payload payload = Payload::Full; // of a Secret only where the file says "full"
    bool isOptional = false;
};

struct PluginDependency
{
    QString id;
    QVersionNumber version;
};

struct PluginMetadata
{
    QString id;
    QVersionNumber version;
    QVersionNumber compatVersion; // version when the file does not say
    int sdkAbi = 0;
    QString description;
    QList<PluginDependency> dependencies;
    QList<DeclaredResource> resources;
    std::vector<client::PolicyRule> rbac;
    QStringList crds;
    QJsonObject configSchema;
};

// Fills `metadata` from the JSON of a file; InvalidConfiguration otherwise. `file` is the name for
// the sentence. [thread-safe]
Status readPluginMetadata(const QString &file, const QJsonObject &json, PluginMetadata *metadata);

// "ingresses" for "Ingress": the guess that client-go makes.
QString pluralOf(const QString &kind);

} // namespace davit::pluginhost
