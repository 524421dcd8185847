#include <davit/metrics.h>
#include <davit/priv/backends.h>

DAVIT_BEGIN_NAMESPACE

using priv::MetricsBackend;

Counter::Counter(priv::MetricCell *cell) noexcept : m_cell(cell) { }

void Counter::increment(double by) const
{
    if (m_cell && by >= 0)
        m_cell->add(by);
}

Gauge::Gauge(priv::MetricCell *cell) noexcept : m_cell(cell) { }

void Gauge::set(double value) const
{
    if (m_cell)
        m_cell->set(value);
}

void Gauge::add(double by) const
{
    if (m_cell)
        m_cell->add(by);
}

Histogram::Histogram(priv::MetricCell *cell) noexcept : m_cell(cell) { }

void Histogram::observe(double value) const
{
    if (m_cell)
        m_cell->observe(value);
}

Metrics::Metrics() = default;

Metrics::Metrics(priv::MetricsBackend &backend, const QString &pluginId)
    : m_backend(&backend), m_pluginId(pluginId)
{ }

Metrics::Metrics(const Metrics &other) = default;
Metrics &Metrics::operator=(const Metrics &other) = default;
Metrics::~Metrics() = default;

Counter Metrics::counter(const QString &name, const QString &help, const MetricLabels &labels) const
{
    return m_backend ? Counter(
               m_backend->cell(MetricsBackend::Type::Counter, m_pluginId, name, help, labels, {}))
                     : Counter();
}

Gauge Metrics::gauge(const QString &name, const QString &help, const MetricLabels &labels) const
{
    return m_backend
        ? Gauge(m_backend->cell(MetricsBackend::Type::Gauge, m_pluginId, name, help, labels, {}))
        : Gauge();
}

Histogram Metrics::histogram(const QString &name, const QString &help,
    const QList<double> &upperBounds, const MetricLabels &labels) const
{
    return m_backend ? Histogram(m_backend->cell(
               MetricsBackend::Type::Histogram, m_pluginId, name, help, labels, upperBounds))
                     : Histogram();
}

DAVIT_END_NAMESPACE
