// From a verb of the SDK to the HTTP request of it: method, path, query, body, media type.
// Source: Kubernetes API reference; BEHAVIOURS.md C-19 to C-23, C-29, E-31, E-34. Test:
// tst_requestbuilder.
#pragma once

#include "policyrule.h"

#include <davit/priv/backends.h>

#include <transport/resource.h>
#include <transport/transport.h>

namespace davit::client {

using Verb = priv::ClientBackend::Verb;

struct VerbCall
{
    Verb verb = Verb::Get;
    ObjectKey key;
    Object object; // Create, Update
    const Patch *patch = nullptr; // Patch; borrowed
    RequestOptions options;
};

// "get", "list", "create", "update", "patch", "delete", "deletecollection": as RBAC names them.
QString verbName(Verb verb);
// "create ConfigMap team-a/x": how errors open.
QString operationName(Verb verb, const Gvk &gvk, const ObjectKey &key);
// Fills method, target, body and content type. InvalidArgument when the call itself is wrong.
// `fieldManager` is used where the options name none. [thread-safe]
Status buildRequest(const transport::Resource &resource, const VerbCall &call,
    const QString &fieldManager, transport::Request *request);
// What RBAC asks of the call.
AccessRequest accessOf(const transport::Resource &resource, const VerbCall &call);
// What RBAC asks of a GET of a path, read as the server reads it. InvalidArgument for what is no
// path of a server ("/" in front, no empty or dot segments) and for a watch. [thread-safe]
Status accessOfTarget(const QByteArray &target, AccessRequest *access);
// The same for a list.
Status buildListRequest(const transport::Resource &resource, const RequestOptions &options,
    transport::Request *request);

} // namespace davit::client
