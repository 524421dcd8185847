#include "resourceneeds.h"

#include <algorithm>

namespace davit::host {

void ResourceNeeds::add(const QString &pluginId, const InformerRequest &request)
{
    const Result<cache::WatchScope> asked = cache::WatchScope::of(request);
    if (!asked.isOk())
        return; // it was refused
    Need need;
    need.pluginId = pluginId;
    need.scope = asked.value();
    if (!request.namespaces().contains(QString()))
        need.namespaces = request.namespaces();
    const std::lock_guard lock(m_mutex);
    const bool isKnown = std::any_of(m_needs.begin(), m_needs.end(), [&need](const Need &known) {
        return known.pluginId == need.pluginId && known.scope == need.scope
            && known.namespaces == need.namespaces;
    });
    if (!isKnown)
        m_needs.push_back(std::move(need));
}

void ResourceNeeds::remove(const QString &pluginId)
{
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_needs, [&pluginId](const Need &need) { return need.pluginId == pluginId; });
}

QStringList ResourceNeeds::plugins(const cache::WatchScope &scope) const
{
    cache::WatchScope everywhere = scope;
    everywhere.namespaceName.clear();
    QStringList ids;
    {
        const std::lock_guard lock(m_mutex);
        for (const Need &need : m_needs)
            if (need.scope == everywhere
                && (need.namespaces.isEmpty() || need.namespaces.contains(scope.namespaceName)))
                ids += need.pluginId;
    }
    ids.sort();
    ids.removeDuplicates();
    return ids;
}

} // namespace davit::host
