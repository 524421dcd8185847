#include "replicatereconciler.h"

#include "claims.h"
#include "provenance.h"

#include <algorithm>

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
    davit::Client client;
    davit::Logger log;
    Claims claims{}; // of every source of the key's name
    Object source{}; // null when there is none, or it is none any more
    QByteArray digest{};
    Error firstError{};
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

struct ReplicateReconciler::Target
{
    ObjectKey key;
    QString namespaceUid;
};

namespace {

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
    Pass pass{request.key(), m_objects.gvk(), context.client(), context.log()};
    const QList<Object> sources = m_objects.byIndex(kSourcesByName, pass.key.name);
    pass.claims = Claims(sources, m_denied);
    for (const Object &source : sources)
        if (source.key() == pass.key)
            pass.source = source;
    if (!pass.source.isNull()) {
        pass.digest = contentDigest(pass.source);
        warnOfSource(pass);
    }
    const QList<Target> wanted = targets(pass);
    QSet<QString> homes;
    for (const Target &target : wanted)
        homes.insert(target.namespaceUid);
    m_pace.keepOnly(pass.key, homes);
    removeOrphans(pass, context);
    for (const Target &target : wanted) {
        if (context.isStopping())
            break;
        ensureCopy(pass, target);
    }
    if (pass.firstError.isError())
        return ReconcileResult::failed(pass.firstError);
    return pass.again > 0ms ? ReconcileResult::requeueAfter(pass.again) : ReconcileResult::done();
}

void ReplicateReconciler::warnOfSource(const Pass &pass) const
{
    const NamespacePatterns wanted
        = NamespacePatterns::fromText(pass.source.annotation(kToNamespaces));
    QStringList refused = wanted.names();
    refused.removeIf([this](const QString &name) { return !m_denied.matches(name); });
    if (!refused.isEmpty()) // what a glob meets by the way was not asked for by name
        warn(pass, "NamespaceDenied",
            u"deniedNamespaces of the configuration refuses %1; no copy is made there"_s.arg(
                firstFew(refused)));
    const QStringList bad = wanted.malformed();
    if (!bad.isEmpty())
        warn(pass, "PatternMalformed",
            u"%1 can match no namespace: %2; use names and globs of %3"_s.arg(
                kToNamespaces, firstFew(bad), kPatternLetters));
    if (!isCopyable(pass.source))
        warn(pass, "SourceNotCopied",
            u"a service account's token works in its own namespace alone"_s);
}

QList<ReplicateReconciler::Target> ReplicateReconciler::targets(const Pass &pass) const
{
    QList<Target> wanted;
    if (pass.source.isNull())
        return wanted;
    for (const Object &home : m_namespaces.list())
        if (!home.isBeingDeleted() && pass.claims.isWantedBy(pass.key, home.name()))
            wanted.append({{home.name(), pass.key.name}, home.uid()});
    std::sort(wanted.begin(), wanted.end(),
        [](const Target &a, const Target &b) { return a.key.namespaceName < b.key.namespaceName; });
    return wanted;
}

void ReplicateReconciler::removeOrphans(Pass &pass, const davit::ReconcileContext &context)
{
    for (const Object &copy : m_objects.byIndex(kCopiesByName, pass.key.name)) {
        if (context.isStopping())
            break;
        const QString namespaceName = copy.namespaceName();
        if (copy.isBeingDeleted() || pass.claims.isWanted(namespaceName))
            continue;
        const Object home = m_namespaces.find({{}, namespaceName});
        if (home.isNull())
            pass.comeBack(1s); // the list of namespaces lags behind, or both go
        else if (!home.isBeingDeleted())
            removeOrphan(pass, copy);
    }
}

void ReplicateReconciler::removeOrphan(Pass &pass, const Object &copy)
{
    const Error fault = remove(pass, copy);
    if (!fault.isError()) {
        m_removed.increment();
        pass.log.info("removed a copy", {{"to", toString(copy.key())}});
    } else if (fault.code() != ErrorCode::NotFound) {
        pass.take(fault);
    }
}

