#include "controllerruntime.h"

#include "controllersource.h"
#include <support/keepforever.h>

#include <algorithm>

namespace davit::controller {
namespace {

// Sits beside the controller's informers and dies with them, on the plugin's thread: so does the
// reconciler.
class Anchor final : public QObject
{
public:
    Anchor(std::shared_ptr<Controller> controller, QObject *parent)
        : QObject(parent), m_controller(std::move(controller))
    { }
    ~Anchor() override { m_controller->releaseReconciler(); }

private:
    const std::shared_ptr<Controller> m_controller;
};

OwnerKind ownerKindOf(
    const priv::ControllerSpec &spec, const std::function<bool(const Gvk &)> &isNamespaced)
{
    for (const priv::SourceSpec &source : spec.sources) {
        if (source.kind == priv::SourceSpec::Kind::Self) {
            const Gvk gvk = source.request.gvk();
            return {gvk, !isNamespaced || isNamespaced(gvk)};
        }
    }
    return {};
}

} // namespace

// One stop() under way. Confined to the executor.
struct ControllerRuntime::Stop
{
    Controllers running;
    size_t idle = 0;
    support::TimeSource *time = nullptr;
    support::TimeSource::TimerId timer = 0;
    Stopped done;

    void finish()
    {
        if (!done)
            return;
        if (timer != 0)
            time->cancel(timer);
        const Stopped tell = std::exchange(done, nullptr);
        tell(giveUp(running));
        running.clear();
    }
};

ControllerRuntime::ControllerRuntime(const Services &services)
    : m_services(services), m_hasLead(!services.permit)
{ }

ControllerRuntime::~ControllerRuntime()
{
    for (const auto &[pluginId, controllers] : m_controllers) {
        for (const auto &controller : controllers)
            controller->stop({});
        (void)giveUp(controllers);
    }
    for (const std::weak_ptr<Stop> &weak : m_stops) {
        if (const auto stopping = weak.lock())
            m_services.time->cancel(stopping->timer);
    }
}

Status ControllerRuntime::start(std::unique_ptr<priv::ControllerSpec> spec)
{
    priv::HostBackend &host = spec->host->backend();
    const QString pluginId = host.pluginId();
    std::shared_ptr<Controller> controller;
    std::shared_ptr<workqueue::PriorityQueue> queue;
    {
        const std::lock_guard lock(m_mutex);
        Controllers &controllers = m_controllers[pluginId];
        const bool isTaken = std::any_of(controllers.begin(), controllers.end(),
            [&](const auto &other) { return other->name() == spec->name; });
        if (isTaken)
            return Status(ErrorCode::InvalidArgument,
                QStringLiteral("controller \"%1\": plugin \"%2\" has one of that name already")
                    .arg(spec->name, pluginId));
        queue = m_services.queues->queue(pluginId, spec->name, spec->retryBase, spec->retryMax);
        Controller::Surroundings around;
        around.pluginId = pluginId;
        around.queue = queue;
        around.faults = &host.faults();
        around.client = &host.client();
        around.log = Logger(host.log(), QStringLiteral("plugin.") + pluginId);
        around.observer
            = m_services.observers ? m_services.observers(pluginId, spec->name) : nullptr;
        around.time = m_services.time;
        around.permit = m_services.permit;
        if (!m_hasLead)
            around.start = Controller::Surroundings::Start::WithLead;
        controller = std::make_shared<Controller>(*spec, around);
        controllers.push_back(controller);
    }
    const Status status = listen(*spec, controller, queue);
    if (!status.isOk()) {
        controller->stop({});
        const std::lock_guard lock(m_mutex);
        Controllers &controllers = m_controllers[pluginId];
        controllers.erase(std::find(controllers.begin(), controllers.end(), controller));
    }
    return status;
}

Status ControllerRuntime::listen(const priv::ControllerSpec &spec,
    const std::shared_ptr<Controller> &controller,
    const std::shared_ptr<workqueue::PriorityQueue> &queue)
{
    priv::HostBackend &host = spec.host->backend();
    ControllerSource::Surroundings around;
    around.queue = queue;
    around.ownerKind = ownerKindOf(spec, m_services.isNamespaced);
    around.faults = &host.faults();
    around.log = Logger(host.log(), QStringLiteral("plugin.") + host.pluginId());
    around.onSynced = [controller] { controller->sourceSynced(); };
    std::vector<Informer *> informers;
    for (const priv::SourceSpec &source : spec.sources) {
        Informer *informer = nullptr;
        const Status status = spec.host->informer(source.request, &informer);
        if (!status.isOk()) {
            for (Informer *made : informers)
                delete made;
            return status.error().withContext(QStringLiteral("controller \"%1\"").arg(spec.name));
        }
        informers.push_back(informer);
        new ControllerSource(*informer, source, around);
    }
    new Anchor(controller, host.informerParent());
    return Status::ok();
}

void ControllerRuntime::lead()
{
    Controllers waiting;
    {
        const std::lock_guard lock(m_mutex);
        if (std::exchange(m_hasLead, true))
            return;
        for (const auto &[pluginId, controllers] : m_controllers)
            waiting.insert(waiting.end(), controllers.begin(), controllers.end());
    }
    for (const auto &controller : waiting)
        controller->lead();
}

void ControllerRuntime::stop(const QString &pluginId, std::chrono::nanoseconds limit, Stopped done)
{
    const auto stopping = std::make_shared<Stop>();
    stopping->time = m_services.time;
    stopping->done = std::move(done);
    {
        const std::lock_guard lock(m_mutex);
        m_stops.erase(std::remove_if(m_stops.begin(), m_stops.end(),
                          [](const std::weak_ptr<Stop> &stop) { return stop.expired(); }),
            m_stops.end());
        m_stops.push_back(stopping);
        const auto found = m_controllers.find(pluginId);
        if (found != m_controllers.end()) {
            stopping->running = std::move(found->second);
            auto &ending = m_stopping[pluginId];
            ending.insert(ending.end(), stopping->running.begin(), stopping->running.end());
            m_controllers.erase(found);
        }
    }
    const Controllers controllers = stopping->running;
    support::Executor *const executor = m_services.executor;
    executor->post([stopping, limit, executor] {
        if (stopping->running.empty()) {
            stopping->finish();
        } else if (limit >= std::chrono::nanoseconds::zero() && stopping->done) {
            stopping->timer
                = stopping->time->callAfter(limit, *executor, [stopping] { stopping->finish(); });
        }
    });
    for (const auto &controller : controllers) {
        controller->stop([stopping, executor] {
            executor->post([stopping] {
                if (++stopping->idle == stopping->running.size())
                    stopping->finish();
            });
        });
    }
}

QStringList ControllerRuntime::giveUp(const Controllers &controllers)
{
    QStringList abandoned;
    for (const auto &controller : controllers) {
        const QStringList keys = inFlight({controller});
        abandoned += keys;
        if (!keys.isEmpty()) {
            controller->abandon();
            support::keepForever(controller); // its workers still refer to it
        }
    }
    abandoned.sort();
    return abandoned;
}

QStringList ControllerRuntime::inFlight(const Controllers &controllers)
{
    QStringList all;
    for (const auto &controller : controllers) {
        const std::vector<workqueue::WorkKey> keys = controller->inFlight();
        for (const workqueue::WorkKey &key : keys)
            all += QStringLiteral("controller %1: %2")
                       .arg(controller->name(), workqueue::toString(key));
    }
    all.sort();
    return all;
}

QStringList ControllerRuntime::inFlight(const QString &pluginId) const
{
    Controllers controllers;
    {
        const std::lock_guard lock(m_mutex);
        if (const auto found = m_controllers.find(pluginId); found != m_controllers.end())
            controllers = found->second;
        if (const auto found = m_stopping.find(pluginId); found != m_stopping.end())
            for (const auto &weak : found->second)
                if (auto controller = weak.lock())
                    controllers.push_back(std::move(controller));
    }
    return inFlight(controllers);
}

void ControllerRuntime::forget(const QString &pluginId)
{
    {
        const std::lock_guard lock(m_mutex);
        m_stopping.erase(pluginId);
    }
    m_services.queues->remove(pluginId);
}

std::vector<ControllerStats> ControllerRuntime::stats() const
{
    std::vector<ControllerStats> all;
    const std::lock_guard lock(m_mutex);
    for (const auto &[pluginId, controllers] : m_controllers) {
        for (const auto &controller : controllers)
            all.push_back(controller->stats());
    }
    std::sort(all.begin(), all.end(), [](const ControllerStats &a, const ControllerStats &b) {
        return std::tie(a.pluginId, a.controller) < std::tie(b.pluginId, b.controller);
    });
    return all;
}

} // namespace davit::controller
