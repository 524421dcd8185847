// The host's configuration file: what each plugin is told. Shape (YAML or JSON):
//   apiVersion: davit.dev/v1alpha1
//   kind: DavitConfiguration
//   initialSync: { "*": auto, v1 Pod: list }   # how caches are filled: auto, list or watchList
//   contentType: application/json              # of caches; the default asks for the kinds that are
//                         # built into Kubernetes as application/vnd.kubernetes.protobuf
//   limits: { eventBytes: 16Mi, itemBytes: 16Mi, listBytes: 16Gi }  # the defaults; what is larger
//                                              # is left out, or for a list tried again (B20)
//   execPrograms: { policy: AllowList, allow: [/usr/bin/aws] }   # or AllowAll, DenyAll (C-72)
//   plugins:
//     replicator: { deniedNamespaces: ["kube-*"] }
// Contract: an unknown member, another kind or version, or a second document is an error; a
// plugin's own part is checked by the plugin's ConfigSchema. Test: tst_configfile.
#pragma once

#include <cache/reflector.h>
#include <codec/limits.h>
#include <davit/result.h>

#include <QtCore/qhash.h>
#include <QtCore/qjsonobject.h>

namespace davit::host {

// Which programs a kubeconfig user may have run for a credential (C-72).
struct ExecPolicy
{
    enum class Kind : quint8 { AllowAll, DenyAll, AllowList };
    Kind kind = Kind::AllowAll;
    QStringList allowed; // paths, or names that are looked up in PATH

    // Of a command as the kubeconfig names it: the program that would run counts. [thread-safe]
    bool allows(const QString &command) const;
};

struct Configuration
{
    QJsonObject plugins; // by plugin Id
    // By kind as toString(Gvk) writes it ("apps/v1 Deployment"), "*" for all others.
    QHash<QString, cache::InitialSync> initialSync;
    bool prefersProtobuf = true; // contentType
    ExecPolicy execPolicy;
    codec::Limits limits; // of one event and one item: 64 KiB to 256 MiB
    qint64 maxListBytes = cache::ReflectorOptions().maxFillBytes; // 1 MiB to 1 TiB
};

// InvalidConfiguration with a sentence that names the file, the fault and where. An empty path is
// an empty configuration. [host-thread]
Result<Configuration> readConfiguration(const QString &path);

} // namespace davit::host