void ReplicateReconciler::ensureCopy(Pass &pass, const Target &target)
{
    Object existing = m_objects.find(target.key);
    Object winner = pass.claims.winner(target.key.namespaceName, existing);
    if (existing.isNull() && winner.key() == pass.key) {
        if (mustWait(pass, target))
            return;
        const Error error = create(pass, target);
        if (error.code() != ErrorCode::AlreadyExists)
            return;
        // The cache has not seen it yet.
        const Result<Object> live = pass.client.blocking().get(pass.gvk, target.key);
        if (!live.isOk())
            return pass.take(live.error());
        existing = live.value();
        winner = pass.claims.winner(target.key.namespaceName, existing);
    }
    if (!existing.isNull() && !isCopy(existing) && !hasUidOf(pass.source, existing))
        return warn(pass, "TargetNotOurs",
            u"%1 exists and is no copy of ours; it is left alone: delete it to get a copy"_s.arg(
                toString(target.key)));
    if (winner.key() != pass.key)
        return warn(pass, "TargetClaimedTwice",
            u"%1 is the copy of %2; rename this %3, or take the namespace from its annotation"_s
                .arg(toString(target.key), toString(winner.key()), pass.gvk.kind));
    // What is being deleted queues this key again when it is gone.
    if (!existing.isBeingDeleted() && !isEqualCopy(pass.source, existing))
        write(pass, target, existing);
}

bool ReplicateReconciler::mustWait(Pass &pass, const Target &target) const
{
    const auto wait = m_pace.remaining(pass.key, target.namespaceUid, pass.digest);
    if (wait > 0ms)
        pass.comeBack(wait);
    return wait > 0ms;
}

void ReplicateReconciler::write(Pass &pass, const Target &target, const Object &existing)
{
    if (mustWait(pass, target))
        return;
    if (!isChangeable(pass.source, existing))
        return replace(pass, target, existing);
    const Object desired = copyFor(pass.source, target.key.namespaceName, existing);
    const Result<Object> reply = pass.client.blocking().patch(
        pass.gvk, target.key, Patch::difference(existing, desired, true));
    if (!reply.isOk()) {
        if (!isNamespaceEnding(reply.error()))
            pass.take(reply.error());
        return;
    }
    wrote(pass, target, "updated a copy");
}

void ReplicateReconciler::wrote(const Pass &pass, const Target &target, const char *message)
{
    m_written.increment();
    if (m_pace.isKnown(pass.key, target.namespaceUid, pass.digest))
        message = "restored a copy"; // the source did not change, the copy did
    const auto next = m_pace.written(pass.key, target.namespaceUid, pass.digest);
    pass.log.info(message, {{"to", toString(target.key)}});
    if (next >= 4s)
        warn(pass, "CopyKeepsChanging",
            u"someone keeps changing or deleting %1; the next restoration waits %2 s"_s
                .arg(toString(target.key))
                .arg(next.count() / 1000));
}

Error ReplicateReconciler::create(Pass &pass, const Target &target)
{
    const Object copy = copyFor(pass.source, target.key.namespaceName, Object());
    const Result<Object> reply = pass.client.blocking().create(copy);
    if (reply.isOk()) {
        wrote(pass, target, "copied");
        return {};
    }
    const Error error = reply.error();
    if (error.code() == ErrorCode::AlreadyExists)
        return error;
    if (isNamespaceEnding(error)) {
        pass.comeBack(1s); // the list of namespaces lags behind, or the server's own does
        return error;
    }
    if (!error.isRetryable())
        warn(pass, "CopyFailed", u"%1: %2"_s.arg(toString(target.key), error.message()));
    pass.take(error);
    return error;
}

// Its type, or that it is immutable, forbids the change: a new one takes its place.
void ReplicateReconciler::replace(Pass &pass, const Target &target, const Object &existing)
{
    const Error fault = remove(pass, existing);
    if (fault.isError() && fault.code() != ErrorCode::NotFound)
        return pass.take(fault);
    pass.log.info("replaces a copy that cannot be changed", {{"to", toString(target.key)}});
    if (create(pass, target).code() == ErrorCode::AlreadyExists)
        pass.comeBack(1s); // finalizers hold the old one
}

// Only as the cache has it: a copy that was made someone's own meanwhile stays.
Error ReplicateReconciler::remove(Pass &pass, const Object &copy)
{
    const Result<Object> reply = pass.client.blocking().remove(pass.gvk, copy.key(),
        RequestOptions()
            .preconditionUid(copy.uid())
            .preconditionResourceVersion(copy.resourceVersion()));
    return reply.isOk() ? Error() : reply.error();
}

void ReplicateReconciler::warn(const Pass &pass, const char *reason, const QString &note) const
{
    m_events.record(pass.source, EventSeverity::Warning, QLatin1StringView(reason), note);
}

} // namespace replicator
