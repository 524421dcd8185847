#include "ownwrites.h"

#include "resourceversion.h"

#include <davit/priv/poolaccess.h>

#include <algorithm>

namespace davit::cache {

using Outcome = priv::OwnWrite::Outcome;

namespace {

constexpr QLatin1StringView kAllNamespaces("*"); // no namespace's name

// Only metadata is kept: fields of a spec are not judged.
bool isBeyond(const ViewFilter &watched, const Object &object)
{
    return !object.isNull() && watched.scope().selectsByMetadata() && !watched.passes(object);
}

QString nameOf(const Gvk &gvk)
{
    return gvk.group + u'/' + gvk.kind;
}

// `earlier` is null for a new key.
KeyWrites withWrite(const KeyWrites *earlier, const priv::OwnWrite &write)
{
    KeyWrites writes = earlier ? *earlier : KeyWrites{write.key, {}, Outcome::Stands, {}};
    // Answers may overtake each other: what ended does not stand again under its uid.
    const bool isLate = write.outcome == Outcome::Stands && writes.outcome != Outcome::Stands
        && !write.uid.isEmpty() && write.uid == writes.uid;
    if (!isLate) {
        writes.outcome = write.outcome;
        writes.uid = write.outcome == Outcome::Stands ? QString() : write.uid;
    }
    if (write.resourceVersion.isEmpty())
        return writes;
    std::vector<KeyWrites::State> &states = writes.states;
    if (states.empty() || states.back().version != write.resourceVersion)
        states.push_back({write.resourceVersion, {}});
    if (!write.object.isNull())
        states.back().object = write.object;
    if (states.size() > OwnWrites::kMaxStates)
        states.erase(states.begin());
    return writes;
}

} // namespace

bool KeyWrites::isShown(const StoreSnapshot &store, const ViewFilter &watched) const
{
    const auto isReached
        = [&](const State &state) { return hasReached(store.resourceVersion, state.version); };
    const bool stands = outcome == Outcome::Stands;
    if (stands && std::all_of(states.begin(), states.end(), isReached))
        return true;
    const Object stored = store.objects.find(key);
    const auto hasCome = [&](const State &state) {
        if (isReached(state))
            return true;
        return stored.isNull() ? isBeyond(watched, state.object)
                               : hasReached(stored.resourceVersion(), state.version);
    };
    if (!std::all_of(states.begin(), states.end(), hasCome))
        return false;
    if (stands || stored.isNull())
        return true;
    const QString storedUid = stored.uid();
    return (!uid.isEmpty() && !storedUid.isEmpty() && uid != storedUid)
        || (outcome == Outcome::GoneOrTerminating && stored.isBeingDeleted());
}

QString KeyWrites::toText() const
{
    return outcome == Outcome::Stands
        ? QStringLiteral("write of %1 at version %2").arg(toString(key), states.back().version)
        : QStringLiteral("deletion of %1").arg(toString(key));
}

void OwnWrites::note(const priv::OwnWrite &write)
{
    if (write.outcome == Outcome::Unset
        || (write.outcome == Outcome::Stands && write.resourceVersion.isEmpty()))
        return; // nothing that could be waited for
    priv::OwnWrite kept = write;
    if (!kept.object.isNull()) // no payload: a Secret's stays with whoever asked for it
        kept.object = priv::metadataOnly(write.object);
    const std::lock_guard lock(m_mutex);
    Kind &kind = m_kinds[nameOf(write.gvk)];
    const auto known = kind.byKey.constFind(write.key);
    const bool isKnown = known != kind.byKey.constEnd();
    auto writes
        = std::make_shared<const KeyWrites>(withWrite(isKnown ? (*known)->get() : nullptr, kept));
    if (isKnown)
        kind.writes.erase(*known);
    kind.byKey.insert(write.key, kind.writes.insert(kind.writes.end(), std::move(writes)));
    if (kind.byKey.size() > kMaxKeys)
        forgetOldest(&kind);
}

void OwnWrites::forgetOldest(Kind *kind)
{
    const std::shared_ptr<const KeyWrites> oldest = kind->writes.front();
    kind->writes.pop_front();
    kind->byKey.remove(oldest->key);
    if (oldest->states.empty())
        return;
    if (kind->floors.size() >= kMaxFloors && !kind->floors.contains(oldest->key.namespaceName))
        foldFloors(kind);
    const bool isFolded = kind->floors.contains(kAllNamespaces);
    QString &floor = kind->floors[isFolded ? QString(kAllNamespaces) : oldest->key.namespaceName];
    if (!hasReached(floor, oldest->states.back().version))
        floor = oldest->states.back().version;
}

// One version for all namespaces: stricter, and bounded.
void OwnWrites::foldFloors(Kind *kind)
{
    QString newest;
    for (const QString &floor : std::as_const(kind->floors)) {
        if (!hasReached(newest, floor))
            newest = floor;
    }
    kind->floors = {{kAllNamespaces, newest}};
}

OwnWrites::Noted OwnWrites::of(const WatchScope &scope) const
{
    const auto isConcerned = [&](const QString &namespaceName) {
        return scope.namespaceName.isEmpty() || scope.namespaceName == namespaceName
            || namespaceName == kAllNamespaces;
    };
    Noted noted;
    const std::lock_guard lock(m_mutex);
    const auto kind = m_kinds.constFind(nameOf(scope.gvk));
    if (kind == m_kinds.constEnd())
        return noted;
    for (const std::shared_ptr<const KeyWrites> &writes : kind->writes) {
        if (isConcerned(writes->key.namespaceName))
            noted.writes.push_back(writes);
    }
    for (auto floor = kind->floors.begin(); floor != kind->floors.end(); ++floor) {
        if (isConcerned(floor.key()) && !hasReached(noted.floor, floor.value()))
            noted.floor = floor.value();
    }
    return noted;
}

} // namespace davit::cache
