#include <davit/informer.h>
#include <davit/priv/backends.h>
#include <davit/priv/plugincall.h>

#include <QtCore/qcoreevent.h>
#include <QtCore/qpointer.h>

DAVIT_BEGIN_NAMESPACE

IndexFunction::~IndexFunction() = default;

class InformerPrivate
{
public:
    std::unique_ptr<priv::InformerBackend> backend;
    QString subject; // "v1 ConfigMap", for faults
};

Informer::Informer(priv::InformerBackend &owned, QObject *parent)
    : QObject(parent), d(new InformerPrivate{std::unique_ptr<priv::InformerBackend>(&owned), {}})
{
    d->subject = toString(owned.request().gvk());
    owned.setReceiver(this);
}

Informer::~Informer()
{
    d->backend->setReceiver(nullptr);
    delete d;
}

InformerRequest Informer::request() const
{
    return d->backend->request();
}

Lister Informer::lister() const
{
    return Lister(d->backend->lister());
}

bool Informer::hasSynced() const noexcept
{
    return d->backend->hasSynced();
}

Status Informer::addIndex(const QString &name, IndexFunction *function)
{
    return d->backend->addIndex(name, std::shared_ptr<const IndexFunction>(function));
}

priv::InformerBackend &Informer::backend() const noexcept
{
    return *d->backend;
}

bool Informer::event(QEvent *event)
{
    if (event->type() != QEvent::Type(priv::wakeUpEventType()))
        return QObject::event(event);
    const QPointer<Informer> alive(this); // a slot may delete the informer
    priv::FaultSink &faults = d->backend->faults();
    for (const priv::Notification &n : d->backend->takeBatch()) {
        const QString subject = d->subject;
        switch (n.kind) {
        case priv::Notification::Kind::Added:
            priv::pluginCall(
                faults, "slot added", subject, [&] { Q_EMIT added(n.object, n.isInInitialList); });
            break;
        case priv::Notification::Kind::Updated:
            priv::pluginCall(
                faults, "slot updated", subject, [&] { Q_EMIT updated(n.before, n.object); });
            break;
        case priv::Notification::Kind::Deleted:
            priv::pluginCall(faults, "slot deleted", subject,
                [&] { Q_EMIT deleted(n.object, n.isFinalStateUnknown); });
            break;
        case priv::Notification::Kind::Synced:
            priv::pluginCall(faults, "slot synced", subject, [&] { Q_EMIT synced(); });
            break;
        }
        if (!alive)
            return true;
        d->backend->handled(n);
    }
    return true;
}

DAVIT_END_NAMESPACE
