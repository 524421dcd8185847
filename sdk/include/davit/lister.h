// Reads of the cache. Contract:
//   - Never touches the network, never waits for a writer: a call works on the snapshot of the
//   moment it began. Only waitFor(), and a read that takes a Consistency, wait for the cache.
//   - Lists come in no particular order. Objects are shared, immutable, and stay valid as long as
//   you hold them.
//   - The cache may lag behind the server; inside a slot or reconcile it shows the notified state
//   or a later one. What you just wrote may lack: waitFor(Consistency::ownWrites()).
// Source: client-go listers (BEHAVIOURS.md). Tests: tst_informer, tst_consistency.
#pragma once

#include <QtCore/qlist.h>
#include <QtCore/qstringlist.h>
#include <davit/consistency.h>
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

    // Waits until the cache is that fresh: every read that begins after it, through this lister and
    // its copies, shows at least that. Waits for hasSynced() first; with Consistency::any() for
    // nothing. Errors: StaleCache when the time is up, InvalidArgument for a version that is no
    // number and a negative time, Canceled when the view was closed, Unsupported for a Lister()
    // that shows nothing. The end of the plugin does not cut it short. It may be called on the
    // plugin's thread, which stands still meanwhile; never by an index function. O(own writes
    // remembered). [worker-thread]
    Status waitFor(const Consistency &consistency) const;
    // The reads of the same name after such a wait. [worker-thread]
    Result<Object> find(const ObjectKey &key, const Consistency &consistency) const
    {
        const Status status = waitFor(consistency);
        return status.isOk() ? Result<Object>(find(key)) : Result<Object>(status.error());
    }
    Result<QList<Object>> list(const Consistency &consistency) const
    {
        const Status status = waitFor(consistency);
        return status.isOk() ? Result<QList<Object>>(list())
                             : Result<QList<Object>>(status.error());
    }

private:
    priv::ListerBackend *d; // shared
};
DAVIT_END_NAMESPACE
