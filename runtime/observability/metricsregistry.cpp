#include "metricsregistry.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <QtCore/qregularexpression.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <sstream>

namespace davit::observability {

namespace {

constexpr qsizetype kMaxSeriesPerPlugin = 1000;
constexpr char kCutOffName[] = "davit_metrics_cut_off_total";

void atomicAdd(std::atomic<double> &target, double by) noexcept
{
    double seen = target.load(std::memory_order_relaxed);
    while (!target.compare_exchange_weak(seen, seen + by, std::memory_order_relaxed)) { }
}

bool isValidName(const QString &name)
{
    static const QRegularExpression pattern(QStringLiteral("\\A[a-zA-Z_:][a-zA-Z0-9_:]*\\z"));
    return pattern.match(name).hasMatch();
}

bool isValidLabel(const QString &name)
{
    static const QRegularExpression pattern(QStringLiteral("\\A[a-zA-Z_][a-zA-Z0-9_]*\\z"));
    return pattern.match(name).hasMatch() && !name.startsWith(QLatin1StringView("__"));
}

bool isReserved(const QString &name)
{
    static constexpr std::array kPrefixes = {"davit_", "controller_runtime_", "workqueue_",
        "rest_client_", "process_", "leader_election_", "certwatcher_", "informer_"};
    return std::any_of(kPrefixes.begin(), kPrefixes.end(),
        [&](const char *prefix) { return name.startsWith(QLatin1StringView(prefix)); });
}

// The serializer writes help texts as they are.
std::string escapedHelp(const QByteArray &help)
{
    return QByteArray(help).replace('\\', "\\\\").replace('\n', "\\n").toStdString();
}

prometheus::MetricType prometheusType(priv::MetricsBackend::Type type)
{
    switch (type) {
    case priv::MetricsBackend::Type::Counter:
        return prometheus::MetricType::Counter;
    case priv::MetricsBackend::Type::Histogram:
        return prometheus::MetricType::Histogram;
    case priv::MetricsBackend::Type::Gauge:
        break;
    }
    return prometheus::MetricType::Gauge;
}

class CollectedSamples final : public MetricsSink
{
public:
    explicit CollectedSamples(std::map<QByteArray, prometheus::MetricFamily> &families)
        : m_families(families)
    { }
    void add(priv::MetricsBackend::Type type, const QString &name, const QString &help,
        const MetricLabels &labels, double value) override
    {
        prometheus::MetricFamily &family = m_families[name.toUtf8()];
        family.name = name.toStdString();
        family.help = escapedHelp(help.toUtf8());
        family.type = prometheusType(type);
        prometheus::ClientMetric metric;
        for (auto i = labels.begin(); i != labels.end(); ++i)
            metric.label.push_back({i.key().toStdString(), i.value().toStdString()});
        metric.counter.value = metric.gauge.value = value;
        family.metric.push_back(std::move(metric));
    }

private:
    std::map<QByteArray, prometheus::MetricFamily> &m_families;
};

} // namespace

class MetricsRegistry::Cell final : public priv::MetricCell
{
public:
    Cell(Type type, const QList<double> &bounds)
        : m_type(type), m_bounds(bounds.begin(), bounds.end()), m_buckets(m_bounds.size() + 1)
    { }

    void add(double by) noexcept override
    {
        if (std::isfinite(by) && (m_type == Type::Gauge || by > 0))
            atomicAdd(m_value, by);
    }
    void set(double value) noexcept override
    {
        if (m_type == Type::Gauge)
            m_value.store(value, std::memory_order_relaxed);
    }
    void observe(double value) noexcept override
    {
        if (m_type != Type::Histogram || std::isnan(value))
            return;
        const auto bound = std::lower_bound(m_bounds.begin(), m_bounds.end(), value);
        m_buckets[size_t(bound - m_bounds.begin())].fetch_add(1, std::memory_order_relaxed);
        atomicAdd(m_value, value);
    }

