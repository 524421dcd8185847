#include "keymapping.h"

#include <algorithm>
#include <workqueue/priorityqueue.h>

namespace davit::controller {
namespace {

void addOnce(std::vector<ObjectKey> *keys, const ObjectKey &key)
{
    if (std::find(keys->begin(), keys->end(), key) == keys->end())
        keys->push_back(key);
}

void addOwner(std::vector<ObjectKey> *keys, const OwnerKind &ownerKind, const Object &object)
{
    const Value references
        = object[QLatin1StringView("metadata")][QLatin1StringView("ownerReferences")];
    for (qsizetype i = 0; i < references.size(); ++i) {
        const Value reference = references.at(i);
        if (!reference[QLatin1StringView("controller")].toBool())
            continue;
        const Gvk owner = gvkFrom(reference[QLatin1StringView("apiVersion")].toString(),
            reference[QLatin1StringView("kind")].toString());
        if (owner.group != ownerKind.gvk.group || owner.kind != ownerKind.gvk.kind)
            continue;
        addOnce(keys,
            {ownerKind.isNamespaced ? object.namespaceName() : QString(),
                reference[QLatin1StringView("name")].toString()});
    }
}

void addMapped(std::vector<ObjectKey> *keys, const KeyMapper &mapper, const Object &object)
{
    const QList<ObjectKey> mapped = mapper.keys(object);
    for (const ObjectKey &key : mapped)
        addOnce(keys, key);
}

} // namespace

std::vector<ObjectKey> keysOf(
    const priv::SourceSpec &source, const OwnerKind &ownerKind, const ObjectEvent &event)
{
    std::vector<ObjectKey> keys;
    const bool hasBefore = event.type == EventType::Updated && !event.before.isNull();
    switch (source.kind) {
    case priv::SourceSpec::Kind::Self:
        keys.push_back(event.object.key());
        break;
    case priv::SourceSpec::Kind::Owner:
        if (hasBefore)
            addOwner(&keys, ownerKind, event.before);
        addOwner(&keys, ownerKind, event.object);
        break;
    case priv::SourceSpec::Kind::Mapped:
        if (hasBefore)
            addMapped(&keys, *source.mapper, event.before);
        addMapped(&keys, *source.mapper, event.object);
        break;
    }
    return keys;
}

int priorityOf(const ObjectEvent &event)
{
    const bool tellsNothingNew = (event.type == EventType::Added && event.isInInitialList)
        || (event.type == EventType::Updated
            && event.before.resourceVersion() == event.object.resourceVersion());
    return tellsNothingNew ? workqueue::PriorityQueue::kLowPriority : 0;
}

} // namespace davit::controller
