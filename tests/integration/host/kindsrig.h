// The runtime services as a plugin has them, of which no kind is found by looking again: the pauses
// of M-9 never end here. For one thread.
#pragma once

#include "loglines.h"

#include <davit/lister.h>
#include <host/runtimeservices.h>

#include <algorithm>
#include <atomic>
#include <optional>

namespace davit {

class NoRetries final : public support::TimeSource
{
public:
    Nanoseconds monotonic() const override { return m_real.monotonic(); }
    Nanoseconds utc() const override { return m_real.utc(); }
    TimerId callAfter(
        Nanoseconds delay, support::Executor &executor, support::Executor::Work work) override
    {
        using std::chrono::seconds;
        const bool isPause = delay > seconds(10) && delay < seconds(11); // of Kinds
        return isPause ? 0 : m_real.callAfter(delay, executor, std::move(work));
    }
    void cancel(TimerId id) override { m_real.cancel(id); }

private:
    support::TimeSource &m_real = support::systemTimeSource();
};

struct KindsRig
{
    NoRetries time;
    LogLines lines;
    observability::MetricsRegistry metrics;
    pluginhost::PluginMetadata metadata;
    pluginhost::PluginIdentity plugin;
    std::atomic<int> found = 0;
    std::atomic<int> waited = 0;
    std::optional<host::RuntimeServices> services; // whose threads count in the two above

    void start(const transport::ClusterConfig &cluster)
    {
        services.emplace(cluster, time, lines, metrics);
        services->start();
        const QString all = QStringLiteral("*");
        metadata.rbac = {{{all}, {all}, {}, {all}}};
        plugin.id = QStringLiteral("p");
        plugin.metadata = &metadata;
    }
    void resolve(const Gvk &gvk)
    {
        services->resolve(
            gvk, [this] { ++found; }, [this](const QString &) { ++waited; });
    }
    // The watch of definitions has its first list.
    bool isWatching() const
    {
        const std::vector<cache::ResourceState> resources = services->resources();
        return std::any_of(resources.begin(), resources.end(), [](const auto &resource) {
            return resource.scope.gvk == host::DefinitionWatch::resource().gvk && resource.hasSynced
                && resource.scope.isMetadataOnly;
        });
    }
    Lister lister(const Gvk &gvk)
    {
        priv::ListerBackend *backend = nullptr;
        const Status status = services->makeLister(plugin, InformerRequest(gvk), &backend);
        return status.isOk() ? Lister(*backend) : Lister();
    }
};

} // namespace davit
