#include <davit/cluster.h>
#include <davit/logging.h>
#include <davit/priv/backends.h>

#include <support/threadcheck.h>

DAVIT_BEGIN_NAMESPACE

namespace {

Status noCluster()
{
    return Status(ErrorCode::InvalidArgument,
        QStringLiteral("this cluster was never filled; take one from HostContext::cluster()"));
}

} // namespace

Cluster::Cluster() : d(nullptr) { }

Cluster::Cluster(priv::HostBackend &backend) : d(&backend) { }

Cluster::Cluster(const Cluster &other) = default;
Cluster &Cluster::operator=(const Cluster &other) = default;
Cluster::~Cluster() = default;

QString Cluster::name() const
{
    return {};
}

Status Cluster::informer(const InformerRequest &request, Informer **informer)
{
    *informer = nullptr;
    if (!d)
        return noCluster();
    DAVIT_ASSERT_THREAD(*d->informerParent());
    std::unique_ptr<priv::InformerBackend> backend;
    const Status status = d->makeInformer(request, &backend);
    if (status.isOk())
        *informer = new Informer(*backend.release(), d->informerParent());
    return status;
}

Lister Cluster::lister(const InformerRequest &request)
{
    priv::ListerBackend *backend = nullptr;
    const Status status = d ? d->makeLister(request, &backend) : noCluster();
    if (status.isOk())
        return Lister(*backend);
    if (d)
        Logger(d->log(), QStringLiteral("plugin.") + d->pluginId())
            .error("lister was refused", {{"error", status.error().message()}});
    return {};
}

Client Cluster::client() const
{
    return d ? Client(d->client()) : Client();
}

DAVIT_END_NAMESPACE
