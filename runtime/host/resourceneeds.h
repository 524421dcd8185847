// Which plugins asked for which watched collections, so that a wait can name who waits (B32).
// Test: tst_resourceneeds.
#pragma once

#include <cache/viewfilter.h>
#include <davit/informerrequest.h>

#include <QtCore/qstringlist.h>
#include <mutex>
#include <vector>

namespace davit::host {

class ResourceNeeds
{
public:
    // The plugin asked for an informer or a lister, with success. [thread-safe]
    void add(const QString &pluginId, const InformerRequest &request);
    // It needs nothing any more. [thread-safe]
    void remove(const QString &pluginId);
    // Ids of those that asked for just this collection, sorted. [thread-safe]
    QStringList plugins(const cache::WatchScope &scope) const;

private:
    struct Need
    {
        QString pluginId;
        cache::WatchScope scope; // without a namespace
        QStringList namespaces; // empty: all
    };

    mutable std::mutex m_mutex;
    std::vector<Need> m_needs; // GUARDED_BY(m_mutex)
};

} // namespace davit::host
