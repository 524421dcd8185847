// Which lists of the built-in kinds are merged by keys, for strategic merge and for apply.
// Source: the "x-kubernetes-patch-merge-key", "x-kubernetes-list-type" and
// "x-kubernetes-list-map-keys" marks of the Kubernetes OpenAPI. Limits: the table holds the lists
// of Pod templates, Services, ServiceAccounts, Nodes and metadata; other lists are atomic.
#pragma once

#include <string>
#include <vector>

namespace davit::support {

enum class ListKind : unsigned char { Atomic, ByKeys, Set };

struct ListRule
{
    ListKind kind = ListKind::Atomic;
    // For ByKeys: the first is strategic merge's only key; apply takes all of them.
    std::vector<std::string> keys;
};

// `kind` is the object's kind, `path` the member names from its root to the list, list items left
// out: {"spec", "containers", "ports"}. An empty `kind` (a custom resource) makes everything
// atomic but metadata's lists. [thread-safe]
const ListRule &listRuleFor(const std::string &kind, const std::vector<std::string> &path);

// Apply counts a port without a protocol as TCP: the default of a key member, or empty.
std::string defaultOfListKey(const std::string &key);

} // namespace davit::support
