#include <davit/predicate.h>

#include <QtCore/qlogging.h>
#include <memory>

DAVIT_BEGIN_NAMESPACE

EventFilter::~EventFilter() = default;

class PredicatePrivate : public QSharedData
{
public:
    std::unique_ptr<const EventFilter> filter;
};

Predicate::Predicate() = default;

Predicate::Predicate(EventFilter *owned)
{
    if (!owned)
        return;
    d.reset(new PredicatePrivate);
    d->filter.reset(owned);
}

Predicate::Predicate(const Predicate &other) = default;
Predicate &Predicate::operator=(const Predicate &other) = default;
Predicate::~Predicate() = default;

bool Predicate::accepts(const ObjectEvent &event) const
{
    return !d || d->filter->accepts(event);
}

Predicate operator&&(const Predicate &a, const Predicate &b)
{
    return Predicate::from([a, b](const ObjectEvent &e) { return a.accepts(e) && b.accepts(e); });
}

Predicate operator||(const Predicate &a, const Predicate &b)
{
    return Predicate::from([a, b](const ObjectEvent &e) { return a.accepts(e) || b.accepts(e); });
}

Predicate operator!(const Predicate &a)
{
    return Predicate::from([a](const ObjectEvent &e) { return !a.accepts(e); });
}

namespace {

// A predicate about updates alone. M-7: an update without its two states is dropped, and said.
template <typename F> Predicate onUpdate(const char *name, F hasChanged)
{
    return Predicate::from([name, hasChanged](const ObjectEvent &event) {
        if (event.type != EventType::Updated)
            return true;
        if (event.before.isNull() || event.object.isNull()) {
            qWarning("%s: an update without both states was dropped", name);
            return false;
        }
        return bool(hasChanged(event.before, event.object));
    });
}

Value metadataMember(const Object &object, QLatin1StringView name)
{
    return object[QLatin1StringView("metadata")][name];
}

// As maps: order is no difference, absent equals empty. Shared parts are equal at once.
bool isSameMap(const Value &a, const Value &b)
{
    if (a == b)
        return true;
    if (a.size() != b.size())
        return false;
    for (qsizetype i = 0; i < a.size(); ++i)
        if (const QString name = a.nameAt(i); b[QStringView(name)] != a.at(i))
            return false;
    return true;
}

Predicate mapChanged(const char *predicate, QLatin1StringView member)
{
    return onUpdate(predicate, [member](const Object &before, const Object &after) {
        return !isSameMap(metadataMember(before, member), metadataMember(after, member));
    });
}

} // namespace

namespace predicates {

Predicate resourceVersionChanged()
{
    return onUpdate("resourceVersionChanged", [](const Object &before, const Object &after) {
        return before.resourceVersion() != after.resourceVersion();
    });
}

Predicate generationChanged()
{
    return onUpdate("generationChanged", [](const Object &before, const Object &after) {
        return before.generation() != after.generation();
    });
}

Predicate labelsChanged()
{
    return mapChanged("labelsChanged", QLatin1StringView("labels"));
}

Predicate annotationsChanged()
{
    return mapChanged("annotationsChanged", QLatin1StringView("annotations"));
}

Predicate matching(const LabelSelector &selector)
{
    return Predicate::from(
        [selector](const ObjectEvent &event) { return selector.matches(event.object); });
}

} // namespace predicates
DAVIT_END_NAMESPACE
