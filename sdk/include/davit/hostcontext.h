// What the host gives a plugin: informers, client, configuration, clock, logs, metrics, events. It
// outlives the plugin. Test: tst_hostcontext.
#pragma once

#include <QtCore/qjsonobject.h>
#include <davit/clock.h>
#include <davit/cluster.h>
#include <davit/eventrecorder.h>
#include <davit/logging.h>
#include <davit/metrics.h>

DAVIT_BEGIN_NAMESPACE
class DAVIT_EXPORT HostContext
{
public:
    explicit HostContext(priv::HostBackend &backend); // host only; borrowed
    ~HostContext();
    Q_DISABLE_COPY(HostContext)

    // The plugin's Id from its metadata. [thread-safe]
    QString pluginId() const;
    // An informer that lives in the plugin's thread and dies with the plugin, or earlier when you
    // delete it. Errors: UndeclaredResource, InvalidArgument, KindNotServed (an optional kind that
    // the cluster lacks), Canceled (the host stops). It starts to deliver after initialize()
    // returned. [plugin-thread]
    Status informer(const InformerRequest &request, Informer **informer);
    Result<Informer *> informer(const InformerRequest &request)
    {
        Informer *made = nullptr;
        const Status status = informer(request, &made);
        return status.isOk() ? Result<Informer *>(made) : Result<Informer *>(status.error());
    }
    // Reads without events: the kind is watched as for an informer. An error gives a Lister that
    // never syncs, and a line in the log. [thread-safe]
    Lister lister(const InformerRequest &request);
    // Under the plugin's name and Rbac. [thread-safe]
    Client client() const;
    // Informers and client of one cluster. The empty name is the cluster that the host runs
    // against, the only one there is now; InvalidConfiguration for any other. [thread-safe]
    Status cluster(const QString &name, Cluster *cluster) const;
    Result<Cluster> cluster(const QString &name = {}) const
    {
        Cluster found;
        const Status status = cluster(name, &found);
        return status.isOk() ? Result<Cluster>(found) : Result<Cluster>(status.error());
    }
    // The plugin's part of the host's configuration, checked against ConfigSchema; defaults of the
    // schema are filled in. [thread-safe]
    QJsonObject config() const;
    Clock clock() const;
    Logger log() const;
    Metrics metrics() const;
    EventRecorder events() const;

    priv::HostBackend &backend() const noexcept; // host only [thread-safe]

private:
    priv::HostBackend &m_backend; // borrowed
};
DAVIT_END_NAMESPACE
