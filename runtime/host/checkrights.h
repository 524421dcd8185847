// The part of "davit check" that asks the server whether it has, and lets us do, what plugins need.
// Test: tst_check.
#pragma once

#include "check.h"

#include <davit/objectkey.h>
#include <pluginhost/pluginmetadata.h>

#include <optional>
#include <vector>

namespace davit::host {

class ServerCalls;

// What is asked about together: one object or all of a resource, or a path; and what to do to it.
struct Right
{
    QString group;
    QString resource; // empty: `url` counts
    QString subresource;
    QString name; // empty: any
    QString namespaceName; // empty: in all namespaces
    QString url;
    std::vector<QString> verbs; // sorted

    // "secrets/status named a in namespace b".
    QString text() const;
};

// Get, list and watch of what it declares, and its "Rbac": each right once. A rule on a resource
// that is declared for some namespaces is needed there only. [thread-safe]
std::vector<Right> rightsOf(const pluginhost::PluginMetadata &metadata);

// What a candidate of an election needs: get and update of this Lease, create of Leases, and create
// and patch of Events about it (core/v1, in its namespace). [thread-safe]
std::vector<Right> electionRights(const ObjectKey &lease);

// One line for the election, if there is one, and for each plugin that has all of them, for each
// right that is missing, and for each kind that the cluster does not serve. `user` is who lacks
// them. [host-thread]
QueryExit checkRights(ServerCalls &calls, const std::optional<ObjectKey> &lease,
    const QStringList &pluginDirs, const QString &user, const TellFinding &tell);

} // namespace davit::host
