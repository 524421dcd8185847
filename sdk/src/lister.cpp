#include <davit/lister.h>
#include <davit/priv/backends.h>

DAVIT_BEGIN_NAMESPACE

Lister::Lister() : d(nullptr) { }

Lister::Lister(priv::ListerBackend &backend) : d(priv::retained(&backend)) { }

Lister::Lister(const Lister &other) : d(priv::retained(other.d)) { }

Lister &Lister::operator=(const Lister &other)
{
    priv::holdInstead(d, other.d);
    return *this;
}

Lister::~Lister()
{
    priv::released(d);
}

Gvk Lister::gvk() const
{
    return d ? d->gvk() : Gvk();
}

bool Lister::hasSynced() const noexcept
{
    return d && d->hasSynced();
}

Object Lister::find(const ObjectKey &key) const
{
    return d ? d->find(key) : Object();
}

QList<Object> Lister::list() const
{
    return d ? d->list(nullptr, nullptr) : QList<Object>();
}

QList<Object> Lister::list(const LabelSelector &selector) const
{
    return d ? d->list(nullptr, &selector) : QList<Object>();
}

QList<Object> Lister::inNamespace(const QString &namespaceName) const
{
    return d ? d->list(&namespaceName, nullptr) : QList<Object>();
}

QList<Object> Lister::inNamespace(const QString &namespaceName, const LabelSelector &selector) const
{
    return d ? d->list(&namespaceName, &selector) : QList<Object>();
}

QList<Object> Lister::byIndex(const QString &name, const QString &value) const
{
    QList<Object> objects;
    if (const Status status = byIndex(name, value, &objects); d && !status.isOk())
        qWarning("%s", qUtf8Printable(status.error().message()));
    return objects;
}

Status Lister::byIndex(const QString &name, const QString &value, QList<Object> *objects) const
{
    objects->clear();
    if (d && d->byIndex(name, value, objects))
        return Status::ok();
    return Status(ErrorCode::InvalidArgument,
        QStringLiteral("index \"%1\" of %2 was never added").arg(name, toString(gvk())));
}

QStringList Lister::indexValues(const QString &name) const
{
    return d ? d->indexValues(name) : QStringList();
}

qsizetype Lister::count() const
{
    return d ? d->count() : 0;
}

DAVIT_END_NAMESPACE
