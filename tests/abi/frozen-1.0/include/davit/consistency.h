// How fresh a read of the cache has to be: as it happens to be, with one's own writes, or not older
// than a version. For Lister::waitFor() and the reads that take one. Contract:
//   - Own writes are what the server took from any Client of this plugin before the wait began, of
//   the lister's group and kind, in the namespaces that it reads. Those of writes.h are among them.
//   - Not among them: dry runs; subresources that answer with something else than the object or its
//   Scale (pods/eviction, pods/binding); a write that ended with an error. After OutcomeUnknown
//   read through the Client.
//   - A write shows when the cache has come to its version, or holds that object in that state or a
//   later one. What lies outside the selectors of the watch never comes: it counts as shown unless
//   the cache still holds the object. A Scale tells no labels, so there it may time out.
//   - A deletion shows when the object is gone or has another uid; of removeCollection() also when
//   it is being deleted. An object that the cache has not seen yet looks the same as one that is
//   gone, unless you wrote it or named its version (RequestOptions::preconditionResourceVersion).
//   - 256 keys a kind are remembered. For older ones the cache has to come to the newest of their
//   versions; older deletions are not waited for.
//   - A version that no object has, that of a list, may be reached with a bookmark only, which
//   servers send about once a minute.
//   - Of versions that are no decimal numbers only equal ones are known to be reached.
// Source: BEHAVIOURS.md (M-39). Tests: tst_consistency, tst_ownwrites, tst_consistencywait,
// tst_clientreal.
#pragma once

#include <QtCore/qshareddata.h>
#include <QtCore/qstring.h>
#include <chrono>
#include <davit/fwd.h>

DAVIT_BEGIN_NAMESPACE
enum class ConsistencyType : quint8 { Unset = 0, Any, OwnWrites, NotOlderThan };

class ConsistencyPrivate;
// What a read asks for. Setters return it, to be chained: [any one thread]. Getters: [thread-safe].
class DAVIT_EXPORT Consistency
{
public:
    // Whatever the cache holds; never waits.
    static Consistency any();
    static Consistency ownWrites();
    // The cache has come to a resourceVersion of that kind: that of an object which somebody told
    // you of, or of a ListReply. A decimal number.
    static Consistency notOlderThan(const QString &resourceVersion);
    Consistency(const Consistency &other);
    Consistency &operator=(const Consistency &other);
    ~Consistency();

    // How long to wait at most: 10 s by default, an hour for all that is more. 0 only looks.
    Consistency &timeout(std::chrono::milliseconds limit);

    ConsistencyType type() const noexcept;
    QString resourceVersion() const; // empty but for notOlderThan()
    std::chrono::milliseconds timeout() const;

private:
    Consistency(ConsistencyType type, const QString &resourceVersion);
    QSharedDataPointer<ConsistencyPrivate> d;
};
DAVIT_END_NAMESPACE
