// Every metric of the process, and the text page of them. Contract:
//   - A cell, once handed out, stays valid as long as the registry, unless the host gives it back
//   by dropSeries(); writing to it is one or two atomic operations and takes no lock, whoever
//   scrapes meanwhile.
//   - Series go when their subject goes: removeSeries(), removePlugin(). Their cells count on,
//   unseen.
//   - A plugin's series carry plugin="<id>". A plugin may neither take a name that another one uses
//   with another type, help or label names, nor one that starts like the host's own families.
//   - At most 1000 series a family and plugin: what is more shares one series whose label values
//   are "exceeded_cardinality_limit", and davit_metrics_cut_off_total counts it (B66).
// Source: Prometheus' data model and text format. Test: tst_metricsregistry.
#pragma once

#include <davit/logging.h>
#include <davit/priv/backends.h>

#include <functional>
#include <map>
#include <mutex>
#include <set>

namespace davit::observability {

// What a collector yields at the time of the scrape.
class MetricsSink
{
public:
    virtual ~MetricsSink() = default;
    virtual void add(priv::MetricsBackend::Type type, const QString &name, const QString &help,
        const MetricLabels &labels, double value)
        = 0;
};

class MetricsRegistry final : public priv::MetricsBackend
{
public:
    using Type = priv::MetricsBackend::Type;
    using Collector = std::function<void(MetricsSink &)>;

    MetricsRegistry();
    ~MetricsRegistry() override;
    Q_DISABLE_COPY_MOVE(MetricsRegistry)

    // Where refusals are told; until then nowhere. [host-thread]
    void setLogger(const Logger &log);

    // For plugins; see the contract. Null when refused. [thread-safe]
    priv::MetricCell *cell(Type type, const QString &pluginId, const QString &name,
        const QString &help, const MetricLabels &labels, const QList<double> &upperBounds) override;

    // The host's own; never refused for its name. Two calls with equal name and labels give the
    // same metric. [thread-safe]
    Counter counter(const QString &name, const QString &help, const MetricLabels &labels = {});
    Gauge gauge(const QString &name, const QString &help, const MetricLabels &labels = {});
    Histogram histogram(const QString &name, const QString &help, const QList<double> &upperBounds,
        const MetricLabels &labels = {});

    // Removes each series that carries all of these labels with these values, of any family: those
    // of a plugin, a controller, a resource. Returns their number. [thread-safe]
    qsizetype removeSeries(const MetricLabels &labels);
    // The one series of that name with just these labels, for good: its cell is freed, so nobody
    // may write to it any more. Nothing when there is none. [thread-safe]
    void dropSeries(const QString &name, const MetricLabels &labels);
    // Removes what carries plugin="<id>"; what is still counted for it, by an answer on its way,
    // is not shown either, until admitPlugin(). [thread-safe]
    void removePlugin(const QString &pluginId);
    void admitPlugin(const QString &pluginId);

    // Called at each scrape, on its thread; must not call the registry. [thread-safe]
    void addCollector(Collector collector);

    // The page in Prometheus' text format 0.0.4, families by name. Copies under the lock, writes
    // the text without it. [thread-safe]
    QByteArray text() const;
    qsizetype seriesCount() const;

private:
    class Cell;
    struct Family;
    using Labels = std::map<QByteArray, QByteArray>; // UTF-8

    Cell *unseenCell(Type type);
    priv::MetricCell *find(Type type, const QString &pluginId, const QString &name,
        const QString &help, Labels labels, const QList<double> &bounds, QString *refusal);

    mutable std::mutex m_mutex;
    std::map<QByteArray, Family> m_families; // GUARDED_BY(m_mutex)
    std::vector<std::unique_ptr<Cell>> m_retired; // GUARDED_BY(m_mutex): plugins may hold them
    std::set<QByteArray> m_gone; // Ids of plugins; GUARDED_BY(m_mutex)
    std::map<Type, std::unique_ptr<Cell>> m_unseen; // for what they count; GUARDED_BY(m_mutex)
    std::vector<Collector> m_collectors; // GUARDED_BY(m_mutex)
    Logger m_log; // GUARDED_BY(m_mutex)
};

// Bucket bounds as the field has them.
QList<double> reconcileTimeBuckets(); // controller_runtime_reconcile_time_seconds
QList<double> workQueueBuckets(); // workqueue_*_duration_seconds, 12 of them
QList<double> requestTimeBuckets(); // rest_client_request_duration_seconds
QList<double> sizeBuckets(); // rest_client_request_size_bytes, rest_client_response_size_bytes

} // namespace davit::observability
