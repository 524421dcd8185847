#include "cause.h"

namespace davit::workqueue {
namespace {

QString event(QLatin1StringView verb, const Cause &cause)
{
    return QStringLiteral("%1 %2 %3").arg(verb, cause.subject, davit::toString(cause.object));
}

} // namespace

QString toString(const Cause &cause)
{
    switch (cause.type) {
    case Cause::Type::Added:
        return event(QLatin1StringView("added"), cause);
    case Cause::Type::Updated:
        return event(QLatin1StringView("updated"), cause);
    case Cause::Type::Deleted:
        return event(QLatin1StringView("deleted"), cause);
    case Cause::Type::Retry:
        return QStringLiteral("retry %1").arg(cause.attempt);
    case Cause::Type::Requeued:
        return QStringLiteral("requeued");
    case Cause::Type::Other:
        return cause.subject;
    case Cause::Type::Unset:
        break;
    }
    return QString();
}

} // namespace davit::workqueue
