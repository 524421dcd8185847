#include "hostmetrics.h"

#include "version.h"

#include <davit/priv/controllerspec.h>
#include <davit/priv/poolaccess.h>
#include <observability/processmetrics.h>

#include <array>
#include <cstring>
#include <map>
#include <mutex>

namespace davit::host {

using observability::MetricsRegistry;
using observability::MetricsSink;
using Type = MetricsRegistry::Type;

namespace {

// As client-go has them; a scope of its own is an informer of its own.
MetricLabels informerLabels(const cache::WatchScope &scope, const QString &plural)
{
    return {{QStringLiteral("name"), scope.toText()}, {QStringLiteral("group"), scope.gvk.group},
        {QStringLiteral("version"), scope.gvk.version}, {QStringLiteral("resource"), plural}};
}

// S-2: a number that fits into a double.
double versionNumber(const QString &resourceVersion)
{
    return double(resourceVersion.right(15).toULongLong());
}

} // namespace

void addProcessMetrics(MetricsRegistry &registry)
{
    registry.addCollector(observability::collectProcessMetrics);
    registry.addCollector([](MetricsSink &sink) {
        sink.add(Type::Gauge, QStringLiteral("davit_build_info"),
            QStringLiteral("Which davit this is; always 1"),
            {{QStringLiteral("version"), QStringLiteral(DAVIT_SDK_VERSION_STRING)},
                {QStringLiteral("commit"), QStringLiteral(DAVIT_BUILD_COMMIT)}},
            1);
        const priv::PoolStats pool = priv::poolStats();
        const auto add = [&sink](const char *name, const char *help, quint64 value) {
            sink.add(Type::Gauge, QStringLiteral("davit_object_pool_") + QString::fromUtf8(name),
                QString::fromUtf8(help), {}, double(value));
        };
        add("live_blocks", "Shared parts of objects in memory", pool.liveBlocks);
        add("live_bytes", "Bytes of the shared parts of objects", pool.liveBytes);
        add("table_bytes", "Bytes of the tables that find equal parts", pool.tableBytes);
        add("mapped_bytes", "Bytes taken from the system for objects", pool.mappedBytes);
        add("free_bytes", "Bytes taken from the system and free", pool.freeBytes);
        add("wasted_bytes", "Bytes lost to rounding up", pool.wastedBytes);
    });
}

void addPluginMetrics(MetricsRegistry &registry, const observability::StateBoard &board)
{
    registry.addCollector([&board](MetricsSink &sink) {
        for (const observability::PluginState &plugin : board.plugins())
            sink.add(Type::Gauge, QStringLiteral("davit_plugin_state"),
                QStringLiteral("1 for the state that the plugin is in"),
                {{QStringLiteral("plugin"), plugin.id}, {QStringLiteral("version"), plugin.version},
                    {QStringLiteral("state"), plugin.state}},
                1);
    });
}

std::function<void(const QString &, const char *, const QString &)> faultCounter(
    MetricsRegistry &registry)
{
    return [&registry](const QString &pluginId, const char *entry, const QString &subject) {
        const QString plugin = QStringLiteral("plugin");
        registry
            .counter(QStringLiteral("davit_plugin_faults_total"),
                QStringLiteral("Calls of plugin code that threw, by what was called"),
                {{plugin, pluginId}, {QStringLiteral("kind"), QString::fromLatin1(entry)}})
            .increment();
        if (std::strcmp(entry, "index function") == 0)
            registry
                .counter(QStringLiteral("davit_index_function_faults_total"),
                    QStringLiteral("Objects left out of an index because its function threw"),
                    {{plugin, pluginId}, {QStringLiteral("index"), subject}})
                .increment();
    };
}

void addCacheMetrics(
    MetricsRegistry &registry, std::function<std::vector<cache::ResourceState>()> resources)
{
    registry.addCollector([resources = std::move(resources)](MetricsSink &sink) {
        for (const cache::ResourceState &state : resources()) {
            const MetricLabels labels{{QStringLiteral("resource"), state.scope.toText()}};
            const auto add = [&](Type type, const char *name, const char *help, double value) {
                sink.add(type, QString::fromUtf8(name), QString::fromUtf8(help), labels, value);
            };
            add(Type::Gauge, "davit_cache_synced", "Whether the first full list is stored",
                state.hasSynced ? 1 : 0);
            add(Type::Gauge, "davit_cache_objects", "Objects in the cache", double(state.objects));
            add(Type::Gauge, "davit_cache_queue_depth", "Changes that wait between watch and cache",
                double(state.queueDepth));
            add(Type::Gauge, "davit_cache_held_snapshots",
                "Old states of the cache that readers still hold", double(state.heldSnapshots));
            add(Type::Gauge, "davit_cache_users", "Views and listers of plugins",
                double(state.users));
            add(Type::Counter, "davit_cache_fills_total",
                "Full lists that were stored; more than one are relists",
                double(state.reflector.fills));
            add(Type::Counter, "davit_watch_requests_total", "Watches that were opened",
                double(state.reflector.watchRequests));
            add(Type::Counter, "davit_watch_events_total", "Events that came by watch",
                double(state.reflector.events));
            add(Type::Counter, "davit_watch_failures_total", "Rounds of list and watch that failed",
                double(state.reflector.failedRounds));
            add(Type::Counter, "davit_watch_stale_events_total",
                "Events left out because something newer was known", double(state.staleEvents));
            add(Type::Counter, "davit_cache_damaged_objects_total",
                "Cached objects whose memory was written to; KUBE_CACHE_MUTATION_DETECTOR looks",
                double(state.damagedObjects));
            const MetricLabels informer = informerLabels(state.scope, state.plural);
            sink.add(Type::Gauge, QStringLiteral("informer_queued_items"),
                QStringLiteral("Changes that wait between watch and cache"), informer,
                double(state.queueDepth));
            sink.add(Type::Gauge, QStringLiteral("informer_store_resource_version"),
                QStringLiteral("The last 15 digits of the version of the newest stored change"),
                informer, versionNumber(state.storeVersion));
            add(Type::Counter, "davit_cache_inconsistencies_total",
                "Objects that came otherwise than the server lists them; "
                "KUBE_WATCHLIST_INCONSISTENCY_DETECTOR looks",
                double(state.reflector.differences));
        }
    });
}

// For a moment two informers may watch the same: one that ends, and the one that comes after it.
struct ProcessingMetrics::Counts
{
    explicit Counts(MetricsRegistry &metrics) : registry(metrics) { }

