#include "benchplugin.h"

#include "benchrun.h"

#include <davit/hostcontext.h>
#include <davit/informer.h>
#include <pluginhost/plugincontext.h>
#include <pluginhost/pluginthread.h>

#include <future>

namespace bench {

using namespace davit;

namespace {

pluginhost::PluginMetadata metadataOf(int number)
{
    pluginhost::PluginMetadata metadata;
    metadata.id = QStringLiteral("bench-%1").arg(number);
    metadata.version = QVersionNumber(1, 0);
    metadata.compatVersion = metadata.version;
    pluginhost::DeclaredResource pods;
    pods.gvk = BenchPlugin::podGvk();
    metadata.resources = {pods};
    return metadata;
}

} // namespace

BenchPlugin::BenchPlugin(int number, BenchRun &run, pluginhost::PluginServices &services,
    const support::TimeSource &time)
    : m_number(number)
    , m_run(run)
    , m_services(services)
    , m_metadata(metadataOf(number))
    , m_faults(
          m_metadata.id, time, Logger(services.log(), m_metadata.id), {}, [](const QString &) {})
    , m_client(services.makeClient({m_metadata.id, &m_metadata, &m_faults, nullptr}))
    , m_events(services.makeEvents({m_metadata.id, &m_metadata, &m_faults, nullptr}))
    , m_thread(std::make_unique<pluginhost::PluginThread>(m_metadata.id, m_faults))
{
    m_client->retain();
    m_events->retain();
}

BenchPlugin::~BenchPlugin()
{
    std::promise<void> isGone;
    m_thread->post([&] {
        m_context.reset();
        isGone.set_value();
    });
    isGone.get_future().wait();
    m_thread->finish(std::chrono::seconds(5));
    m_client->release();
    m_events->release();
}

Gvk BenchPlugin::podGvk()
{
    return {QString(), QStringLiteral("v1"), QStringLiteral("Pod")};
}

Status BenchPlugin::start()
{
    std::promise<Status> outcome;
    m_thread->post([&] { outcome.set_value(initialize()); });
    return outcome.get_future().get();
}

Status BenchPlugin::initialize()
{
    m_context = std::make_unique<pluginhost::PluginContext>(
        m_services, m_metadata, QJsonObject(), m_faults, *m_client, *m_events);
    HostContext host(*m_context);
    Informer *informer = nullptr;
    const Status status = host.informer(podGvk(), &informer);
    if (!status.isOk())
        return status;
    m_lister = informer->lister();
    QObject::connect(informer, &Informer::added, informer, [this] { m_run.added(); });
    QObject::connect(
        informer, &Informer::updated, informer, [this](const Object &, const Object &after) {
            m_run.updated();
            if (m_number == 0 && m_run.isPaced())
                m_run.stamped(after.annotation(QLatin1StringView("bench/ts")));
        });
    return Status::ok();
}

} // namespace bench
