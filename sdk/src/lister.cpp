#include <davit/lister.h>
#include <davit/priv/backends.h>

#include <algorithm>

DAVIT_BEGIN_NAMESPACE

namespace {

// As a server writes it; compareVersions() of the runtime takes no other form.
bool isVersion(const QString &text)
{
    const auto isDigit = [](QChar c) { return c >= u'0' && c <= u'9'; };
    bool isInRange = false;
    static_cast<void>(text.toULongLong(&isInRange));
    return isInRange && std::all_of(text.begin(), text.end(), isDigit)
        && (text.size() == 1 || text[0] != u'0');
}

} // namespace

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

Status Lister::waitFor(const Consistency &consistency) const
{
    const QString operation = QStringLiteral("wait for the cache");
    if (!d)
        return Status(ErrorCode::Unsupported,
            operation + QStringLiteral(": this lister shows nothing; take one from HostContext"));
    const auto refused = [&](const QString &why) {
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("%1 of %2: %3").arg(operation, toString(gvk()), why));
    };
    if (consistency.timeout().count() < 0)
        return refused(QStringLiteral("a time of %1 ms").arg(consistency.timeout().count()));
    if (consistency.type() == ConsistencyType::NotOlderThan
        && !isVersion(consistency.resourceVersion()))
        return refused(
            QStringLiteral("the version \"%1\" is no number").arg(consistency.resourceVersion()));
    return consistency.type() == ConsistencyType::Any ? Status::ok() : d->waitFor(consistency);
}

DAVIT_END_NAMESPACE
