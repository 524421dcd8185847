#include "controllermetrics.h"

namespace davit::controller {
namespace {

const char *resultLabel(Outcome outcome)
{
    switch (outcome) {
    case Outcome::Success:
        return "success";
    case Outcome::RequeueAfter:
        return "requeue_after";
    case Outcome::Error:
    case Outcome::Unset:
        break;
    }
    return "error";
}

} // namespace

class ControllerMetrics::Observer final : public ControllerObserver
{
public:
    Observer(observability::MetricsRegistry &registry, const QString &pluginId,
        const QString &controller)
        : m_labels{{QStringLiteral("controller"), controller}, {QStringLiteral("plugin"), pluginId}}
        , m_errors(counter(registry, "reconcile_errors_total",
              "Total number of reconciliation errors per controller"))
        , m_terminalErrors(counter(registry, "terminal_reconcile_errors_total",
              "Total number of terminal reconciliation errors per controller"))
        , m_panics(counter(registry, "reconcile_panics_total",
              "Total number of reconciles per controller that threw"))
        , m_timeouts(counter(registry, "reconcile_timeouts_total",
              "Total number of reconciles per controller that took longer than its time-out"))
        , m_workers(gauge(registry, "max_concurrent_reconciles",
              "Maximum number of concurrent reconciles per controller"))
        , m_active(
              gauge(registry, "active_workers", "Number of currently used workers per controller"))
        , m_time(registry.histogram(name("reconcile_time_seconds"),
              QStringLiteral("Length of time per reconciliation per controller"),
              observability::reconcileTimeBuckets(), m_labels))
        , m_success(total(registry, Outcome::Success))
        , m_error(total(registry, Outcome::Error))
        , m_requeueAfter(total(registry, Outcome::RequeueAfter))
        // Davit has no plain requeue; the series is there since dashboards divide by the sum of
        // all.
        , m_requeue(registry.counter(name("reconcile_total"), totalHelp(), with("requeue")))
    { }

    void started(int workers) override { m_workers.set(workers); }
    void reconcileBegan() override { m_active.add(1); }
    void reconcileEnded(const ReconcileReport &report) override
    {
        m_active.add(-1);
        m_time.observe(std::chrono::duration<double>(report.duration).count());
        switch (report.outcome) {
        case Outcome::Success:
            m_success.increment();
            break;
        case Outcome::RequeueAfter:
            m_requeueAfter.increment();
            break;
        case Outcome::Error:
        case Outcome::Unset:
            m_error.increment();
            m_errors.increment();
            break;
        }
        if (report.isTerminal)
            m_terminalErrors.increment();
        if (report.hasThrown)
            m_panics.increment();
        if (report.hasTimedOut)
            m_timeouts.increment();
    }

private:
    static QString name(const char *rest)
    {
        return QStringLiteral("controller_runtime_") + QString::fromLatin1(rest);
    }
    static QString totalHelp()
    {
        return QStringLiteral("Total number of reconciliations per controller");
    }
    MetricLabels with(const char *result) const
    {
        MetricLabels labels(m_labels);
        labels.insert(QStringLiteral("result"), QString::fromLatin1(result));
        return labels;
    }
    Counter counter(
        observability::MetricsRegistry &registry, const char *rest, const char *help) const
    {
        return registry.counter(name(rest), QString::fromLatin1(help), m_labels);
    }
    Gauge gauge(observability::MetricsRegistry &registry, const char *rest, const char *help) const
    {
        return registry.gauge(name(rest), QString::fromLatin1(help), m_labels);
    }
    Counter total(observability::MetricsRegistry &registry, Outcome outcome) const
    {
        return registry.counter(name("reconcile_total"), totalHelp(), with(resultLabel(outcome)));
    }

    const MetricLabels m_labels;
    const Counter m_errors;
    const Counter m_terminalErrors;
    const Counter m_panics;
    const Counter m_timeouts;
    const Gauge m_workers;
    const Gauge m_active;
    const Histogram m_time;
    const Counter m_success;
    const Counter m_error;
    const Counter m_requeueAfter;
    const Counter m_requeue;
};

ControllerMetrics::ControllerMetrics(observability::MetricsRegistry &registry)
    : m_registry(registry)
{ }

ControllerMetrics::~ControllerMetrics() = default;

ControllerObserver *ControllerMetrics::observerFor(
    const QString &pluginId, const QString &controller)
{
    const std::lock_guard lock(m_mutex);
    std::unique_ptr<Observer> &observer = m_observers[{pluginId, controller}];
    if (!observer)
        observer = std::make_unique<Observer>(m_registry, pluginId, controller);
    return observer.get();
}

void ControllerMetrics::removePlugin(const QString &pluginId)
{
    const std::lock_guard lock(m_mutex);
    for (auto entry = m_observers.begin(); entry != m_observers.end();) {
        if (entry->first.first != pluginId) {
            ++entry;
            continue;
        }
        m_registry.removeSeries({{QStringLiteral("controller"), entry->first.second},
            {QStringLiteral("plugin"), pluginId}});
        m_retired.push_back(std::move(entry->second));
        entry = m_observers.erase(entry);
    }
}

} // namespace davit::controller
