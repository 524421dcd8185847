// KUBE_CLIENT_BACKOFF_BASE and KUBE_CLIENT_BACKOFF_DURATION, client-go's names: whole seconds; off
// unless both are set. Source: BEHAVIOURS.md, C-13. Test: tst_backoffenvironment.
#pragma once

#include "clusterconfig.h"
#include "loadenvironment.h"

namespace davit::transport {

// Sets the config's back-off. InvalidConfiguration with a sentence that names the variable; one of
// the two alone is a warning of the config. [thread-safe]
Status readBackoff(const LoadEnvironment &environment, ClusterConfig *config);

} // namespace davit::transport
