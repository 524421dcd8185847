#include "controllersource.h"

namespace davit::controller {
namespace {

workqueue::Cause::Type causeType(EventType type)
{
    switch (type) {
    case EventType::Added:
        return workqueue::Cause::Type::Added;
    case EventType::Updated:
        return workqueue::Cause::Type::Updated;
    case EventType::Deleted:
        return workqueue::Cause::Type::Deleted;
    case EventType::Generic:
    case EventType::Unset:
        break;
    }
    return workqueue::Cause::Type::Unset;
}

} // namespace

ControllerSource::ControllerSource(
    Informer &informer, const priv::SourceSpec &spec, const Surroundings &surroundings)
    : QObject(&informer), m_spec(spec), m_around(surroundings), m_kind(toString(spec.request.gvk()))
{
    connect(&informer, &Informer::added, this, [this](const Object &object, bool isInitial) {
        heard({EventType::Added, isInitial, false, {}, {}, object});
    });
    connect(&informer, &Informer::updated, this, [this](const Object &before, const Object &after) {
        heard({EventType::Updated, false, false, {}, before, after});
    });
    connect(&informer, &Informer::deleted, this, [this](const Object &last, bool isUnknown) {
        heard({EventType::Deleted, false, isUnknown, {}, {}, last});
    });
    connect(&informer, &Informer::synced, this, [this] {
        if (!std::exchange(m_isSynced, true))
            m_around.onSynced();
    });
}

ControllerSource::~ControllerSource()
{
    priv::pluginCall(*m_around.faults, "destructor of predicate and mapper", m_kind, [this] {
        m_spec.predicate = Predicate();
        m_spec.mapper.reset();
    });
}

bool ControllerSource::accepts(const ObjectEvent &event)
{
    bool isAccepted = true;
    const bool hasAnswered = priv::pluginCall(*m_around.faults, "predicate", m_kind,
        [&] { isAccepted = m_spec.predicate.accepts(event); });
    return isAccepted || !hasAnswered;
}

void ControllerSource::heard(const ObjectEvent &event)
{
    if (event.object.isNull()) {
        m_around.log.warning("an event without an object was dropped", {{"kind", m_kind}});
        return;
    }
    if (!accepts(event))
        return;
    std::vector<ObjectKey> keys;
    const bool hasMapped = priv::pluginCall(*m_around.faults, "key mapper", m_kind,
        [&] { keys = keysOf(m_spec, m_around.ownerKind, event); });
    if (hasMapped)
        enqueue(event, keys);
}

void ControllerSource::enqueue(const ObjectEvent &event, const std::vector<ObjectKey> &keys)
{
    workqueue::AddOptions options;
    options.priority = priorityOf(event);
    options.cause.type = causeType(event.type);
    options.cause.subject = m_kind;
    options.cause.object = event.object.key();
    for (const ObjectKey &key : keys)
        m_around.queue->add({key, QString()}, options);
}

} // namespace davit::controller
