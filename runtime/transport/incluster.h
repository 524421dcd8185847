// The configuration of a process in a pod. Source: BEHAVIOURS.md C-49 to C-51, case B04.
// Test: tst_incluster.
#pragma once

#include "clusterconfig.h"
#include "loadenvironment.h"

namespace davit::transport {

// Both variables that tell where the API server is are set. [thread-safe]
bool isInCluster(const LoadEnvironment &environment);
// InvalidConfiguration when the variables or the token are missing. A CA that cannot be read is a
// warning: then the system's roots count. [thread-safe]
Result<ClusterConfig> loadInCluster(const LoadEnvironment &environment);

} // namespace davit::transport
