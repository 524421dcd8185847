// A plugin's own metrics, served by the host at /metrics with the label plugin="<id>".
// Host-provided. Contract:
//   - Names follow Prometheus' rules ("reaper_deleted_total"), and do not begin as the host's own
//   do: davit_, controller_runtime_, workqueue_, rest_client_, process_, leader_election_,
//   certwatcher_, informer_.
//   - Asking twice for a name with the same labels gives the same metric. Help, label names and
//   buckets of a name are those of the first call, whoever made it; another set of them is refused.
//   - A name has at most 1000 series a plugin; what is more shares one series, whose label values
//   are "exceeded_cardinality_limit".
// Tests: tst_hostcontext, metricsAndEvents; tst_metricsregistry.
#pragma once

#include <QtCore/qlist.h>
#include <QtCore/qmap.h>
#include <QtCore/qstring.h>
#include <davit/fwd.h>

DAVIT_BEGIN_NAMESPACE
using MetricLabels = QMap<QString, QString>;

// Only grows. [thread-safe]
class DAVIT_EXPORT Counter
{
public:
    Counter() noexcept = default; // counts nothing
    explicit Counter(priv::MetricCell *cell) noexcept; // host only
    void increment(double by = 1) const;

private:
    priv::MetricCell *m_cell
        = nullptr; // borrowed from the host's registry, which lives as long as the process
};

// Goes up and down. [thread-safe]
class DAVIT_EXPORT Gauge
{
public:
    Gauge() noexcept = default;
    explicit Gauge(priv::MetricCell *cell) noexcept; // host only
    void set(double value) const;
    void add(double by) const;

private:
    priv::MetricCell *m_cell = nullptr;
};

// Observations in buckets. [thread-safe]
class DAVIT_EXPORT Histogram
{
public:
    Histogram() noexcept = default;
    explicit Histogram(priv::MetricCell *cell) noexcept; // host only
    void observe(double value) const;

private:
    priv::MetricCell *m_cell = nullptr;
};

// All methods: [thread-safe]. ABI: frozen as it is, without a d-pointer: no member is added.
class DAVIT_EXPORT Metrics
{
public:
    // Metrics that nobody serves.
    Metrics();
    Metrics(priv::MetricsBackend &backend, const QString &pluginId); // host only; borrowed
    Metrics(const Metrics &other);
    Metrics &operator=(const Metrics &other);
    ~Metrics();
    // What the contract refuses, and a name that exists with another type, is logged and gives a
    // metric that nobody serves. [thread-safe]
    Counter counter(
        const QString &name, const QString &help, const MetricLabels &labels = {}) const;
    Gauge gauge(const QString &name, const QString &help, const MetricLabels &labels = {}) const;
    // `upperBounds` rise strictly, else it is refused; +Inf is added. [thread-safe]
    Histogram histogram(const QString &name, const QString &help, const QList<double> &upperBounds,
        const MetricLabels &labels = {}) const;

private:
    priv::MetricsBackend *m_backend = nullptr;
    QString m_pluginId;
};
DAVIT_END_NAMESPACE
