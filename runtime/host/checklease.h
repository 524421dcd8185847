// The part of "davit check --leader-elect" that looks whether the Lease can be made where it is to
// be. Source: the admission NamespaceLifecycle of Kubernetes. Test: tst_checkelection.
#pragma once

#include "check.h"

#include <davit/objectkey.h>

namespace davit::host {

class ServerCalls;

// One line where the Lease's namespace does not exist, or is being deleted. It asks by a create
// with dryRun=All: that needs no right which a candidate does not need, and makes nothing. Any
// other answer is silence: the rights tell what is missing. [host-thread]
QueryExit checkLeaseNamespace(ServerCalls &calls, const ObjectKey &lease, const TellFinding &tell);

} // namespace davit::host
