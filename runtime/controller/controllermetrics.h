// The controller_runtime_* family, under the names that dashboards know, with the label plugin
// beside controller. Every counter of a controller exists, at 0, when it starts.
// Source: BEHAVIOURS.md. Test: tst_controllermetrics.
#pragma once

#include "controllerobserver.h"

#include <map>
#include <memory>
#include <mutex>
#include <observability/metricsregistry.h>

namespace davit::controller {

class ControllerMetrics
{
public:
    // Borrowed; outlives this.
    explicit ControllerMetrics(observability::MetricsRegistry &registry);
    ~ControllerMetrics();
    Q_DISABLE_COPY_MOVE(ControllerMetrics)

    // The observer of a controller; the same one for every generation of the plugin. Lives as long
    // as this. [thread-safe]
    ControllerObserver *observerFor(const QString &pluginId, const QString &controller);
    // The plugin is gone for good: so are its series. [thread-safe]
    void removePlugin(const QString &pluginId);

private:
    class Observer;

    observability::MetricsRegistry &m_registry;
    std::mutex m_mutex;
    std::map<std::pair<QString, QString>, std::unique_ptr<Observer>>
        m_observers; // GUARDED_BY(m_mutex)
    std::vector<std::unique_ptr<Observer>> m_retired; // GUARDED_BY(m_mutex): workers may hold them
};

} // namespace davit::controller
