// The davit_* family: what the host knows of itself at the moment of a scrape. Labels come from
// small sets: resources, plugins, size classes. Test: tests/integration/host, metrics.
#pragma once

#include <cache/sharedinformerfactory.h>
#include <observability/metricsregistry.h>
#include <observability/stateboard.h>

namespace davit::host {

// davit_object_pool_*, davit_build_info, process_*. [host-thread]
void addProcessMetrics(observability::MetricsRegistry &registry);
// davit_plugin_state, one series a plugin. `board` outlives the last scrape. [host-thread]
void addPluginMetrics(
    observability::MetricsRegistry &registry, const observability::StateBoard &board);
// davit_cache_*, davit_watch_*, one series a resource that is watched. [host-thread]
void addCacheMetrics(observability::MetricsRegistry &registry,
    std::function<std::vector<cache::ResourceState>()> resources);
// davit_handler_pending, one series a plugin, resource and way of delivery (B33). [host-thread]
void addHandlerMetrics(observability::MetricsRegistry &registry,
    std::function<std::vector<cache::HandlerState>()> handlers);

} // namespace davit::host
