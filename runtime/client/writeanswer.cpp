#include "writeanswer.h"

#include <codec/listdecoder.h>

namespace davit::client {

using priv::OwnWrite;

namespace {

bool isOfKind(const Object &object, const QString &group, const QString &kind)
{
    const Gvk gvk = object.gvk();
    return gvk.group == group && gvk.kind == kind;
}

// With the last finalizer the object went; the answer still shows it, in its last version or the
// one before. A Namespace has finalizers in its spec.
bool hasGoneWithItsFinalizers(const Object &answer)
{
    const Value metadata = answer[QLatin1StringView("metadata")];
    const QLatin1StringView finalizers("finalizers");
    return answer.isBeingDeleted() && metadata[finalizers].size() == 0
        && answer[QLatin1StringView("spec")][finalizers].size() == 0
        && metadata[QLatin1StringView("deletionGracePeriodSeconds")].toInt() == 0;
}

OwnWrite ofAnswer(const Gvk &gvk, const Object &answer, OwnWrite::Outcome outcome)
{
    return {outcome, gvk, answer.key(), answer.resourceVersion(), answer.uid(), answer};
}

OwnWrite ofObject(const Gvk &gvk, const VerbCall &call, const Object &answer)
{
    // Some kinds are answered with what was there, and what waits for its finalizers is there.
    const bool isGone
        = call.verb == Verb::Delete ? !answer.isBeingDeleted() : hasGoneWithItsFinalizers(answer);
    return ofAnswer(gvk, answer, isGone ? OwnWrite::Outcome::Gone : OwnWrite::Outcome::Stands);
}

// The Status of a deletion names the uid, but no version.
OwnWrite ofDeletion(const Gvk &gvk, const VerbCall &call, const Object &status)
{
    const QString uid = status[QLatin1StringView("details")][QLatin1StringView("uid")].toString(
        call.options.preconditionUid());
    return {OwnWrite::Outcome::Gone, gvk, call.key, call.options.preconditionResourceVersion(), uid,
        {}};
}

// The items are as they were before: what is gone by now, and what waits for its finalizers, the
// answer does not tell.
std::vector<OwnWrite> ofCollection(const Gvk &gvk, const QByteArray &body)
{
    codec::ListDecoder decoder(gvk, {});
    std::vector<OwnWrite> writes;
    for (const Object &item : decoder.feed(body))
        writes.push_back(ofAnswer(gvk, item, OwnWrite::Outcome::GoneOrTerminating));
    return writes;
}

} // namespace

std::vector<OwnWrite> writesOf(
    const Gvk &gvk, const VerbCall &call, const Object &answer, const QByteArray &body)
{
    if (call.verb == Verb::Get || call.verb == Verb::List || call.options.isDryRun())
        return {};
    if (call.verb == Verb::DeleteCollection)
        return isOfKind(answer, gvk.group, gvk.kind + QStringLiteral("List"))
            ? ofCollection(gvk, body)
            : std::vector<OwnWrite>();
    if (isOfKind(answer, gvk.group, gvk.kind))
        return {ofObject(gvk, call, answer)};
    if (call.options.subresource() == u"scale" && answer.gvk().kind == u"Scale")
        return {
            {OwnWrite::Outcome::Stands, gvk, call.key, answer.resourceVersion(), answer.uid(), {}}};
    const bool isDeletion = call.verb == Verb::Delete && call.options.subresource().isEmpty();
    if (isDeletion && isOfKind(answer, QString(), QStringLiteral("Status")))
        return {ofDeletion(gvk, call, answer)};
    return {};
}

} // namespace davit::client