    prometheus::ClientMetric collect(const Labels &labels) const
    {
        prometheus::ClientMetric metric;
        for (const auto &[name, value] : labels)
            metric.label.push_back({name.toStdString(), value.toStdString()});
        const double value = m_value.load(std::memory_order_relaxed);
        if (m_type != Type::Histogram) {
            metric.counter.value = metric.gauge.value = value;
            return metric;
        }
        std::uint64_t sum = 0;
        for (size_t i = 0; i < m_buckets.size(); ++i) {
            sum += m_buckets[i].load(std::memory_order_relaxed);
            const double bound
                = i < m_bounds.size() ? m_bounds[i] : std::numeric_limits<double>::infinity();
            metric.histogram.bucket.push_back({sum, bound});
        }
        metric.histogram.sample_count = sum;
        metric.histogram.sample_sum = value;
        return metric;
    }

private:
    const Type m_type;
    const std::vector<double> m_bounds;
    std::vector<std::atomic<std::uint64_t>> m_buckets; // the last one is +Inf
    std::atomic<double> m_value{0}; // of a histogram the sum
};

struct MetricsRegistry::Family
{
    Type type = Type::Counter;
    QByteArray help;
    std::vector<QByteArray> labelNames;
    QList<double> bounds;
    std::map<Labels, std::unique_ptr<Cell>> series;
    std::map<QString, qsizetype> seriesOfPlugin;
};

MetricsRegistry::MetricsRegistry() = default;
MetricsRegistry::~MetricsRegistry() = default;

void MetricsRegistry::setLogger(const Logger &log)
{
    const std::lock_guard lock(m_mutex);
    m_log = log;
}

priv::MetricCell *MetricsRegistry::cell(Type type, const QString &pluginId, const QString &name,
    const QString &help, const MetricLabels &labels, const QList<double> &upperBounds)
{
    QString refusal;
    Labels all;
    for (auto i = labels.begin(); i != labels.end(); ++i) {
        if (!isValidLabel(i.key()) || i.key() == QLatin1StringView("plugin")
            || i.key() == QLatin1StringView("le"))
            refusal = QStringLiteral("label \"%1\" is not allowed").arg(i.key());
        all[i.key().toUtf8()] = i.value().toUtf8();
    }
    all["plugin"] = pluginId.toUtf8();
    if (!isValidName(name))
        refusal = QStringLiteral("the name breaks Prometheus' rules");
    else if (isReserved(name))
        refusal = QStringLiteral("names that start like this are the host's own");
    priv::MetricCell *found = nullptr;
    if (refusal.isEmpty())
        found = find(type, pluginId, name, help, std::move(all), upperBounds, &refusal);
    if (!found) {
        const Logger log = [this] {
            const std::lock_guard lock(m_mutex);
            return m_log;
        }();
        log.warning("metric refused: nobody will see it",
            {{"plugin", pluginId}, {"metric", name}, {"reason", refusal}});
    }
    return found;
}

priv::MetricCell *MetricsRegistry::find(Type type, const QString &pluginId, const QString &name,
    const QString &help, Labels labels, const QList<double> &bounds, QString *refusal)
{
    std::vector<QByteArray> labelNames;
    for (const auto &[label, value] : labels)
        labelNames.push_back(label);
    if (!std::is_sorted(bounds.begin(), bounds.end(), std::less_equal<double>())) {
        *refusal = QStringLiteral("the bounds of its buckets do not rise");
        return nullptr;
    }
    const std::lock_guard lock(m_mutex);
    if (const auto plugin = labels.find("plugin");
        plugin != labels.end() && m_gone.contains(plugin->second))
        return unseenCell(type);
    const auto [place, isNew] = m_families.try_emplace(name.toUtf8());
    Family &family = place->second;
    if (isNew) {
        family.type = type;
        family.help = help.toUtf8();
        family.labelNames = labelNames;
        family.bounds = bounds;
    } else if (family.type != type || family.help != help.toUtf8()
        || family.labelNames != labelNames || family.bounds != bounds) {
        *refusal = QStringLiteral("the name exists with another type, help, label or bucket");
        return nullptr;
    }
    if (const auto known = family.series.find(labels); known != family.series.end())
        return known->second.get();
    if (!pluginId.isEmpty() && ++family.seriesOfPlugin[pluginId] > kMaxSeriesPerPlugin) {
        const QByteArray id = pluginId.toUtf8();
        Family &cut = m_families[kCutOffName];
        cut.help = "Requests of plugins for more series than a metric may have";
        cut.labelNames = {"plugin"};
        std::unique_ptr<Cell> &count = cut.series[{{"plugin", id}}];
        if (!count)
            count = std::make_unique<Cell>(Type::Counter, QList<double>());
        count->add(1);
        for (auto &[label, value] : labels)
            value = label == "plugin" ? id : QByteArray("exceeded_cardinality_limit");
    }
    std::unique_ptr<Cell> &made = family.series[labels];
    if (!made)
        made = std::make_unique<Cell>(type, bounds);
    return made.get();
}

// Locked.
MetricsRegistry::Cell *MetricsRegistry::unseenCell(Type type)
{
    std::unique_ptr<Cell> &cell = m_unseen[type];
    if (!cell)
        cell = std::make_unique<Cell>(type, QList<double>());
    return cell.get();
}

Counter MetricsRegistry::counter(
    const QString &name, const QString &help, const MetricLabels &labels)
{
    Labels all;
    for (auto i = labels.begin(); i != labels.end(); ++i)
        all[i.key().toUtf8()] = i.value().toUtf8();
    QString refusal;
    return Counter(find(Type::Counter, {}, name, help, std::move(all), {}, &refusal));
}

Gauge MetricsRegistry::gauge(const QString &name, const QString &help, const MetricLabels &labels)
{
    Labels all;
    for (auto i = labels.begin(); i != labels.end(); ++i)
        all[i.key().toUtf8()] = i.value().toUtf8();
    QString refusal;
    return Gauge(find(Type::Gauge, {}, name, help, std::move(all), {}, &refusal));
}

Histogram MetricsRegistry::histogram(const QString &name, const QString &help,
    const QList<double> &upperBounds, const MetricLabels &labels)
{
    Labels all;
    for (auto i = labels.begin(); i != labels.end(); ++i)
        all[i.key().toUtf8()] = i.value().toUtf8();
    QString refusal;
    return Histogram(find(Type::Histogram, {}, name, help, std::move(all), upperBounds, &refusal));
}

qsizetype MetricsRegistry::removeSeries(const MetricLabels &labels)
{
    Labels wanted;
    for (auto i = labels.begin(); i != labels.end(); ++i)
        wanted[i.key().toUtf8()] = i.value().toUtf8();
    const auto matches = [&](const Labels &series) {
        return std::includes(series.begin(), series.end(), wanted.begin(), wanted.end());
    };
    qsizetype removed = 0;
    const std::lock_guard lock(m_mutex);
    for (auto family = m_families.begin(); family != m_families.end();) {
        auto &series = family->second.series;
        for (auto i = series.begin(); i != series.end();) {
            if (!matches(i->first)) {
                ++i;
                continue;
            }
            m_retired.push_back(std::move(i->second));
            i = series.erase(i);
            ++removed;
        }
        family->second.seriesOfPlugin.erase(labels.value(QStringLiteral("plugin")));
        family = series.empty() ? m_families.erase(family) : std::next(family);
    }
    return removed;
}

void MetricsRegistry::dropSeries(const QString &name, const MetricLabels &labels)
{
    Labels all;
    for (auto i = labels.begin(); i != labels.end(); ++i)
        all[i.key().toUtf8()] = i.value().toUtf8();
    const std::lock_guard lock(m_mutex);
    const auto family = m_families.find(name.toUtf8());
    if (family == m_families.end())
        return;
    family->second.series.erase(all);
    if (family->second.series.empty())
        m_families.erase(family);
}

void MetricsRegistry::removePlugin(const QString &pluginId)
{
    {
        const std::lock_guard lock(m_mutex);
        m_gone.insert(pluginId.toUtf8());
    }
    removeSeries({{QStringLiteral("plugin"), pluginId}});
}

void MetricsRegistry::admitPlugin(const QString &pluginId)
{
    const std::lock_guard lock(m_mutex);
    m_gone.erase(pluginId.toUtf8());
}

void MetricsRegistry::addCollector(Collector collector)
{
    const std::lock_guard lock(m_mutex);
    m_collectors.push_back(std::move(collector));
}

QByteArray MetricsRegistry::text() const
{
    std::map<QByteArray, prometheus::MetricFamily> families;
    std::vector<Collector> collectors;
    {
        const std::lock_guard lock(m_mutex);
        collectors = m_collectors;
        for (const auto &[name, family] : m_families) {
            prometheus::MetricFamily &out = families[name];
            out.name = name.toStdString();
            out.help = escapedHelp(family.help);
            out.type = prometheusType(family.type);
            out.metric.reserve(family.series.size());
            for (const auto &[labels, cell] : family.series)
                out.metric.push_back(cell->collect(labels));
        }
    }
    CollectedSamples sink(families);
    for (const Collector &collector : collectors)
        collector(sink);
    std::vector<prometheus::MetricFamily> sorted;
    sorted.reserve(families.size());
    for (auto &[name, family] : families)
        sorted.push_back(std::move(family));
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, sorted);
    return QByteArray::fromStdString(out.str());
}

qsizetype MetricsRegistry::seriesCount() const
{
    const std::lock_guard lock(m_mutex);
    qsizetype sum = 0;
    for (const auto &[name, family] : m_families)
        sum += qsizetype(family.series.size());
    return sum;
}

QList<double> reconcileTimeBuckets()
{
    QList<double> bounds{0.005, 0.01, 0.025};
    for (int i = 1; i <= 10; ++i)
        bounds << i * 5 / 100.0;
    for (int i = 6; i <= 10; ++i)
        bounds << i / 10.0;
    bounds << 1.25 << 1.5 << 1.75 << 2 << 2.5 << 3 << 3.5 << 4 << 4.5 << 5;
    bounds << 6 << 7 << 8 << 9 << 10 << 15 << 20 << 25 << 30 << 40 << 50 << 60;
    return bounds;
}

QList<double> workQueueBuckets()
{
    return {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000};
}

QList<double> requestTimeBuckets()
{
    return {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
}

QList<double> sizeBuckets()
{
    QList<double> bounds{64, 256, 512, 1024};
    for (const int kibibytes : {4, 16, 64, 256, 1024, 4096, 16384})
        bounds << kibibytes * 1024.0;
    return bounds;
}

} // namespace davit::observability
