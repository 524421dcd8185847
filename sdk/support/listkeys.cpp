#include "listkeys.h"

#include <map>
#include <string_view>

namespace davit::support {
namespace {

struct Entry
{
    std::string_view parent; // empty: any
    ListRule rule;
};

using Table = std::multimap<std::string_view, Entry>;

ListRule byKeys(std::vector<std::string> keys)
{
    return {ListKind::ByKeys, std::move(keys)};
}

const Table &builtInLists()
{
    static const Table table{
        {"containers", {"", byKeys({"name"})}},
        {"initContainers", {"", byKeys({"name"})}},
        {"ephemeralContainers", {"", byKeys({"name"})}},
        {"env", {"", byKeys({"name"})}},
        {"volumes", {"", byKeys({"name"})}},
        {"volumeMounts", {"", byKeys({"mountPath"})}},
        {"volumeDevices", {"", byKeys({"devicePath"})}},
        {"imagePullSecrets", {"", byKeys({"name"})}},
        {"hostAliases", {"", byKeys({"ip"})}},
        {"resourceClaims", {"", byKeys({"name"})}},
        {"schedulingGates", {"", byKeys({"name"})}},
        {"topologySpreadConstraints", {"", byKeys({"topologyKey", "whenUnsatisfiable"})}},
        {"conditions", {"status", byKeys({"type"})}},
        {"addresses", {"status", byKeys({"type"})}},
        {"podIPs", {"status", byKeys({"ip"})}},
        {"ports", {"containers", byKeys({"containerPort", "protocol"})}},
        {"ports", {"initContainers", byKeys({"containerPort", "protocol"})}},
        {"ports", {"ephemeralContainers", byKeys({"containerPort", "protocol"})}},
        {"ports", {"spec", byKeys({"port", "protocol"})}},
        {"secrets", {"", byKeys({"name"})}},
        {"webhooks", {"", byKeys({"name"})}},
    };
    return table;
}

} // namespace

const ListRule &listRuleFor(const std::string &kind, const std::vector<std::string> &path)
{
    static const ListRule atomic;
    static const ListRule owners = byKeys({"uid"});
    static const ListRule set{ListKind::Set, {}};
    if (path.size() == 2 && path[0] == "metadata") {
        if (path[1] == "ownerReferences")
            return owners;
        if (path[1] == "finalizers")
            return set;
    }
    if (kind.empty() || path.empty())
        return atomic;
    if (path.back() == "secrets" && kind != "ServiceAccount")
        return atomic;
    const std::string_view parent = path.size() > 1 ? std::string_view(path[path.size() - 2]) : "";
    const auto [first, last] = builtInLists().equal_range(path.back());
    for (auto entry = first; entry != last; ++entry)
        if (entry->second.parent.empty() || entry->second.parent == parent)
            return entry->second.rule;
    return atomic;
}

std::string defaultOfListKey(const std::string &key)
{
    return key == "protocol" ? "TCP" : std::string();
}

} // namespace davit::support
