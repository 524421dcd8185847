#include "reconcilescope.h"

#include <QtCore/quuid.h>

namespace davit::controller {
namespace {

Logger scoped(const Logger &log, const QString &controller, const ObjectKey &key, const QString &id)
{
    const Logger named = log.with("controller", controller);
    const Logger placed
        = key.namespaceName.isEmpty() ? named : named.with("namespace", key.namespaceName);
    return placed.with("name", key.name).with("reconcileID", id);
}

} // namespace

ReconcileScope::ReconcileScope(const workqueue::WorkItem &item, const QString &controller,
    const Logger &log, priv::ClientBackend &client, std::chrono::nanoseconds deadline,
    const std::atomic<bool> &isStopping)
    : m_causes(item.causes)
    , m_traceId(QUuid::createUuid().toString(QUuid::WithoutBraces))
    , m_log(scoped(log, controller, item.key.object, m_traceId))
    , m_client(client)
    , m_deadline(deadline)
    , m_isStopping(isStopping)
{ }

QStringList ReconcileScope::causes() const
{
    QStringList texts;
    for (const workqueue::Cause &cause : m_causes)
        texts += workqueue::toString(cause);
    return texts;
}

} // namespace davit::controller
