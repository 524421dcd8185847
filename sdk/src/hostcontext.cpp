#include <davit/hostcontext.h>
#include <davit/priv/backends.h>

DAVIT_BEGIN_NAMESPACE

HostContext::HostContext(priv::HostBackend &backend) : m_backend(backend) { }

HostContext::~HostContext() = default;

QString HostContext::pluginId() const
{
    return m_backend.pluginId();
}

Status HostContext::informer(const InformerRequest &request, Informer **informer)
{
    return Cluster(m_backend).informer(request, informer);
}

Lister HostContext::lister(const InformerRequest &request)
{
    return Cluster(m_backend).lister(request);
}

Client HostContext::client() const
{
    return Client(m_backend.client());
}

Status HostContext::cluster(const QString &name, Cluster *cluster) const
{
    if (!name.isEmpty())
        return Status(ErrorCode::InvalidConfiguration,
            QStringLiteral("cluster \"%1\" is not configured; this host serves the default cluster "
                           "only")
                .arg(name));
    *cluster = Cluster(m_backend);
    return Status::ok();
}

QJsonObject HostContext::config() const
{
    return m_backend.config();
}

Clock HostContext::clock() const
{
    return Clock(m_backend.clock());
}

Logger HostContext::log() const
{
    return Logger(m_backend.log(), QStringLiteral("plugin.") + m_backend.pluginId());
}

Metrics HostContext::metrics() const
{
    return Metrics(m_backend.metrics(), m_backend.pluginId());
}

EventRecorder HostContext::events() const
{
    return EventRecorder(m_backend.events());
}

priv::HostBackend &HostContext::backend() const noexcept
{
    return m_backend;
}

DAVIT_END_NAMESPACE
