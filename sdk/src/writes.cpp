#include <davit/finalizers.h>
#include <davit/objectbuilder.h>
#include <davit/writes.h>

#include <QtCore/qrandom.h>
#include <cmath>
#include <support/json.h>

DAVIT_BEGIN_NAMESPACE

namespace {

const QString kStatusName = QStringLiteral("status");

Object withoutStatus(const Object &object)
{
    return ObjectBuilder(object).remove({kStatusName}).build();
}

Object statusAlone(const Object &object)
{
    return ObjectBuilder().set({kStatusName}, object[QLatin1StringView("status")]).build();
}

QString nameOf(const Object &object)
{
    return toString(object.gvk()) + QLatin1Char(' ') + toString(object.key());
}

// One change of the finalizers, tried until no other writer came between.
template <typename Change>
Status changeFinalizers(const Client &client, Object *object, const Clock &clock,
    const RequestOptions &options, Change change)
{
    bool isStale = object->resourceVersion().isEmpty();
    const Gvk gvk = object->gvk();
    const ObjectKey key = object->key();
    return retryOnConflict(kDefaultRetry, clock, [&]() -> Status {
        if (isStale) {
            const Result<Object> seen
                = client.blocking().get(gvk, key, RequestOptions().timeout(options.timeout()));
            if (!seen.isOk())
                return seen.error();
            *object = seen.value();
        }
        isStale = true;
        Object after = *object;
        if (const Result<bool> isChanged = change(&after); !isChanged.isOk())
            return isChanged.error();
        else if (!isChanged.value())
            return Status::ok();
        const Result<Object> reply
            = client.blocking().patch(gvk, key, Patch::difference(*object, after, true), options);
        if (!reply.isOk())
            return reply.error();
        *object = reply.value();
        return Status::ok();
    });
}

} // namespace

std::chrono::nanoseconds waitAfterTry(const Backoff &backoff, int tries)
{
    const double base
        = double(backoff.first.count()) * std::pow(backoff.factor, std::max(0, tries - 1));
    const double drawn = QRandomGenerator::global()->generateDouble() * backoff.jitter;
    return std::chrono::nanoseconds(qint64(base * (1.0 + drawn)));
}

bool isEquivalent(const Object &a, const Object &b)
{
    if (a == b)
        return true;
    support::Json left;
    support::Json right;
    QString error;
    return support::parseJson(a.toJson(), &left, &error)
        && support::parseJson(b.toJson(), &right, &error) && support::isSameJson(left, right);
}

Status checkMutated(const Object &before, const Object &after)
{
    if (after.isNull())
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("%1: the mutate function gave a null object").arg(nameOf(before)));
    if (after.gvk() != before.gvk() || after.key() != before.key())
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("%1: the mutate function must not change kind, name or namespace; it "
                           "gave %2")
                .arg(nameOf(before), nameOf(after)));
    return Status::ok();
}

Patch mainDifference(const Object &before, const Object &after)
{
    return Patch::difference(withoutStatus(before), withoutStatus(after));
}

Patch statusDifference(const Object &before, const Object &after)
{
    return Patch::difference(statusAlone(before), statusAlone(after));
}

Status ensureFinalizer(const Client &client, Object *object, const QString &finalizer,
    const Clock &clock, const RequestOptions &options)
{
    return changeFinalizers(client, object, clock, options, [&](Object *after) -> Result<bool> {
        if (containsFinalizer(*after, finalizer))
            return false;
        if (!addFinalizer(after, finalizer))
            return Error(ErrorCode::Invalid,
                QStringLiteral("add finalizer %1 to %2: it is being deleted, no new finalizers now")
                    .arg(finalizer, nameOf(*after)));
        return true;
    });
}

Status releaseFinalizer(const Client &client, const Object &object, const QString &finalizer,
    const Clock &clock, const RequestOptions &options)
{
    Object known = object;
    const Status status = changeFinalizers(client, &known, clock, options,
        [&](Object *after) -> Result<bool> { return removeFinalizer(after, finalizer); });
    return isNotFound(status.error()) ? Status::ok() : status;
}

DAVIT_END_NAMESPACE
