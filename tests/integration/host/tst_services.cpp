// What plugins get of one cluster, in this process: whose own writes a lister waits for. The server
// refuses watches until the row has seen that the caches are stale.
#include "host/hostmetrics.h"
#include "host/runtimeservices.h"
#include "testing/embeddedapiserver.h"

#include <davit/client.h>
#include <davit/lister.h>
#include <davit/objectbuilder.h>

#include <QTest>
#include <future>

using namespace davit;
using namespace std::chrono_literals;

namespace {

const Gvk kConfigMap{QString(), QStringLiteral("v1"), QStringLiteral("ConfigMap")};

class NoFaults final : public priv::FaultSink
{
public:
    void fault(const char *, const QString &, const QString &) noexcept override { }
    void entered(const char *, const QString &) noexcept override { }
    void left() noexcept override { }
};

class NoLog final : public priv::LogBackend
{
public:
    bool isEnabled(LogLevel) const noexcept override { return false; }
    void write(
        LogLevel, const QString &, const char *, const LogField *, qsizetype) noexcept override
    { }
};

transport::ClusterConfig clusterOf(const testing::EmbeddedApiServer &server)
{
    transport::ClusterConfig config;
    config.server = QUrl(server.url());
    return config;
}

host::Configuration listsFirst()
{
    host::Configuration configuration;
    configuration.initialSync = {{QStringLiteral("*"), cache::InitialSync::List}};
    return configuration;
}

// One plugin that may do anything.
struct Plugin
{
    explicit Plugin(const char *id)
    {
        const QString any = QStringLiteral("*");
        metadata.rbac = {{{any}, {any}, {}, {any}}};
        identity.id = QString::fromLatin1(id);
        identity.metadata = &metadata;
        identity.faults = &faults;
    }
    NoFaults faults;
    pluginhost::PluginMetadata metadata;
    pluginhost::PluginIdentity identity;
};

} // namespace

class tst_Services : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void ownWrites();
    void seriesEnd();
};

void tst_Services::ownWrites()
{
    testing::EmbeddedApiServer server;
    QVERIFY(server.start().isOk());
    testing::ApiServerFault noWatch;
    noWatch.queryContains = "watch=true";
    noWatch.times = -1;
    noWatch.httpStatus = 503;
    server.addFault(noWatch);
    NoLog log;
    observability::MetricsRegistry metrics;
    host::RuntimeServices services(
        clusterOf(server), support::systemTimeSource(), log, metrics, listsFirst());
    services.start();
    std::promise<void> served;
    services.resolve(
        kConfigMap, [&served] { served.set_value(); }, [](const QString &) {});
    served.get_future().wait();
    const auto listerOf = [&](const Plugin &plugin) {
        priv::ListerBackend *backend = nullptr;
        const Status status
            = services.makeLister(plugin.identity, InformerRequest(kConfigMap), &backend);
        return status.isOk() ? Lister(*backend) : Lister();
    };
    const Plugin a("a");
    const Plugin b("b");
    const Lister ofA = listerOf(a);
    const Lister ofB = listerOf(b);
    const Consistency patient = Consistency::ownWrites().timeout(60s);
    const Consistency look = Consistency::ownWrites().timeout(0ms);
    QVERIFY(ofA.waitFor(patient).isOk()); // the first lists
    QVERIFY(ofB.waitFor(patient).isOk());
    const Client client(*services.makeClient(a.identity));
    const ObjectKey key{QStringLiteral("default"), QStringLiteral("x")};
    QVERIFY(client.blocking().create(ObjectBuilder(kConfigMap, key).build()).isOk());
    QVERIFY(ofA.find(key).isNull());
    QCOMPARE(ofA.waitFor(look).error().code(), ErrorCode::StaleCache);
    QVERIFY(ofB.waitFor(look).isOk()); // it was somebody else's write
    services.forget(a.identity.id);
    QVERIFY(listerOf(a).waitFor(patient).isOk()); // a plugin of that name that wrote nothing
    server.clearFaults();
    const Result<Object> found = ofA.find(key, patient);
    QVERIFY2(found.isOk(), qPrintable(found.status().error().message()));
    QVERIFY(!found.value().isNull());
    const QByteArray page = metrics.text();
    const QByteArray name = "controller_runtime_client_consistency_wait_duration_seconds_count";
    for (const QByteArray &line : {name + R"({operation="own_writes",result="success"} 5)",
             name + R"({operation="own_writes",result="timeout"} 1)"})
        QVERIFY2(page.contains(line), page + "\nlacks " + line);
    services.closeCalls(a.identity.id, 0s, [] {});
}

// B66: nothing of a watch and of a plugin that are gone is on the page.
void tst_Services::seriesEnd()
{
    testing::EmbeddedApiServer server;
    QVERIFY(server.start().isOk());
    NoLog log;
    observability::MetricsRegistry metrics;
    host::RuntimeServices services(
        clusterOf(server), support::systemTimeSource(), log, metrics, listsFirst());
    host::addCacheMetrics(metrics, [&services] { return services.resources(); });
    services.start();
    std::promise<void> served;
    services.resolve(
        kConfigMap, [&served] { served.set_value(); }, [](const QString &) {});
    served.get_future().wait();
    const Plugin plugin("a");
    std::unique_ptr<priv::InformerBackend> informer;
    QVERIFY(services.makeInformer(plugin.identity, InformerRequest(kConfigMap), &informer).isOk());
    const Client client(*services.makeClient(plugin.identity));
    const ObjectKey key{QStringLiteral("default"), QStringLiteral("x")};
    QVERIFY(client.blocking().create(ObjectBuilder(kConfigMap, key).build()).isOk());
    const QByteArray series = "informer_processing_latency_seconds_count{group=\"\",name=\"v1 "
                              "ConfigMap\",resource=\"configmaps\",version=\"v1\"}";
    // The watch is another thread's.
    QTRY_VERIFY_WITH_TIMEOUT(metrics.text().contains(series), 30000);
    QVERIFY(metrics.text().contains("plugin=\"a\""));
    informer.reset();
    QTRY_VERIFY_WITH_TIMEOUT(!metrics.text().contains("ConfigMap"), 30000);
    // A request that is on its way when the plugin goes.
    const QFuture<ObjectReply> late = client.get(kConfigMap, key);
    services.closeCalls(plugin.identity.id, 0s, [] {});
    services.forget(plugin.identity.id);
    QTRY_VERIFY_WITH_TIMEOUT(late.isFinished(), 30000);
    QVERIFY2(!metrics.text().contains("plugin="), metrics.text());
}

QTEST_GUILESS_MAIN(tst_Services)
#include "tst_services.moc"
