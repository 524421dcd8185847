#include <davit/informer.h>
#include <davit/priv/backends.h>
#include <davit/priv/plugincall.h>

#include <QtCore/qcoreapplication.h>
#include <QtCore/qcoreevent.h>
#include <QtCore/qpointer.h>
#include <support/threadcheck.h>

DAVIT_BEGIN_NAMESPACE

IndexFunction::~IndexFunction() = default;

class InformerPrivate
{
public:
    std::unique_ptr<priv::InformerBackend> backend;
    QString subject; // "v1 ConfigMap", for faults
    bool isDelivering = false;
    bool isWoken = false; // while it delivered
};

namespace {

// `subject` by value: the informer may die in a slot.
void deliver(Informer &to, const priv::Notification &n, priv::FaultSink &faults, QString subject)
{
    switch (n.kind) {
    case priv::Notification::Kind::Added:
        priv::pluginCall(
            faults, "slot added", subject, [&] { Q_EMIT to.added(n.object, n.isInInitialList); });
        break;
    case priv::Notification::Kind::Updated:
        priv::pluginCall(
            faults, "slot updated", subject, [&] { Q_EMIT to.updated(n.before, n.object); });
        break;
    case priv::Notification::Kind::Deleted:
        priv::pluginCall(faults, "slot deleted", subject,
            [&] { Q_EMIT to.deleted(n.object, n.isFinalStateUnknown); });
        break;
    case priv::Notification::Kind::Synced:
        priv::pluginCall(faults, "slot synced", subject, [&] { Q_EMIT to.synced(); });
        break;
    }
}

} // namespace

Informer::Informer(priv::InformerBackend &owned, QObject *parent)
    : QObject(parent), d(new InformerPrivate{std::unique_ptr<priv::InformerBackend>(&owned), {}})
{
    d->subject = toString(owned.request().gvk());
    owned.setReceiver(this);
}

Informer::~Informer()
{
    DAVIT_ASSERT_THREAD(*this);
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
    DAVIT_ASSERT_THREAD(*this);
    return d->backend->addIndex(name, std::shared_ptr<const IndexFunction>(function));
}

priv::InformerBackend &Informer::backend() const noexcept
{
    DAVIT_ASSERT_THREAD(*this);
    return *d->backend;
}

bool Informer::event(QEvent *event)
{
    if (event->type() != QEvent::Type(priv::wakeUpEventType()))
        return QObject::event(event);
    if (d->isDelivering) { // a slot runs an event loop: one thing at a time, in order
        d->isWoken = true;
        return true;
    }
    d->isDelivering = true;
    const QPointer<Informer> alive(this); // a slot may delete the informer
    for (const priv::Notification &n : d->backend->takeBatch()) {
        deliver(*this, n, d->backend->faults(), d->subject);
        if (!alive)
            return true;
        d->backend->handled(n);
    }
    d->isDelivering = false;
    if (std::exchange(d->isWoken, false))
        QCoreApplication::postEvent(this, new QEvent(event->type()));
    return true;
}

DAVIT_END_NAMESPACE
