// The cluster that --kubeconfig and --context choose, the same for run, check and get.
// Test: tst_clusterchoice.
#pragma once

#include <transport/kubeconfig.h>

namespace davit::host {

// As loadClusterConfig(); InvalidConfiguration also for a context where no kubeconfig is used,
// which would mean another cluster than was asked for. Reads files. [thread-safe]
Result<transport::ClusterConfig> chosenCluster(const QString &kubeconfig, const QString &context,
    const transport::LoadEnvironment &environment = transport::processEnvironment());

} // namespace davit::host
