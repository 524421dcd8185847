#include "plugincallmetrics.h"

namespace davit::client {

PluginCallMetrics::PluginCallMetrics(observability::MetricsRegistry &registry)
    : m_registry(registry)
{ }

PluginCallMetrics::~PluginCallMetrics() = default;

void PluginCallMetrics::called(const QString &pluginId, const QString &verb, int code)
{
    m_registry
        .counter(QStringLiteral("davit_plugin_api_calls_total"),
            QStringLiteral("Requests of a plugin to the API server, by verb and status code"),
            {{QStringLiteral("plugin"), pluginId}, {QStringLiteral("verb"), verb},
                {QStringLiteral("code"),
                    code == 0 ? QStringLiteral("<error>") : QString::number(code)}})
        .increment();
}

void PluginCallMetrics::eventsDropped(const QString &pluginId, quint64 events)
{
    m_registry
        .counter(QStringLiteral("davit_plugin_events_dropped_total"),
            QStringLiteral("Events that a plugin told and that were not written"),
            {{QStringLiteral("plugin"), pluginId}})
        .increment(double(events));
}

} // namespace davit::client
