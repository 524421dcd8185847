// What the plugin host needs from cache, client and controller, as one interface: the plugin host
// decides what a plugin may have, the services give it. RuntimeServices is the real one; tests
// bring their own.
#pragma once

#include "pluginmetadata.h"

#include <davit/priv/backends.h>
#include <davit/priv/controllerspec.h>
#include <davit/priv/plugincall.h>

#include <functional>
#include <memory>

class QObject;

namespace davit::pluginhost {

// One running plugin, as the services see it. Outlives all that they make for it.
struct PluginIdentity
{
    QString id;
    const PluginMetadata *metadata = nullptr;
    priv::FaultSink *faults = nullptr;
    QObject *informerParent = nullptr; // in the plugin's thread
    // The same sink for answers of calls, the last of which may come after the plugin's end.
    std::weak_ptr<priv::FaultSink> callFaults{};
};

class PluginServices
{
public:
    virtual ~PluginServices() = default;

    // Finds out how the cluster addresses a kind. `done` is called once, on any thread, when it is
    // served; `waiting` each time that it was found not to be (yet), with the reason. [host-thread]
    virtual void resolve(const Gvk &gvk, std::function<void()> done,
        std::function<void(const QString &reason)> waiting)
        = 0;
    // `request` has been checked against the metadata, and its payload and namespaces are filled
    // in. KindNotServed for a kind that was not resolved. [plugin-thread]
    virtual Status makeInformer(const PluginIdentity &plugin, const InformerRequest &request,
        std::unique_ptr<priv::InformerBackend> *backend)
        = 0;
    // [thread-safe]
    virtual Status makeLister(
        const PluginIdentity &plugin, const InformerRequest &request, priv::ListerBackend **backend)
        = 0;
    // New ones, with a count of 0. [host-thread]
    virtual priv::ClientBackend *makeClient(const PluginIdentity &plugin) = 0;
    virtual priv::EventBackend *makeEvents(const PluginIdentity &plugin) = 0;
    // The requests of its sources have been checked. [plugin-thread]
    virtual Status startController(
        const PluginIdentity &plugin, std::unique_ptr<priv::ControllerSpec> spec)
        = 0;
    // Ends the plugin's workers and controllers. `done` is called once, on any thread, after the
    // last reconcile has returned or when `limit` has passed (negative: never), with what still
    // runs: "controller namespace/name". [host-thread]
    virtual void stopControllers(const QString &pluginId, std::chrono::nanoseconds limit,
        std::function<void(const QStringList &abandoned)> done)
        = 0;
    // What runs in the plugin's reconciles now, also after stopControllers() has begun:
    // "controller namespace/name". [host-thread]
    virtual QStringList inFlight(const QString &pluginId) const = 0;
    // The plugin records and calls no more: sends the Events that still wait, until `limit` has
    // passed, then closes its recorder and its client; running calls end with Canceled. `done` is
    // called once, on any thread; at once where nothing was made for the plugin. [host-thread]
    virtual void closeCalls(
        const QString &pluginId, std::chrono::nanoseconds limit, std::function<void()> done)
        = 0;
    // Forgets what was kept for the plugin. Its objects are gone. [host-thread]
    virtual void forget(const QString &pluginId) = 0;

    virtual priv::ClockBackend &clock() = 0;
    virtual priv::LogBackend &log() = 0;
    virtual priv::MetricsBackend &metrics() = 0;
};

} // namespace davit::pluginhost
