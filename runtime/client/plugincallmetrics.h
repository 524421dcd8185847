// Counts what each plugin asks of the API server: davit_plugin_api_calls_total by plugin, verb and
// code ("<error>" when no answer came), and davit_plugin_events_dropped_total by plugin. Test:
// tst_pluginclient, callsAreCounted.
#pragma once

#include "pluginclient.h"

#include <observability/metricsregistry.h>

namespace davit::client {

class PluginCallMetrics final : public CallObserver
{
public:
    // Borrowed; outlives this.
    explicit PluginCallMetrics(observability::MetricsRegistry &registry);
    ~PluginCallMetrics() override;

    void called(const QString &pluginId, const QString &verb, int code) override;
    void eventsDropped(const QString &pluginId, quint64 events) override;

private:
    observability::MetricsRegistry &m_registry;
};

} // namespace davit::client
