// A plugin's live view of one kind. Contract:
//   - The cache may skip states of an object; it never shows them out of order.
//   - One slot hears one thing at a time; per object in order, across objects in none.
//   - A read inside a slot sees the notified state or a later one.
//   - Delete and re-create under one name arrives as deleted, then added, also when both happened
//   unseen.
//   - What was stored when you connected arrives as added(isInInitialList = true), then what
//   happens.
//   - Connect one slot to a signal of an informer: what a slot throws is caught per signal. Ask the
//   host for another informer to hear twice.
// Source: Kubernetes API concepts, "Efficient detection of changes"; BEHAVIOURS.md. Tests:
// tst_sharedinformer, tst_informer.
#pragma once

#include <QtCore/qobject.h>
#include <davit/informerrequest.h>
#include <davit/lister.h>

DAVIT_BEGIN_NAMESPACE
// Plugin-provided, frozen: the values of one object in an index. Runs on the [cache-thread]. It has
// no extension(): a later kind of index is another class, and an overload of addIndex().
class DAVIT_EXPORT IndexFunction
{
public:
    virtual ~IndexFunction();
    // No value: the object is in no bucket. Called on the cache's thread; must depend on the object
    // alone. What it throws is caught, logged as the plugin's fault, and the object is stored
    // without this index (B28).
    virtual QStringList values(const Object &object) const = 0;
};

class InformerPrivate;
class DAVIT_EXPORT Informer : public QObject
{
    Q_OBJECT
public:
    ~Informer() override; // ends the view; the last view of a kind ends its watch

    // What was asked for. [thread-safe]
    InformerRequest request() const;
    // Reads of the same view. Stays valid after the informer's death, then without news.
    // [thread-safe]
    Lister lister() const;
    // True once the first full list is stored and each of its added() signals has returned; never
    // false again. [thread-safe]
    bool hasSynced() const noexcept;
    // Adds an index, also over what is stored already; takes ownership of `function`. AlreadyExists
    // when the name is taken. [plugin-thread]
    Status addIndex(const QString &name, IndexFunction *function);
    // addIndex with a callable of (const Object &) -> QStringList.
    template <typename F> Status addIndexBy(const QString &name, F function);

    explicit Informer(
        priv::InformerBackend &owned, QObject *parent = nullptr); // host only [plugin-thread]
    priv::InformerBackend &backend() const noexcept; // host only [plugin-thread]

Q_SIGNALS:
    // After the store changed. A slow slot delays only its own plugin. [plugin-thread]
    void added(const davit::Object &object, bool isInInitialList);
    // Also with equal resourceVersions after a relist or resync (I-7).
    void updated(const davit::Object &before, const davit::Object &after);
    // With isFinalStateUnknown the deletion was inferred and lastKnown may be stale.
    void deleted(const davit::Object &lastKnown, bool isFinalStateUnknown);
    // Once, when hasSynced() became true.
    void synced();

protected:
    bool event(QEvent *event) override;

private:
    InformerPrivate *const d; // owned
};

template <typename F> Status Informer::addIndexBy(const QString &name, F function)
{
    class Adapter final : public IndexFunction
    {
    public:
        explicit Adapter(F f) : m_function(std::move(f)) { }
        QStringList values(const Object &object) const override { return m_function(object); }

    private:
        F m_function;
    };
    return addIndex(name, new Adapter(std::move(function)));
}
DAVIT_END_NAMESPACE
