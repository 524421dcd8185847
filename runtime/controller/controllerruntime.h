// The controllers of all plugins, as the plugin host starts and stops them. Contract:
//   - With a permit, workers of all controllers wait for lead(), while their sources sync and their
//   queues fill (warm standby).
//   - Queues belong to the host: a controller that starts under the same plugin and name goes on
//   with its keys, delays and failure counts.
//   - What belongs to the plugin (predicates, mappers, the reconciler) dies on the plugin's thread,
//   with the parent of its informers.
// Tests: tst_controller, tst_controllerstop.
#pragma once

#include "controller.h"

#include <map>
#include <workqueue/queueregistry.h>

namespace davit::controller {

class ControllerRuntime
{
public:
    struct Services
    {
        support::TimeSource *time = nullptr; // borrowed, as all pointers here
        support::Executor *executor = nullptr; // where stops end; one work at a time
        workqueue::QueueRegistry *queues = nullptr;
        // The observer of a controller, or null. [plugin-thread]
        std::function<ControllerObserver *(const QString &pluginId, const QString &controller)>
            observers;
        // Whether a kind lies in namespaces; for owns(). Without it: yes. [plugin-thread]
        std::function<bool(const Gvk &gvk)> isNamespaced;
        // Of leader election; null: workers begin by themselves.
        std::shared_ptr<const support::Permit> permit{};
    };
    using Stopped = std::function<void(const QStringList &abandoned)>;

    explicit ControllerRuntime(const Services &services);
    // Controllers that still run are given up as in abandon().
    ~ControllerRuntime();
    Q_DISABLE_COPY_MOVE(ControllerRuntime)

    // Makes the informers of its sources through spec->host and starts to listen. Errors:
    // InvalidArgument (the plugin has a controller of that name), those of the informers; then
    // nothing of it stays. [plugin-thread]
    Status start(std::unique_ptr<priv::ControllerSpec> spec);
    // This process leads: workers begin, those of controllers to come too. Once. [thread-safe]
    void lead();
    // Ends the plugin's controllers: isStopping() turns true, no key is taken any more. `done` is
    // called once on the executor, when the last reconcile has returned, or when `limit` has passed
    // (negative: never), with what runs then: "controller replicator: team-a/x", sorted.
    // [thread-safe]
    void stop(const QString &pluginId, std::chrono::nanoseconds limit, Stopped done);
    // What runs in the plugin's reconciles now, also of controllers that stop(): as there.
    // [thread-safe]
    QStringList inFlight(const QString &pluginId) const;
    // Drops the plugin's queues: it is gone for good. Its controllers have been stopped.
    // [thread-safe]
    void forget(const QString &pluginId);
    // Sorted by plugin and controller. [thread-safe]
    std::vector<ControllerStats> stats() const;

private:
    using Controllers = std::vector<std::shared_ptr<Controller>>;
    struct Stop;

    Status listen(const priv::ControllerSpec &spec, const std::shared_ptr<Controller> &controller,
        const std::shared_ptr<workqueue::PriorityQueue> &queue);
    static QStringList giveUp(const Controllers &controllers);
    static QStringList inFlight(const Controllers &controllers);

    const Services m_services;
    mutable std::mutex m_mutex;
    bool m_hasLead; // or needs none; GUARDED_BY(m_mutex)
    std::map<QString, Controllers> m_controllers; // by plugin; GUARDED_BY(m_mutex)
    std::map<QString, std::vector<std::weak_ptr<Controller>>> m_stopping; // GUARDED_BY(m_mutex)
    std::vector<std::weak_ptr<Stop>> m_stops; // GUARDED_BY(m_mutex)
};

} // namespace davit::controller