    Histogram take(const MetricLabels &labels)
    {
        const std::lock_guard lock(mutex);
        ++users[keyOf(labels)];
        return registry.histogram(name(),
            QStringLiteral("Time that a batch of changes took to store"),
            {.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}, labels);
    }
    void giveBack(const MetricLabels &labels)
    {
        const std::lock_guard lock(mutex);
        const QString key = keyOf(labels);
        if (--users[key] > 0)
            return;
        users.erase(key);
        registry.dropSeries(name(), labels);
    }
    static QString keyOf(const MetricLabels &labels)
    {
        return QStringList(labels.values()).join(QLatin1Char('\n'));
    }
    static QString name() { return QStringLiteral("informer_processing_latency_seconds"); }

    MetricsRegistry &registry;
    std::mutex mutex;
    std::map<QString, int> users; // informers by keyOf(); GUARDED_BY(mutex)
};

ProcessingMetrics::ProcessingMetrics(MetricsRegistry &registry)
    : m_counts(std::make_shared<Counts>(registry))
{ }

std::function<void(std::chrono::nanoseconds)> ProcessingMetrics::histogram(
    const cache::WatchScope &scope, const QString &plural)
{
    const MetricLabels labels = informerLabels(scope, plural);
    const Histogram histogram = m_counts->take(labels);
    const std::shared_ptr<void> use(
        nullptr, [counts = m_counts, labels](void *) { counts->giveBack(labels); });
    return [histogram, use](std::chrono::nanoseconds took) {
        histogram.observe(std::chrono::duration<double>(took).count());
    };
}

void addHandlerMetrics(
    MetricsRegistry &registry, std::function<std::vector<cache::HandlerState>()> handlers)
{
    registry.addCollector([handlers = std::move(handlers)](MetricsSink &sink) {
        std::map<std::array<QString, 3>, qsizetype> pending; // of handlers that ask for the same
        for (const cache::HandlerState &state : handlers()) {
            if (state.owner.isEmpty())
                continue; // the host's own
            const bool isLatest = priv::isLatest(state.request.delivery());
            QString resource = toString(state.request.gvk());
            if (state.request.payload() == Payload::Metadata)
                resource += QStringLiteral(" (metadata)"); // as WatchScope::toText says it
            pending[{state.owner, resource,
                isLatest ? QStringLiteral("latest") : QStringLiteral("every event")}]
                += state.pending;
        }
        for (const auto &[labels, waiting] : pending)
            sink.add(Type::Gauge, QStringLiteral("davit_handler_pending"),
                QStringLiteral("Notifications that wait for a plugin's handlers"),
                {{QStringLiteral("plugin"), labels[0]}, {QStringLiteral("resource"), labels[1]},
                    {QStringLiteral("delivery"), labels[2]}},
                double(waiting));
    });
}

} // namespace davit::host
