// The host's configuration file: what each plugin is told. Shape (YAML or JSON):
//   apiVersion: davit.dev/v1alpha1
//   kind: DavitConfiguration
//   plugins:
//     replicator: { deniedNamespaces: ["kube-*"] }
// Contract: an unknown member, another kind or version, or a second document is an error; a
// plugin's own part is checked by the plugin's ConfigSchema. Test: tst_configfile.
#pragma once

#include <davit/result.h>

#include <QtCore/qjsonobject.h>

namespace davit::host {

struct Configuration
{
    QJsonObject plugins; // by plugin Id
};

// InvalidConfiguration with a sentence that names the file, the fault and where. An empty path is
// an empty configuration. [host-thread]
Result<Configuration> readConfiguration(const QString &path);

} // namespace davit::host
