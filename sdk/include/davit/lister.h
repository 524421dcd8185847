// Reads of the cache. Contract:
//   - Never touches the network, never waits for a writer: a call works on the snapshot of the
//   moment it began.
//   - Lists come in no particular order. Objects are shared, immutable, and stay valid as long as
//   you hold them.
//   - The cache may lag behind the server; inside a slot or reconcile it shows the notified state
//   or a later one.
// Source: client-go listers (BEHAVIOURS.md). Test: tst_informer.
#pragma once

#include <QtCore/qlist.h>
#include <QtCore/qstringlist.h>
#include <davit/object.h>
#include <davit/result.h>

DAVIT_BEGIN_NAMESPACE
class DAVIT_EXPORT Lister
{
public:
    // Shows nothing and never syncs.
    Lister();
    Lister(const Lister &other);
    Lister &operator=(const Lister &other);
    ~Lister();
    explicit Lister(priv::ListerBackend &backend); // host only; takes a reference of its own

    // The kind it lists. [thread-safe]
    Gvk gvk() const;
    // True once the first full list is stored; never false again. [thread-safe]
    bool hasSynced() const noexcept;
    // The object, or a null one. O(log n). [thread-safe]
    Object find(const ObjectKey &key) const;
    // The same for those who go on with the error: NotFound names kind and key. [thread-safe]
    Result<Object> get(const ObjectKey &key) const
    {
        Object object = find(key);
        if (object.isNull())
            return Error(ErrorCode::NotFound,
                QStringLiteral("%1 %2 is not in the cache").arg(toString(gvk()), toString(key)));
        return object;
    }
    // All objects, or those of one namespace, or those that match. O(n), O(namespace) with a
    // namespace. [thread-safe]
    QList<Object> list() const;
    QList<Object> list(const LabelSelector &selector) const;
    QList<Object> inNamespace(const QString &namespaceName) const;
    QList<Object> inNamespace(const QString &namespaceName, const LabelSelector &selector) const;
    // Objects for which index `name` gave `value`; empty for a value without objects, and, with a
    // warning in the log, for an index that was never added (Informer::addIndex). [thread-safe]
    QList<Object> byIndex(const QString &name, const QString &value) const;
    // Fills `objects`, or InvalidArgument names an index that was never added. [thread-safe]
    Status byIndex(const QString &name, const QString &value, QList<Object> *objects) const;
    // Values of the index that have objects, sorted. [thread-safe]
    QStringList indexValues(const QString &name) const;
    // Number of objects. O(1) without a narrowing request, else O(n). [thread-safe]
    qsizetype count() const;

private:
    priv::ListerBackend *d; // shared
};
DAVIT_END_NAMESPACE
