// A kind as the server addresses it, and the request targets made from it.
// Source: Kubernetes API concepts, "Resource URIs"; BEHAVIOURS.md C-19 to C-23. Test: tst_resource.
#pragma once

#include <davit/error.h>
#include <davit/gvk.h>
#include <davit/objectkey.h>

#include <QtCore/qbytearray.h>
#include <optional>

namespace davit::transport {

struct Resource
{
    Gvk gvk;
    QString plural; // "configmaps"
    bool isNamespaced = true;
};

inline bool operator==(const Resource &a, const Resource &b)
{
    return a.gvk == b.gvk && a.plural == b.plural && a.isNamespaced == b.isNamespaced;
}

// KindNotServed, the one sentence for it. [thread-safe]
Error kindNotServed(const Gvk &gvk);

// The query of a LIST or WATCH, with the exact names of metav1.ListOptions. Unset members are not
// sent.
struct ListOptions
{
    QString labelSelector;
    QString fieldSelector;
    QString shardSelector;
    QString resourceVersion; // "" is not sent
    QString resourceVersionMatch; // "Exact", "NotOlderThan"
    QString continueToken;
    qint64 limit = 0; // 0 is not sent
    bool isWatch = false;
    bool allowWatchBookmarks = false;
    std::optional<bool> sendInitialEvents;
    std::optional<int> timeoutSeconds;
};

// "/api/v1/namespaces/team-a/configmaps?…" ; an empty namespace addresses all. Selector values are
// percent-encoded, '+' too.
QByteArray collectionTarget(
    const Resource &resource, const QString &namespaceName, const ListOptions &options = {});
// "/apis/apps/v1/namespaces/a/deployments/web/status?k=v". InvalidArgument for an empty, ".", ".."
// or '/'- or '%'-bearing name and for a namespaced kind without a namespace. `query` is encoded
// already, without '?'.
Status objectTarget(const Resource &resource, const ObjectKey &key, const QString &subresource,
    const QByteArray &query, QByteArray *target);

} // namespace davit::transport
