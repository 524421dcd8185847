#include "apistore.h"

#include "eventviews.h"

#include <algorithm>

namespace davit::testing::apiserver {
namespace {

// Field labels beside metadata.name and metadata.namespace, by kind.
const std::multimap<std::string, std::string> &extraFields()
{
    static const std::multimap<std::string, std::string> fields{{"Pod", "spec.nodeName"},
        {"Pod", "spec.restartPolicy"}, {"Pod", "spec.schedulerName"},
        {"Pod", "spec.serviceAccountName"}, {"Pod", "status.phase"}, {"Pod", "status.podIP"},
        {"Secret", "type"}, {"Namespace", "status.phase"}, {"Node", "spec.unschedulable"},
        {"ReplicaSet", "status.replicas"}, {"Job", "status.successful"}};
    return fields;
}

std::string fieldText(const Json &object, const std::string &dotted)
{
    const Json *at = &object;
    std::size_t start = 0;
    while (start <= dotted.size()) {
        const std::size_t dot = std::min(dotted.find('.', start), dotted.size());
        const auto member
            = at->is_object() ? at->find(dotted.substr(start, dot - start)) : at->end();
        if (!at->is_object() || member == at->end())
            return {};
        at = &*member;
        start = dot + 1;
    }
    return at->is_string() ? at->get<std::string>() : at->dump();
}

Labels labelsOf(const Json &metadata)
{
    Labels labels;
    for (const auto &[name, value] : support::membersOf(metadata, "labels").items())
        if (value.is_string())
            labels[name] = value.get<std::string>();
    return labels;
}

std::size_t bytesOf(const Record &record)
{
    constexpr std::size_t kNode = 64; // of a map, beside its two strings
    std::size_t bytes = sizeof(Record) + record.text.capacity();
    for (const Labels *map : {&record.labels, &record.fields})
        for (const auto &[name, value] : *map)
            bytes += kNode + 2 * sizeof(std::string) + name.capacity() + value.capacity();
    return bytes;
}

std::size_t bytesOf(const Change &change)
{
    return sizeof(Change) + change.now->bytes + (change.before ? change.before->bytes : 0);
}

} // namespace

RecordPtr ApiStore::find(int storageId, const std::string &key) const
{
    const ObjectMap &map = objects(storageId);
    const auto found = map.find(key);
    return found != map.end() ? found->second : nullptr;
}

const ObjectMap &ApiStore::objects(int storageId) const
{
    static const ObjectMap none;
    const auto found = m_objects.find(storageId);
    return found != m_objects.end() ? found->second : none;
}

void ApiStore::restore(const Backup &backup)
{
    m_objects = backup.objects;
    m_lastVersion = backup.lastVersion;
    m_history.clear();
    m_byUid.clear();
    m_byOwner.clear();
    for (const auto &[storageId, objects] : m_objects)
        for (const auto &[key, record] : objects)
            index(storageId, *record);
}

bool ApiStore::snapshot(int storageId, Version version, ObjectMap *result) const
{
    if (version < forgottenVersion())
        return false;
    *result = objects(storageId);
    for (Version at = m_lastVersion; at > version; --at) {
        const Change &change = changeAt(at);
        if (change.storageId != storageId)
            continue;
        if (change.before)
            (*result)[change.now->key()] = change.before;
        else
            result->erase(change.now->key());
    }
    return true;
}

const Change &ApiStore::changeAt(Version version) const
{
    return m_history[std::size_t(version - forgottenVersion() - 1)];
}

RecordPtr ApiStore::put(const Kind &kind, Json object)
{
    object.erase("apiVersion");
    object.erase("kind");
    if (isEvent(kind))
        object = storedEvent(kind, object);
    Json &metadata = object["metadata"];
    auto record = std::make_shared<Record>();
    record->version = m_lastVersion + 1;
    metadata["resourceVersion"] = std::to_string(record->version);
    record->namespaceName = support::stringMember(metadata, "namespace");
    record->name = support::stringMember(metadata, "name");
    record->uid = support::stringMember(metadata, "uid");
    record->labels = labelsOf(metadata);
    record->isDeleting = metadata.contains("deletionTimestamp");
    for (const Json &owner : support::itemsOf(metadata, "ownerReferences"))
        record->ownerUids.push_back(support::stringMember(owner, "uid"));
    if (isEvent(kind))
        record->fields = eventFields(object);
    else
        for (const std::string &field : knownFieldsOf(kind))
            record->fields[field] = fieldText(object, field);
    record->text = support::toStdString(support::dumpJson(object));
    record->bytes = bytesOf(*record);

    RecordPtr &slot = m_objects[kind.storageId][record->key()];
    RecordPtr before = std::move(slot);
    if (before)
        unindex(kind.storageId, *before);
    slot = record;
    index(kind.storageId, *record);
    const ChangeType type = before ? ChangeType::Modified : ChangeType::Added;
    remember({type, kind.storageId, record, std::move(before)});
    return record;
}

RecordPtr ApiStore::erase(int storageId, const std::string &key)
{
    const RecordPtr before = find(storageId, key);
    if (!before)
        return nullptr;
    auto last = std::make_shared<Record>(*before);
    last->version = m_lastVersion + 1;
    Json object = before->tree();
    object["metadata"]["resourceVersion"] = std::to_string(last->version);
    last->text = support::toStdString(support::dumpJson(object));
    last->bytes = bytesOf(*last);
    unindex(storageId, *before);
    m_objects[storageId].erase(key);
    remember({ChangeType::Deleted, storageId, last, before});
    return last;
}

void ApiStore::remember(Change change)
{
    ++m_lastVersion;
    m_historyBytes += bytesOf(change);
    m_history.push_back(std::move(change));
    while (m_history.size() > m_limits.items
        || (m_history.size() > 1 && m_historyBytes > m_limits.bytes))
        forgetOldest();
    m_changed.notify_all();
}

void ApiStore::forgetOldest()
{
    m_historyBytes -= bytesOf(m_history.front());
    m_history.pop_front();
}

void ApiStore::forgetHistory()
{
    m_history.clear();
    m_historyBytes = 0;
}

void ApiStore::index(int storageId, const Record &record)
{
    const ObjectRef ref{storageId, record.key()};
    m_byUid.insert_or_assign(record.uid, ref);
    for (const std::string &owner : record.ownerUids)
        m_byOwner[owner].insert(ref);
}

void ApiStore::unindex(int storageId, const Record &record)
{
    m_byUid.erase(record.uid);
    for (const std::string &owner : record.ownerUids) {
        const auto found = m_byOwner.find(owner);
        if (found == m_byOwner.end())
            continue;
        found->second.erase({storageId, record.key()});
        if (found->second.empty())
            m_byOwner.erase(found);
    }
}

const ObjectRef *ApiStore::findUid(const std::string &uid) const
{
    const auto found = m_byUid.find(uid);
    return found != m_byUid.end() ? &found->second : nullptr;
}

std::vector<ObjectRef> ApiStore::dependentsOf(const std::string &uid) const
{
    const auto found = m_byOwner.find(uid);
    if (found == m_byOwner.end())
        return {};
    return {found->second.begin(), found->second.end()};
}

std::vector<ObjectRef> ApiStore::contentOf(const std::string &namespaceName) const
{
    std::vector<ObjectRef> refs;
    const std::string prefix = namespaceName + "/";
    for (const auto &[storageId, map] : m_objects)
        for (auto at = map.lower_bound(prefix);
             at != map.end() && at->first.compare(0, prefix.size(), prefix) == 0; ++at)
            refs.push_back({storageId, at->first});
    return refs;
}

Json itemTree(const Kind &kind, const Record &record)
{
    return isEvent(kind) ? servedEvent(kind, record.tree()) : record.tree();
}

std::string itemText(const Kind &kind, const Record &record)
{
    return isEvent(kind) ? support::toStdString(support::dumpJson(itemTree(kind, record)))
                         : record.text;
}

std::string servedText(const Kind &kind, const Record &record)
{
    const std::string head = kind.isBuiltIn
        ? "{\"kind\":\"" + kind.kind + "\",\"apiVersion\":\"" + kind.apiVersion() + "\","
        : "{\"apiVersion\":\"" + kind.apiVersion() + "\",\"kind\":\"" + kind.kind + "\",";
    return head + itemText(kind, record).substr(1);
}

std::vector<std::string> knownFieldsOf(const Kind &kind)
{
    if (isEvent(kind))
        return eventFieldNames(kind);
    std::vector<std::string> fields{"metadata.name", "metadata.namespace"};
    if (kind.isBuiltIn) {
        const auto [first, last] = extraFields().equal_range(kind.kind);
        for (auto field = first; field != last; ++field)
            fields.push_back(field->second);
    }
    return fields;
}

} // namespace davit::testing::apiserver
