#include "replicatereconciler.h"

#include "provenance.h"

namespace replicator {

using davit::Error;
using davit::ErrorCode;
using davit::EventSeverity;
using davit::Object;
using davit::ObjectKey;
using davit::Patch;
using davit::ReconcileResult;
using davit::RequestOptions;
using davit::Result;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

// One reconcile: what it works on, and what came of it.
struct ReplicateReconciler::Pass
{
    ObjectKey key;
    davit::Gvk gvk;
    Object source; // null when there is none, or it is none any more
    davit::Client client;
    davit::Logger log;
    QByteArray digest;
    Error firstError;
    std::chrono::milliseconds again{0}; // come back after; 0: only when something changes

    void comeBack(std::chrono::milliseconds delay)
    {
        again = again == 0ms ? delay : std::min(again, delay);
    }
    // Sorts an answer into done, come back soon, and failed.
    void take(const Error &error)
    {
        if (error.code() == ErrorCode::Conflict)
            comeBack(100ms); // the cache lags behind; its news queues the key as well
        else if (error.isError() && !firstError.isError())
            firstError = error;
    }
};

namespace {

bool isOlder(const Object &a, const Object &b)
{
    const QString first = a["metadata"_L1]["creationTimestamp"_L1].toString();
    const QString second = b["metadata"_L1]["creationTimestamp"_L1].toString();
    return first != second ? first < second : toString(a.key()) < toString(b.key());
}

// A namespace that ends takes no new objects; what it holds goes with it.
bool isNamespaceEnding(const Error &error)
{
    return error.code() == ErrorCode::NotFound
        || (error.code() == ErrorCode::Forbidden
            && (error.message().contains("being terminated"_L1)
                || error.statusJson().contains("NamespaceTerminating")));
}

} // namespace

ReplicateReconciler::ReplicateReconciler(davit::HostContext &host, const davit::Lister &objects,
    const davit::Lister &namespaces, const NamespacePatterns &denied)
    : m_objects(objects)
    , m_namespaces(namespaces)
    , m_denied(denied)
    , m_events(host.events())
    , m_written(host.metrics().counter(u"replicator_copies_written_total"_s,
          u"Copies created, restored or brought up to date"_s, {{u"kind"_s, objects.gvk().kind}}))
    , m_removed(host.metrics().counter(u"replicator_copies_removed_total"_s,
          u"Copies removed because their source or its wish went"_s,
          {{u"kind"_s, objects.gvk().kind}}))
    , m_pace(host.clock())
{ }

ReconcileResult ReplicateReconciler::reconcile(
    const davit::ReconcileRequest &request, davit::ReconcileContext &context)
{
    // Without both lists a copy that belongs somewhere would look like an orphan.
    if (!m_objects.hasSynced() || !m_namespaces.hasSynced())
        return ReconcileResult::requeueAfter(200ms);
    Pass pass{request.key(), m_objects.gvk(), m_objects.find(request.key()), context.client(),
        context.log(), {}, {}, {}};
    if (!pass.source.isNull() && !isSource(pass.source))
        pass.source = Object();
    QStringList wanted;
    if (!pass.source.isNull()) {
        pass.digest = contentDigest(pass.source);
        wanted = wantedNamespaces(pass.source);
        const QStringList bad
            = NamespacePatterns::fromText(pass.source.annotation(kToNamespaces)).malformed();
        if (!bad.isEmpty())
            warn(pass, "PatternMalformed",
                u"%1 can match no namespace: %2"_s.arg(kToNamespaces, bad.join(", "_L1)));
        if (pass.source["type"_L1].equals("kubernetes.io/service-account-token"_L1)) {
            warn(pass, "SourceNotCopied",
                u"a service account's token works in its own namespace alone"_s);
            wanted.clear();
        }
    }
    removeOrphans(pass, wanted);
    for (const QString &namespaceName : std::as_const(wanted)) {
        if (context.isStopping())
            break;
        ensureCopy(pass, namespaceName);
    }
    if (pass.firstError.isError())
        return ReconcileResult::failed(pass.firstError);
    return pass.again > 0ms ? ReconcileResult::requeueAfter(pass.again) : ReconcileResult::done();
}

bool ReplicateReconciler::claims(const Object &source, const QString &namespaceName) const
{
    return namespaceName != source.namespaceName() && !m_denied.matches(namespaceName)
        && NamespacePatterns::fromText(source.annotation(kToNamespaces)).matches(namespaceName);
}

QStringList ReplicateReconciler::wantedNamespaces(const Object &source) const
{
    QStringList wanted;
    for (const Object &candidate : m_namespaces.list())
        if (!candidate.isBeingDeleted() && claims(source, candidate.name()))
            wanted << candidate.name();
    wanted.sort();
    return wanted;
}

void ReplicateReconciler::removeOrphans(Pass &pass, const QStringList &wanted)
{
    for (const Object &copy :
        m_objects.byIndex(QLatin1StringView(kCopiesBySource), toString(pass.key))) {
        const QString namespaceName = copy.namespaceName();
        const bool hasItsName = copy.name() == pass.key.name;
        if ((hasItsName && wanted.contains(namespaceName)) || copy.isBeingDeleted())
            continue;
        const Object home = m_namespaces.find({{}, namespaceName});
        if (home.isNull()) {
            pass.comeBack(1s); // the list of namespaces lags behind, or both go
            continue;
        }
        if (home.isBeingDeleted())
            continue;
        const Result<Object> reply = pass.client.blocking().remove(pass.gvk, copy.key(),
            RequestOptions()
                .preconditionUid(copy.uid())
                .preconditionResourceVersion(copy.resourceVersion()));
        m_pace.forget(copy.key());
        if (reply.isOk()) {
            m_removed.increment();
            pass.log.info("removed a copy", {{"to", toString(copy.key())}});
        } else if (reply.error().code() != ErrorCode::NotFound) {
            pass.take(reply.error());
        }
    }
}

// True when another source has, or gets, this target; the Warning Event says so.
bool ReplicateReconciler::isForAnother(
    const Object &source, const QString &namespaceName, const Object &existing) const
{
    for (const Object &rival :
        m_objects.byIndex(QLatin1StringView(kSourcesByName), source.name())) {
        if (rival.key() == source.key() || !claims(rival, namespaceName))
            continue;
        const bool isTaken = existing.isNull() ? isOlder(rival, source)
                                               : sourceOf(existing) == toString(rival.key());
        if (isTaken)
            return true;
    }
    return false;
}

void ReplicateReconciler::ensureCopy(Pass &pass, const QString &namespaceName)
{
    const ObjectKey target{namespaceName, pass.key.name};
    Object existing = m_objects.find(target);
    if (existing.isNull() && !isForAnother(pass.source, namespaceName, existing)) {
        if (const auto wait = m_pace.remaining(target, pass.digest); wait > 0ms)
            return pass.comeBack(wait);
        const Error error = create(pass, namespaceName);
        if (error.code() != ErrorCode::AlreadyExists)
            return;
        // The cache has not seen it yet.
        const Result<Object> live = pass.client.blocking().get(pass.gvk, target);
        if (!live.isOk())
            return pass.take(live.error());
        existing = live.value();
    }
    if (!existing.isNull() && !isCopy(existing))
        return warn(pass, "TargetNotOurs",
            u"%1 exists and is no copy of ours; it is left alone"_s.arg(toString(target)));
    if (isForAnother(pass.source, namespaceName, existing))
        return warn(pass, "TargetClaimedTwice",
            u"another %1 named %2 was copied to namespace %3 first"_s.arg(
                pass.gvk.kind, pass.key.name, namespaceName));
    if (existing.isBeingDeleted() || sourceOf(existing) != toString(pass.key))
        return; // an orphan of a source that is gone; its removal queues this key again
    if (!isEqualCopy(pass.source, existing))
        write(pass, namespaceName, existing);
}

void ReplicateReconciler::write(Pass &pass, const QString &namespaceName, const Object &existing)
{
    const ObjectKey target = existing.key();
    if (const auto wait = m_pace.remaining(target, pass.digest); wait > 0ms)
        return pass.comeBack(wait);
    if (!isChangeable(pass.source, existing))
        return pass.take(replace(pass, namespaceName, existing));
    const Object desired = copyFor(pass.source, namespaceName, existing);
    const Result<Object> reply = pass.client.blocking().patch(
        pass.gvk, target, Patch::difference(existing, desired, true));
    if (!reply.isOk()) {
        if (!isNamespaceEnding(reply.error()))
            pass.take(reply.error());
        return;
    }
    m_written.increment();
    const auto next = m_pace.written(target, pass.digest);
    pass.log.info("put a copy right", {{"to", toString(target)}});
    if (next >= 4s)
        warn(pass, "CopyKeepsChanging",
            u"someone keeps changing %1; the next restoration waits %2 s"_s.arg(toString(target))
                .arg(next.count() / 1000));
}

Error ReplicateReconciler::create(Pass &pass, const QString &namespaceName)
{
    const Object copy = copyFor(pass.source, namespaceName, Object());
    const Result<Object> reply = pass.client.blocking().create(copy);
    if (reply.isOk()) {
        m_written.increment();
        m_pace.written(copy.key(), pass.digest);
        pass.log.info("copied", {{"to", toString(copy.key())}});
        return {};
    }
    const Error error = reply.error();
    if (error.code() == ErrorCode::AlreadyExists || isNamespaceEnding(error))
        return error;
    if (!error.isRetryable())
        warn(pass, "CopyFailed", u"%1: %2"_s.arg(toString(copy.key()), error.message()));
    pass.take(error);
    return error;
}

// Its type, or that it is immutable, forbids the change: a new one takes its place.
Error ReplicateReconciler::replace(Pass &pass, const QString &namespaceName, const Object &existing)
{
    const Result<Object> gone = pass.client.blocking().remove(
        pass.gvk, existing.key(), RequestOptions().preconditionUid(existing.uid()));
    if (!gone.isOk() && gone.error().code() != ErrorCode::NotFound)
        return gone.error();
    pass.log.info("replaces a copy that cannot be changed", {{"to", toString(existing.key())}});
    const Error error = create(pass, namespaceName);
    if (error.code() == ErrorCode::AlreadyExists)
        pass.comeBack(1s); // finalizers hold the old one
    return {};
}

void ReplicateReconciler::warn(const Pass &pass, const char *reason, const QString &note) const
{
    m_events.record(pass.source, EventSeverity::Warning, QLatin1StringView(reason), note);
}

} // namespace replicator
