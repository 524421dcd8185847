#include "remover.h"

#include "admission.h"

#include <algorithm>

namespace davit::testing::apiserver {
namespace {

constexpr const char *kForeground = "foregroundDeletion";

bool hasFinalizer(const Json &object, const char *name)
{
    const Json &list = support::itemsOf(object.at("metadata"), "finalizers");
    return std::find(list.begin(), list.end(), Json(name)) != list.end();
}

bool blocksOwner(const Json &object, const std::string &uid)
{
    for (const Json &owner : support::itemsOf(object.at("metadata"), "ownerReferences"))
        if (support::stringMember(owner, "uid") == uid
            && support::boolMember(owner, "blockOwnerDeletion", false))
            return true;
    return false;
}

} // namespace

bool Remover::isStorage(int storageId, const char *group, const char *plural) const
{
    return m_kinds.storageOf(group, plural) == storageId;
}

Remover::Outcome Remover::remove(const ObjectRef &ref, Propagation propagation)
{
    const Outcome outcome = begin(ref, propagation);
    settle();
    return outcome;
}

Remover::Outcome Remover::begin(const ObjectRef &ref, Propagation propagation)
{
    const RecordPtr record = m_store.find(ref.storageId, ref.key);
    if (!record)
        return {nullptr, true};
    const std::vector<ObjectRef> dependents
        = m_collectsGarbage ? m_store.dependentsOf(record->uid) : std::vector<ObjectRef>();
    if (propagation == Propagation::Orphan)
        for (const ObjectRef &dependent : dependents)
            dropOwners(dependent, {record->uid});
    Json object = record->tree();
    Json &metadata = object["metadata"];
    const bool waitsForDependents = propagation == Propagation::Foreground && !dependents.empty()
        && !hasFinalizer(object, kForeground);
    if (waitsForDependents)
        metadata["finalizers"].push_back(kForeground);
    const bool isNamespace = isStorage(ref.storageId, "", "namespaces");
    if (!isNamespace && support::itemsOf(metadata, "finalizers").empty())
        return {eraseNow(ref), true};
    RecordPtr last = record;
    if (!record->isDeleting) {
        metadata["deletionTimestamp"] = timestampNow();
        if (!isNamespace)
            metadata["deletionGracePeriodSeconds"] = 0;
        if (metadata.contains("generation"))
            metadata["generation"] = metadata["generation"].get<long long>() + 1;
        if (isNamespace)
            object["status"]["phase"] = "Terminating";
        tidyMetadata(object);
        last = m_store.put(*m_kinds.findByStorage(ref.storageId), std::move(object));
        if (isNamespace)
            m_namespaces.push_back(record->name);
    }
    if (waitsForDependents) {
        for (const ObjectRef &dependent : dependents)
            begin(dependent, Propagation::Foreground);
        releaseOwner(record->uid);
    }
    return {last, false};
}

void Remover::afterCreate(const ObjectRef &ref)
{
    const RecordPtr record = m_store.find(ref.storageId, ref.key);
    if (!m_collectsGarbage || !record || record->ownerUids.empty())
        return;
    const bool hasOwner = std::any_of(record->ownerUids.begin(), record->ownerUids.end(),
        [&](const std::string &uid) { return isOwnerAlive(*record, uid); });
    if (!hasOwner)
        remove(ref, Propagation::Background);
}

void Remover::finish(const ObjectRef &ref)
{
    const RecordPtr record = m_store.find(ref.storageId, ref.key);
    if (!record || !record->isDeleting)
        return;
    if (isStorage(ref.storageId, "", "namespaces"))
        finishNamespace(record->name);
    else
        eraseNow(ref);
    settle();
}

RecordPtr Remover::eraseNow(const ObjectRef &ref)
{
    if (isStorage(ref.storageId, "apiextensions.k8s.io", "customresourcedefinitions"))
        removeCustomResources(*m_store.find(ref.storageId, ref.key));
    const RecordPtr last = m_store.erase(ref.storageId, ref.key);
    m_erased.push_back(last);
    return last;
}

void Remover::settle()
{
    if (m_isSettling)
        return;
    m_isSettling = true;
    while (!m_erased.empty() || !m_namespaces.empty()) {
        if (!m_namespaces.empty()) {
            const std::string name = std::move(m_namespaces.front());
            m_namespaces.pop_front();
            drainNamespace(name);
            continue;
        }
        const RecordPtr record = std::move(m_erased.front());
        m_erased.pop_front();
        afterErase(*record);
    }
    m_isSettling = false;
}

void Remover::afterErase(const Record &record)
{
    if (m_collectsGarbage) {
        for (const ObjectRef &ref : m_store.dependentsOf(record.uid)) {
            const RecordPtr dependent = m_store.find(ref.storageId, ref.key);
            if (!dependent)
                continue;
            std::set<std::string> dangling;
            for (const std::string &uid : dependent->ownerUids)
                if (!isOwnerAlive(*dependent, uid))
                    dangling.insert(uid);
            if (dangling.size() == dependent->ownerUids.size())
                begin(ref, Propagation::Background);
            else
                dropOwners(ref, dangling);
        }
        for (const std::string &owner : record.ownerUids)
            releaseOwner(owner);
    }
    if (!record.namespaceName.empty())
        finishNamespace(record.namespaceName);
}

// A foreground deletion ends when no dependent blocks it any more.
void Remover::releaseOwner(const std::string &uid)
{
    const ObjectRef *const owner = m_store.findUid(uid);
    if (!owner)
        return;
    const RecordPtr record = m_store.find(owner->storageId, owner->key);
    if (!record->isDeleting || !hasFinalizer(record->tree(), kForeground))
        return;
    for (const ObjectRef &ref : m_store.dependentsOf(uid))
        if (blocksOwner(m_store.find(ref.storageId, ref.key)->tree(), uid))
            return;
    dropFinalizer(ObjectRef(*owner), kForeground);
}

void Remover::drainNamespace(const std::string &name)
{
    for (const ObjectRef &ref : m_store.contentOf(name))
        begin(ref, Propagation::Background);
    finishNamespace(name);
}

void Remover::finishNamespace(const std::string &name)
{
    const ObjectRef ref{m_kinds.storageOf("", "namespaces"), name};
    const RecordPtr record = m_store.find(ref.storageId, ref.key);
    if (!record || !record->isDeleting || !m_store.contentOf(name).empty())
        return;
    if (support::itemsOf(record->tree().at("metadata"), "finalizers").empty())
        eraseNow(ref);
}

// Their finalizers do not hold them: nobody could remove these once the kind is gone.
void Remover::removeCustomResources(const Record &crd)
{
    const Json object = crd.tree();
    const Json &spec = support::membersOf(object, "spec");
    const std::string group = support::stringMember(spec, "group");
    const std::string plural = support::stringMember(support::membersOf(spec, "names"), "plural");
    const int storageId = m_kinds.storageOf(group, plural);
    const ObjectMap objects = m_store.objects(storageId);
    for (const auto &[key, record] : objects)
        m_erased.push_back(m_store.erase(storageId, key));
    m_kinds.unregister(group, plural);
}

// An owner counts in the dependent's own namespace, or when it has none.
bool Remover::isOwnerAlive(const Record &dependent, const std::string &uid) const
{
    const ObjectRef *const owner = m_store.findUid(uid);
    if (!owner)
        return false;
    const RecordPtr record = m_store.find(owner->storageId, owner->key);
    return record->namespaceName.empty() || record->namespaceName == dependent.namespaceName;
}

void Remover::dropOwners(const ObjectRef &ref, const std::set<std::string> &uids)
{
    const RecordPtr record = m_store.find(ref.storageId, ref.key);
    const Kind *const kind = m_kinds.findByStorage(ref.storageId);
    if (!record || !kind)
        return;
    Json object = record->tree();
    Json &owners = object["metadata"]["ownerReferences"];
    owners.erase(std::remove_if(owners.begin(), owners.end(),
                     [&](const Json &owner) {
                         return uids.count(support::stringMember(owner, "uid")) != 0;
                     }),
        owners.end());
    tidyMetadata(object);
    m_store.put(*kind, std::move(object));
}

void Remover::dropFinalizer(const ObjectRef &ref, const std::string &finalizer)
{
    Json object = m_store.find(ref.storageId, ref.key)->tree();
    Json &list = object["metadata"]["finalizers"];
    list.erase(std::remove(list.begin(), list.end(), Json(finalizer)), list.end());
    if (list.empty()) {
        eraseNow(ref);
        return;
    }
    tidyMetadata(object);
    m_store.put(*m_kinds.findByStorage(ref.storageId), std::move(object));
}

} // namespace davit::testing::apiserver
