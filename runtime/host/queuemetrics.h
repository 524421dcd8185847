// The workqueue_* family: what each controller's queue counts, and what it looks like at a scrape.
// Labels: name and controller (the controller's name) and plugin (its Id); depth has priority too.
// Contract: a queue's series go when its plugin goes for good (removePlugin).
// Source: BEHAVIOURS.md, W-15. Test: tst_queuemetrics.
#pragma once

#include <observability/metricsregistry.h>
#include <workqueue/queueregistry.h>

#include <memory>

namespace davit::host {

class QueueMetrics
{
public:
    // Borrowed; outlives this.
    explicit QueueMetrics(observability::MetricsRegistry &registry);
    ~QueueMetrics();
    Q_DISABLE_COPY_MOVE(QueueMetrics)

    // For the queue registry's constructor. [thread-safe]
    workqueue::QueueObserver *observerFor(const QString &pluginId, const QString &controller);
    // The ages of running work, asked for at each scrape. `queues` outlives the metrics registry's
    // last scrape. [host-thread]
    void collectFrom(const workqueue::QueueRegistry &queues);
    // [thread-safe]
    void removePlugin(const QString &pluginId);

private:
    class Observer;
    observability::MetricsRegistry &m_registry;
    std::mutex m_mutex;
    std::vector<std::unique_ptr<Observer>> m_observers; // GUARDED_BY(m_mutex)
};

} // namespace davit::host
