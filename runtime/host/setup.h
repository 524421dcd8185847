// What "davit run" needs before it can begin: everything that may be wrong in the configuration is
// found here, before anything is started. Contract: the first fault ends it, as one sentence that
// names the thing, the fault and the next step. Test: tst_davit, refused.
#pragma once

#include "commandline.h"
#include "configfile.h"
#include "leadership.h"

#include <transport/clusterconfig.h>
#include <web/listenaddress.h>

namespace davit::host {

struct Setup
{
    QStringList pluginDirs; // absolute, they exist
    QString stateDir; // absolute, ready for use
    Configuration configuration;
    web::ListenAddress metricsAddress;
    web::ListenAddress probeAddress;
    QString embeddedObjectsDir; // absolute, it exists; empty: none
    transport::ClusterConfig cluster; // unset with --embedded
    std::optional<ElectionSetup> election; // with --leader-elect
};

// The Lease that --leader-elect means; an empty namespace is that of the pod.
// InvalidConfiguration where there is none, or where that cannot be a Lease's name. [thread-safe]
Result<ObjectKey> electionLease(
    const QString &name, const QString &namespaceName, const transport::ClusterConfig &cluster);

// InvalidConfiguration or InvalidArgument. Reads files. [host-thread]
Result<Setup> prepareSetup(const RunOptions &options);

} // namespace davit::host
