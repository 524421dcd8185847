// Builds a controller: sources, predicates, a queue and a reconciler. Contract:
//   - The host owns queue and back-off, under the plugin's Id and the controller's name.
//   - Workers begin when every source has synced.
//   - Sources use Delivery::Latest. Errors of the single steps are kept and told by
//   reconcileWith().
// Source: controller-runtime's builder (BEHAVIOURS.md). Test: tst_controllerbuilder.
#pragma once

#include <davit/hostcontext.h>
#include <davit/predicate.h>
#include <davit/reconciler.h>
#include <memory>

DAVIT_BEGIN_NAMESPACE
// Plugin-provided, frozen: which keys an object of a source concerns. keys() is called on the
// [plugin-thread]. It has no extension(): what a later version needs is another class, and an
// overload of mapped() that takes it.
class DAVIT_EXPORT KeyMapper
{
public:
    virtual ~KeyMapper();
    virtual QList<ObjectKey> keys(const Object &object) const = 0;
};

// All methods: [plugin-thread].
class DAVIT_EXPORT ControllerBuilder
{
public:
    // `name` is unique in the plugin: lower-case letters, digits and dashes. [plugin-thread]
    ControllerBuilder(HostContext &host, const QString &name);
    ~ControllerBuilder();
    Q_DISABLE_COPY(ControllerBuilder)

    // Objects whose own key is reconciled. At least one of watches() and mapped() is needed.
    ControllerBuilder &watches(const InformerRequest &request);
    // Objects that are owned (controller reference) by the kind of the first watches(): the owner's
    // key is reconciled. What the selectors of that kind in the metadata do not take never comes:
    // give what you create the labels that they ask for.
    ControllerBuilder &owns(const InformerRequest &request);
    // Objects that concern other keys. Takes ownership of the mapper. On an update the keys of both
    // states are queued.
    ControllerBuilder &mapped(const InformerRequest &request, KeyMapper *mapper);
    // mapped() with a callable of (const Object &) -> QList<ObjectKey>.
    template <typename F> ControllerBuilder &mappedBy(const InformerRequest &request, F function);
    // Narrows the source named last; several are ANDed.
    ControllerBuilder &where(const Predicate &predicate);
    // Reconciles that run side by side; 1 by default, 64 at most.
    ControllerBuilder &workers(int count);
    // Delay of the n-th retry: base * 2^n, at most max. 5 ms and 1000 s by default (W-24).
    ControllerBuilder &retryDelays(std::chrono::milliseconds base, std::chrono::milliseconds max);
    // Time a reconcile may take before its context's deadline has passed; none by default.
    ControllerBuilder &reconcileTimeout(std::chrono::milliseconds timeout);

    // Starts the controller; takes ownership of the reconciler in every case. Errors:
    // UndeclaredResource, InvalidArgument (a name that is taken or malformed, no source, a wrong
    // selector), and as HostContext::informer() KindNotServed and Canceled. [plugin-thread]
    Status reconcileWith(std::unique_ptr<Reconciler> reconciler)
    {
        return reconcileWithOwned(reconciler.release());
    }
    Status reconcileWithOwned(Reconciler *reconciler);

private:
    priv::ControllerSpec *const d; // owned
};

template <typename F>
ControllerBuilder &ControllerBuilder::mappedBy(const InformerRequest &request, F function)
{
    class Adapter final : public KeyMapper
    {
    public:
        explicit Adapter(F f) : m_function(std::move(f)) { }
        QList<ObjectKey> keys(const Object &object) const override { return m_function(object); }

    private:
        F m_function;
    };
    return mapped(request, new Adapter(std::move(function)));
}
DAVIT_END_NAMESPACE
