// The client of one plugin: its own user agent and field manager, and the Rbac of its metadata
// checked before anything is sent. Behind davit::Client, whose contract it keeps. Errors beside the
// server's: MissingRbac, KindNotServed, InvalidArgument, Canceled after close(), and for a write
// while this process may not write (leader election).
// Test: tst_pluginclient.
#pragma once

#include "policyrule.h"
#include "restmapper.h"

#include <davit/priv/backends.h>
#include <davit/priv/ownwrite.h>
#include <davit/priv/plugincall.h>
#include <functional>
#include <memory>

namespace davit::client {

// Who counts a plugin's calls and lost events. [thread-safe]
class CallObserver
{
public:
    virtual ~CallObserver();
    // A call ended. `code` is the HTTP status, or 0 when nothing was sent or no answer came.
    virtual void called(const QString &pluginId, const QString &verb, int code) = 0;
    // Events that were told and will not be written.
    virtual void eventsDropped(const QString &pluginId, quint64 events) = 0;
};

struct ClientIdentity
{
    QString pluginId;
    QString pluginVersion;
    Rbac rbac;
    CallObserver *observer = nullptr; // borrowed, may be null
    // Watches over what the plugin hangs on its futures, as long as it is there.
    std::weak_ptr<priv::FaultSink> faults{};
    // Writes go out only while it is valid; null: always.
    std::shared_ptr<const support::Permit> permit{};
    // Told of what the server took, before the plugin has its answer. [thread-safe]
    std::function<void(const priv::OwnWrite &)> onWritten{};
    // "davit/<plugin Id>"
    QString fieldManager() const { return QStringLiteral("davit/") + pluginId; }
    // "davit/0.1.0 (linux/amd64) replicator/1.2.0" (C-30)
    QByteArray userAgent() const;
};

class PluginClient final : public priv::ClientBackend
{
public:
    // `rest` and `mapper` are borrowed and outlive what the client asks of them.
    PluginClient(ClientIdentity identity, RestClient &rest, RestMapper &mapper);

    QFuture<ObjectReply> call(Verb verb, const Gvk &gvk, const ObjectKey &key, const Object &object,
        const Patch *patch, const RequestOptions &options) override;
    QFuture<ListReply> list(const Gvk &gvk, const RequestOptions &options) override;
    QFuture<BodyReply> getRaw(const QByteArray &target, const RequestOptions &options) override;
    // Ends running calls with Canceled, and those to come. [thread-safe]
    void close();

private:
    ~PluginClient() override;

    class Core;
    const std::shared_ptr<Core> m_core;
};

} // namespace davit::client
