// The davit_* family: what the host knows of itself at the moment of a scrape. Labels come from
// small sets: resources, plugins, size classes. Series go with what they are about. Test:
// tst_queuemetrics; tst_services, seriesEnd; tst_run, metrics.
#pragma once

#include <cache/sharedinformerfactory.h>
#include <observability/metricsregistry.h>
#include <observability/stateboard.h>

#include <memory>

namespace davit::host {

// davit_object_pool_*, davit_build_info, process_*. [host-thread]
void addProcessMetrics(observability::MetricsRegistry &registry);
// davit_plugin_state, one series a plugin. `board` outlives the last scrape. [host-thread]
void addPluginMetrics(
    observability::MetricsRegistry &registry, const observability::StateBoard &board);
// Counts the faults of plugins: davit_plugin_faults_total, one series a plugin and kind of call,
// and davit_index_function_faults_total, one a plugin and index (B28). `registry` outlives the
// plugins' calls. [thread-safe]
std::function<void(const QString &pluginId, const char *entry, const QString &subject)>
faultCounter(observability::MetricsRegistry &registry);
// davit_cache_*, davit_watch_* and the informer_* of client-go, one series a resource that is
// watched. [host-thread]
void addCacheMetrics(observability::MetricsRegistry &registry,
    std::function<std::vector<cache::ResourceState>()> resources);
// For cache::FactoryOptions::onProcessed: informer_processing_latency_seconds, one series a
// resource that is watched. What an informer is given holds its series: it goes with the last of
// those that watch the same, which lets go when it stops. Contract: `registry` outlives the
// informers' end.
class ProcessingMetrics
{
public:
    explicit ProcessingMetrics(observability::MetricsRegistry &registry);
    // [thread-safe]
    std::function<void(std::chrono::nanoseconds)> histogram(
        const cache::WatchScope &scope, const QString &plural);

private:
    struct Counts;
    const std::shared_ptr<Counts> m_counts;
};
// davit_handler_pending, one series a plugin, resource and way of delivery (B33). [host-thread]
void addHandlerMetrics(observability::MetricsRegistry &registry,
    std::function<std::vector<cache::HandlerState>()> handlers);

} // namespace davit::host
