// Finds the cluster that this process is to talk to. Contract:
//   - an explicit path must exist; else the files of KUBECONFIG; else, in a pod, the in-cluster
//   configuration; else ~/.kube/config (C-63). A fault in one of them is an error, never a reason
//   to try the next (case B01).
//   - only the chosen context and what it refers to is validated; all its faults come in one
//   message, each names the file and the entry.
//   - paths are resolved against the folder of the file that holds them (case B08).
//   - credentials are dropped for a server without TLS (C-59).
//   - KUBE_CLIENT_BACKOFF_BASE and KUBE_CLIENT_BACKOFF_DURATION hold for each of them (C-13).
//   - a proxy that neither Qt nor this configuration can use is an error, never a direct
//   connection.
// Source: BEHAVIOURS.md. Test: tst_kubeconfig.
#pragma once

#include "clusterconfig.h"
#include "loadenvironment.h"

namespace davit::transport {

struct LoadRequest
{
    QString kubeconfig; // of the flag; empty: not given
    QString context; // empty: the file's current-context
};

// InvalidConfiguration with one or more sentences; Unsupported for credentials of a kind Davit
// cannot use, naming the user. Reads files; blocks on them. [thread-safe]
Result<ClusterConfig> loadClusterConfig(
    const LoadRequest &request, const LoadEnvironment &environment = processEnvironment());

} // namespace davit::transport
