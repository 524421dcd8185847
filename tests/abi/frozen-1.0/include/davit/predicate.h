// Which events of a source reach the queue. Contract: predicates of a source are ANDed; a null
// Predicate lets everything pass. They run on the plugin's thread; what one throws is the plugin's
// fault and lets the event pass, so that no key is lost. Source: controller-runtime's predicates
// (BEHAVIOURS.md). Test: tst_predicate.
#pragma once

#include <davit/selector.h>

DAVIT_BEGIN_NAMESPACE
enum class EventType : quint8 { Unset = 0, Added, Updated, Deleted, Generic };

// ABI: frozen
struct ObjectEvent
{
    EventType type;
    bool isInInitialList; // Added only
    bool isFinalStateUnknown; // Deleted only
    quint8 reserved[5];
    Object before; // Updated only
    Object object; // the newest, or last known, state
};

// Plugin-provided, frozen. accepts() is called on the [plugin-thread]. It has no extension(): what
// a later event has to say goes into ObjectEvent's reserved bytes, or into another class and an
// overload.
class DAVIT_EXPORT EventFilter
{
public:
    virtual ~EventFilter();
    virtual bool accepts(const ObjectEvent &event) const = 0;
};

class PredicatePrivate;
// A shared filter; copies refer to the same one. All methods: [plugin-thread].
class DAVIT_EXPORT Predicate
{
public:
    // Lets everything pass.
    Predicate();
    explicit Predicate(EventFilter *owned);
    Predicate(const Predicate &other);
    Predicate &operator=(const Predicate &other);
    ~Predicate();
    bool accepts(const ObjectEvent &event) const;
    // From a callable of (const ObjectEvent &) -> bool.
    template <typename F> static Predicate from(F function);

    DAVIT_EXPORT friend Predicate operator&&(const Predicate &a, const Predicate &b);
    DAVIT_EXPORT friend Predicate operator||(const Predicate &a, const Predicate &b);
    DAVIT_EXPORT friend Predicate operator!(const Predicate &a);

private:
    QExplicitlySharedDataPointer<PredicatePrivate> d;
};

template <typename F> Predicate Predicate::from(F function)
{
    class Adapter final : public EventFilter
    {
    public:
        explicit Adapter(F f) : m_function(std::move(f)) { }
        bool accepts(const ObjectEvent &event) const override { return m_function(event); }

    private:
        F m_function;
    };
    return Predicate(new Adapter(std::move(function)));
}

// Each decides about Updated events alone and lets the others pass, but for matching().
// [thread-safe]
namespace predicates {
DAVIT_EXPORT Predicate resourceVersionChanged();
// Drops changes of status and metadata alone. A requested deletion passes: it raises the
// generation. Of kinds without one (ConfigMap, Secret) it drops every update.
DAVIT_EXPORT Predicate generationChanged();
DAVIT_EXPORT Predicate labelsChanged();
DAVIT_EXPORT Predicate annotationsChanged();
DAVIT_EXPORT Predicate matching(const LabelSelector &selector); // of the new state
} // namespace predicates
DAVIT_END_NAMESPACE
