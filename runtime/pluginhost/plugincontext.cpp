#include "plugincontext.h"

#include <davit/informer.h>

#include <algorithm>

namespace davit::pluginhost {

namespace {

QString joined(const QString &declared, const QString &asked)
{
    if (declared.isEmpty() || asked.isEmpty() || declared == asked)
        return declared.isEmpty() ? asked : declared;
    return declared + u',' + asked;
}

} // namespace

PluginContext::PluginContext(PluginServices &services, const PluginMetadata &metadata,
    const QJsonObject &config, priv::FaultSink &faults, priv::ClientBackend &client,
    priv::EventBackend &events)
    : m_services(services)
    , m_metadata(metadata)
    , m_config(config)
    , m_faults(faults)
    , m_client(client)
    , m_events(events)
    , m_identity{metadata.id, &metadata, &faults, &m_informerParent}
{
    m_client.retain();
    m_events.retain();
}

PluginContext::~PluginContext()
{
    m_client.release();
    m_events.release();
}

Status PluginContext::makeInformer(
    const InformerRequest &request, std::unique_ptr<priv::InformerBackend> *backend)
{
    InformerRequest effective(request);
    const Status status = narrow(request, &effective);
    return status.isOk() ? m_services.makeInformer(m_identity, effective, backend) : status;
}

Status PluginContext::makeLister(const InformerRequest &request, priv::ListerBackend **backend)
{
    InformerRequest effective(request);
    const Status status = narrow(request, &effective);
    return status.isOk() ? m_services.makeLister(m_identity, effective, backend) : status;
}

Status PluginContext::startController(std::unique_ptr<priv::ControllerSpec> spec)
{
    for (priv::SourceSpec &source : spec->sources) {
        const InformerRequest asked(source.request);
        if (Status status = narrow(asked, &source.request); !status.isOk())
            return Status(
                status.error().withContext(QStringLiteral("controller \"%1\"").arg(spec->name)));
    }
    return m_services.startController(m_identity, std::move(spec));
}

void PluginContext::cutInformers()
{
    const QList<Informer *> informers = m_informerParent.findChildren<Informer *>();
    for (Informer *informer : informers)
        informer->backend().setReceiver(nullptr);
}

void PluginContext::dropControllers()
{
    const QObjectList children = m_informerParent.children();
    for (QObject *child : children)
        if (!qobject_cast<Informer *>(child))
            delete child;
}

Status PluginContext::narrow(const InformerRequest &request, InformerRequest *effective) const
{
    const Gvk gvk = request.gvk();
    const auto wrong = [&](ErrorCode code, const QString &what) {
        return Status(code,
            QStringLiteral("plugin \"%1\" asked for %2: %3")
                .arg(m_metadata.id, toString(gvk), what));
    };
    const auto declared = std::find_if(m_metadata.resources.begin(), m_metadata.resources.end(),
        [&](const DeclaredResource &resource) { return resource.gvk == gvk; });
    if (declared == m_metadata.resources.end())
        return wrong(ErrorCode::UndeclaredResource,
            QStringLiteral("its metadata does not declare this kind; add it to Resources"));
    const QStringList namespaces = request.namespaces();
    for (const QString &name : namespaces)
        if (!declared->namespaces.isEmpty() && !declared->namespaces.contains(name))
            return wrong(ErrorCode::UndeclaredResource,
                QStringLiteral("its metadata does not declare namespace \"%1\"; add it there")
                    .arg(name));
    if (request.payload() == Payload::Full && declared->payload == Payload::Metadata)
        return wrong(ErrorCode::UndeclaredResource,
            QStringLiteral(
                "its metadata declares payload \"metadata\"; declare \"full\" to see more"));
    LabelSelector labels;
    if (Status status = LabelSelector::parse(request.labelSelector(), &labels); !status.isOk())
        return wrong(ErrorCode::InvalidArgument, status.error().message());
    FieldSelector fields;
    if (Status status = FieldSelector::parse(request.fieldSelector(), &fields); !status.isOk())
        return wrong(ErrorCode::InvalidArgument, status.error().message());
    ShardSelector shard;
    if (Status status = ShardSelector::parse(request.shardSelector(), &shard); !status.isOk())
        return wrong(ErrorCode::InvalidArgument, status.error().message());
    *effective = request;
    if (namespaces.isEmpty())
        effective->inNamespaces(declared->namespaces);
    effective->withLabels(joined(declared->labelSelector, request.labelSelector()));
    effective->withFields(joined(declared->fieldSelector, request.fieldSelector()));
    if (request.payload() == Payload::Unset)
        effective->payload(declared->payload);
    if (request.delivery() == Delivery::Unset)
        effective->delivery(Delivery::EveryEvent);
    return Status::ok();
}

} // namespace davit::pluginhost
