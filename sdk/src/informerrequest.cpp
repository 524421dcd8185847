#include <davit/informerrequest.h>

DAVIT_BEGIN_NAMESPACE

class InformerRequestPrivate : public QSharedData
{
public:
    Gvk gvk;
    QStringList namespaces;
    QString labelSelector;
    QString fieldSelector;
    QString shardSelector;
    Payload payload = Payload::Unset;
    Delivery delivery = Delivery::Unset;
    std::chrono::nanoseconds resyncPeriod{-1};
};

InformerRequest::InformerRequest(const Gvk &gvk) : d(new InformerRequestPrivate)
{
    d->gvk = gvk;
}

InformerRequest::InformerRequest(const InformerRequest &other) = default;
InformerRequest &InformerRequest::operator=(const InformerRequest &other) = default;
InformerRequest::~InformerRequest() = default;

InformerRequest &InformerRequest::inNamespaces(const QStringList &namespaces)
{
    d->namespaces = namespaces;
    return *this;
}

InformerRequest &InformerRequest::withLabels(const QString &labelSelector)
{
    d->labelSelector = labelSelector;
    return *this;
}

InformerRequest &InformerRequest::withFields(const QString &fieldSelector)
{
    d->fieldSelector = fieldSelector;
    return *this;
}

InformerRequest &InformerRequest::withShard(const QString &shardSelector)
{
    d->shardSelector = shardSelector;
    return *this;
}

InformerRequest &InformerRequest::payload(Payload payload)
{
    d->payload = payload;
    return *this;
}

InformerRequest &InformerRequest::delivery(Delivery delivery)
{
    d->delivery = delivery;
    return *this;
}

InformerRequest &InformerRequest::resyncPeriod(std::chrono::nanoseconds period)
{
    d->resyncPeriod = period;
    return *this;
}

Gvk InformerRequest::gvk() const
{
    return d->gvk;
}

QStringList InformerRequest::namespaces() const
{
    return d->namespaces;
}

QString InformerRequest::labelSelector() const
{
    return d->labelSelector;
}

QString InformerRequest::fieldSelector() const
{
    return d->fieldSelector;
}

QString InformerRequest::shardSelector() const
{
    return d->shardSelector;
}

Payload InformerRequest::payload() const
{
    return d->payload;
}

Delivery InformerRequest::delivery() const
{
    return d->delivery;
}

std::chrono::nanoseconds InformerRequest::resyncPeriod() const
{
    return d->resyncPeriod;
}

DAVIT_END_NAMESPACE
