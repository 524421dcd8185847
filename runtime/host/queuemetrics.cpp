#include "queuemetrics.h"

namespace davit::host {

using observability::MetricsRegistry;
using observability::MetricsSink;

namespace {

constexpr qsizetype kMaxPriorities = 25; // W-15

double seconds(std::chrono::nanoseconds time)
{
    return std::chrono::duration<double>(time).count();
}

MetricLabels labelsOf(const QString &pluginId, const QString &controller)
{
    return {{QStringLiteral("name"), controller}, {QStringLiteral("controller"), controller},
        {QStringLiteral("plugin"), pluginId}};
}

} // namespace

class QueueMetrics::Observer final : public workqueue::QueueObserver
{
public:
    Observer(MetricsRegistry &registry, const QString &pluginId, const QString &controller)
        : m_registry(registry)
        , m_labels(labelsOf(pluginId, controller))
        , m_adds(registry.counter(QStringLiteral("workqueue_adds_total"),
              QStringLiteral("Items added to the queue"), m_labels))
        , m_retries(registry.counter(QStringLiteral("workqueue_retries_total"),
              QStringLiteral("Items added with a delay"), m_labels))
        , m_waiting(registry.histogram(QStringLiteral("workqueue_queue_duration_seconds"),
              QStringLiteral("Time an item waited, ready, before its work began"),
              observability::workQueueBuckets(), m_labels))
        , m_working(registry.histogram(QStringLiteral("workqueue_work_duration_seconds"),
              QStringLiteral("Time the work on an item took"), observability::workQueueBuckets(),
              m_labels))
    { }

    // All of these run under the queue's lock.
    void depthChanged(int priority, qsizetype items) override
    {
        auto known = m_depths.find(priority);
        if (known == m_depths.end()) {
            const bool isCut = qsizetype(m_depths.size()) >= kMaxPriorities;
            MetricLabels labels = m_labels;
            labels[QStringLiteral("priority")]
                = isCut ? QStringLiteral("exceeded_cardinality_limit") : QString::number(priority);
            const Gauge gauge = m_registry.gauge(
                QStringLiteral("workqueue_depth"), QStringLiteral("Items that are ready"), labels);
            known = m_depths.emplace(priority, Depth{gauge, 0}).first;
        }
        known->second.gauge.add(double(items - known->second.items));
        known->second.items = items;
    }
    void added() override { m_adds.increment(); }
    void handedOut(std::chrono::nanoseconds waited) override { m_waiting.observe(seconds(waited)); }
    void finished(std::chrono::nanoseconds worked) override { m_working.observe(seconds(worked)); }
    void retried() override { m_retries.increment(); }

private:
    struct Depth
    {
        Gauge gauge;
        qsizetype items;
    };

    MetricsRegistry &m_registry;
    const MetricLabels m_labels;
    const Counter m_adds;
    const Counter m_retries;
    const Histogram m_waiting;
    const Histogram m_working;
    std::map<int, Depth> m_depths;
};

QueueMetrics::QueueMetrics(MetricsRegistry &registry) : m_registry(registry) { }

QueueMetrics::~QueueMetrics() = default;

workqueue::QueueObserver *QueueMetrics::observerFor(
    const QString &pluginId, const QString &controller)
{
    const std::lock_guard lock(m_mutex);
    m_observers.push_back(std::make_unique<Observer>(m_registry, pluginId, controller));
    return m_observers.back().get();
}

void QueueMetrics::collectFrom(const workqueue::QueueRegistry &queues)
{
    m_registry.addCollector([&queues](MetricsSink &sink) {
        for (const workqueue::QueueRegistry::Entry &entry : queues.entries()) {
            const workqueue::QueueStats stats = entry.queue->stats();
            const MetricLabels labels = labelsOf(entry.pluginId, entry.controller);
            sink.add(MetricsRegistry::Type::Gauge,
                QStringLiteral("workqueue_unfinished_work_seconds"),
                QStringLiteral("Sum of the ages of the work that runs"), labels,
                seconds(stats.unfinishedWork));
            sink.add(MetricsRegistry::Type::Gauge,
                QStringLiteral("workqueue_longest_running_processor_seconds"),
                QStringLiteral("Age of the oldest work that runs"), labels,
                seconds(stats.longestRunning));
        }
    });
}

void QueueMetrics::removePlugin(const QString &pluginId)
{
    m_registry.removePlugin(pluginId);
}

} // namespace davit::host
