#include "transportmetrics.h"

#include <davit/logging.h>

#include <atomic>

namespace davit::host {

namespace {

// C-75: runs of the exec program, and how long what it printed is good for.
std::function<void(const transport::ExecRun &)> execMetrics(
    support::TimeSource &time, observability::MetricsRegistry &metrics)
{
    using Type = observability::MetricsRegistry::Type;
    const auto expires = std::make_shared<std::atomic<qint64>>(-1); // UTC, ns; -1: never
    metrics.addCollector([&time, expires](observability::MetricsSink &sink) {
        const qint64 end = expires->load();
        sink.add(Type::Gauge, QStringLiteral("rest_client_exec_plugin_ttl_seconds"),
            QStringLiteral("Seconds until what the exec credential plugin printed expires; +Inf "
                           "without an end or a plugin."),
            {}, end < 0 ? qInf() : double(end - time.utc().count()) / 1e9);
    });
    return [&metrics, expires](const transport::ExecRun &run) {
        expires->store(run.expires ? run.expires->count() : -1);
        metrics
            .counter(QStringLiteral("rest_client_exec_plugin_call_total"),
                QStringLiteral("Number of calls to an exec plugin, partitioned by the type of "
                               "event and the exit code."),
                {{QStringLiteral("code"), QString::number(run.exitCode)},
                    {QStringLiteral("call_status"), QLatin1StringView(run.callStatus)}})
            .increment();
    };
}

// C-75: of the connection managers, one for each kind of exchange and set of certificates.
transport::ManagerListener managerMetrics(observability::MetricsRegistry &metrics)
{
    const auto uses = [&metrics](const char *result) {
        return metrics.counter(QStringLiteral("rest_client_transport_create_calls_total"),
            QStringLiteral("Number of requests that asked for a connection manager, partitioned by "
                           "the result: hit: one that was there, miss: made for it"),
            {{QStringLiteral("result"), QLatin1StringView(result)}});
    };
    const Gauge entries = metrics.gauge(QStringLiteral("rest_client_transport_cache_entries"),
        QStringLiteral("Number of connection managers that there are."));
    transport::ManagerListener listener;
    listener.onUse = [hit = uses("hit"), miss = uses("miss")](transport::ManagerUse use) {
        (use == transport::ManagerUse::Hit ? hit : miss).increment();
    };
    listener.onCount = [entries](int managers) { entries.set(managers); };
    return listener;
}

} // namespace

transport::TransportOptions transportOptions(const transport::ClusterConfig &cluster,
    support::TimeSource &time, priv::LogBackend &log, observability::MetricsRegistry &metrics)
{
    transport::TransportOptions options;
    options.time = &time;
    options.onWait = [&metrics, log = Logger(log, QStringLiteral("client")),
                         host = cluster.server.authority()](
                         const transport::Request &request, std::chrono::nanoseconds wait) {
        const double seconds = std::chrono::duration<double>(wait).count();
        const QString verb = QString::fromLatin1(request.method);
        metrics
            .histogram(QStringLiteral("rest_client_rate_limiter_duration_seconds"),
                QStringLiteral("Time that requests waited for the client's own rate limit."),
                observability::requestTimeBuckets(),
                {{QStringLiteral("verb"), verb}, {QStringLiteral("host"), host}})
            .observe(seconds);
        const Logger told
            = log.with("path", QString::fromLatin1(request.target.split('?').first()));
        const char *const sentence = "a request waits for the rate limit of --kube-api-qps";
        if (wait > std::chrono::seconds(1))
            told.info(sentence, {{"verb", verb}, {"seconds", seconds}});
        else if (wait > std::chrono::milliseconds(50))
            told.debug(sentence, {{"verb", verb}, {"seconds", seconds}});
    };
    options.onBackoff = [log = Logger(log, QStringLiteral("client"))](
                            const transport::Request &request, std::chrono::nanoseconds wait) {
        if (wait > std::chrono::seconds(1))
            log.with("path", QString::fromLatin1(request.target.split('?').first()))
                .info("a request waits, since the server refused or broke what it was asked before",
                    {{"verb", QString::fromLatin1(request.method)},
                        {"seconds", std::chrono::duration<double>(wait).count()}});
    };
    options.onExecRun = execMetrics(time, metrics);
    options.managers = managerMetrics(metrics);
    options.onCaReload = [&metrics](const transport::CaReload &reload) {
        metrics
            .counter(QStringLiteral("rest_client_transport_ca_reload_total"),
                QStringLiteral("Number of times a CA reload is attempted, partitioned by the "
                               "result and reason for the reload attempt"),
                {{QStringLiteral("result"), QLatin1StringView(reload.result)},
                    {QStringLiteral("reason"), QLatin1StringView(reload.reason)}})
            .increment();
    };
    options.onReloadFault = [log = Logger(log, QStringLiteral("transport"))](const QString &fault) {
        log.warning(
            "changed credential files are not used, the ones before are", {{"error", fault}});
    };
    return options;
}

} // namespace davit::host
