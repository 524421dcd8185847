// Writes in the forms that reconcilers repeat: retry on conflict, create or update, create or
// patch, finalizers that are safe beside other controllers. Contract:
//   - They block and are for worker threads; each read and write goes to the server.
//   - A mutate function is a callable of (const Object &seen) -> Object or Result<Object>: the
//   object as it shall be. It must not change kind, name or namespace; its error ends the call.
//   - containsFinalizer() and what changes an object in memory alone are in davit/finalizers.h.
// Source: client-go's util/retry, controller-runtime's controllerutil (BEHAVIOURS.md E-16, E-25 to
// E-27; case B54). Test: tst_writes.
#pragma once

#include <davit/client.h>
#include <davit/clock.h>
#include <davit/objectbuilder.h>

DAVIT_BEGIN_NAMESPACE
// ABI: frozen
struct Backoff
{
    int steps; // how often the function is called at most; it is called once at least
    std::chrono::nanoseconds first; // the first wait
    double factor; // each later wait is the one before times this
    double jitter; // a wait is longer by up to this part of it, by chance
};
inline constexpr Backoff kDefaultRetry{5, std::chrono::milliseconds(10), 1.0, 0.1};
inline constexpr Backoff kDefaultBackoff{4, std::chrono::milliseconds(10), 5.0, 0.1}; // busy server

// How long to wait after try number `tries` (1 is the first). [thread-safe]
DAVIT_EXPORT std::chrono::nanoseconds waitAfterTry(const Backoff &backoff, int tries);

// Calls `function`, which gives a Status or a Result, until it gives something else than a Conflict
// or the steps are used up; gives what it gave last. The function reads the object anew each time.
// [worker-thread]
template <typename F>
auto retryOnConflict(const Backoff &backoff, const Clock &clock, F function) -> decltype(function())
{
    for (int tries = 1;; ++tries) {
        auto outcome = function();
        if (outcome.isOk() || !isConflict(outcome.error()) || tries >= backoff.steps)
            return outcome;
        clock.sleepFor(waitAfterTry(backoff, tries));
    }
}

enum class OperationResult : quint8 {
    Unset = 0,
    Unchanged, // nothing was written
    Created,
    Updated,
    UpdatedStatus, // status and the rest
    UpdatedStatusOnly
};

struct Written
{
    Object object; // as the server has it now
    OperationResult result = OperationResult::Unset;
};

// Equal for the server: the order of members does not count. [thread-safe]
DAVIT_EXPORT bool isEquivalent(const Object &a, const Object &b);
// InvalidArgument when `after` is null or another object than `before`. [thread-safe]
DAVIT_EXPORT Status checkMutated(const Object &before, const Object &after);
// The merge patches of everything but the status, and of the status alone; "{}" without a
// difference. [thread-safe]
DAVIT_EXPORT Patch mainDifference(const Object &before, const Object &after);
DAVIT_EXPORT Patch statusDifference(const Object &before, const Object &after);

// The steps of the two functions below.
namespace writing {
// What stands under a name, or the bare kind and key.
struct Standing
{
    Object object;
    bool isThere = false;
};
inline Result<Standing> findStanding(
    const Client::Blocking &client, const Gvk &gvk, const ObjectKey &key, const RequestOptions &o)
{
    const Result<Object> found = client.get(gvk, key, RequestOptions().timeout(o.timeout()));
    if (found.isOk())
        return Standing{found.value(), true};
    if (!isNotFound(found.error()))
        return found.error();
    return Standing{ObjectBuilder(gvk, key).build(), false};
}
// The same, and what it is to become.
struct Change
{
    Standing standing;
    Object after;
};
template <typename Mutate>
Result<Change> changed(const Client::Blocking &client, const Gvk &gvk, const ObjectKey &key,
    Mutate &mutate, const RequestOptions &options)
{
    const Result<Standing> standing = findStanding(client, gvk, key, options);
    if (!standing.isOk())
        return standing.error();
    const Result<Object> after = mutate(standing.value().object);
    if (!after.isOk())
        return after.error();
    const Status checked = checkMutated(standing.value().object, after.value());
    return checked.isOk() ? Result<Change>(Change{standing.value(), after.value()})
                          : Result<Change>(checked.error());
}
inline Result<Written> written(const Result<Object> &reply, OperationResult result)
{
    return reply.isOk() ? Result<Written>(Written{reply.value(), result})
                        : Result<Written>(reply.error());
}
} // namespace writing

// Creates what is not there; updates the whole object where the mutate function makes a difference.
// No retry: a lost race is AlreadyExists, a stale read Conflict (E-27). [worker-thread]
template <typename Mutate>
Result<Written> createOrUpdate(const Client::Blocking &client, const Gvk &gvk, const ObjectKey &key,
    Mutate mutate, const RequestOptions &options = {})
{
    const Result<writing::Change> change = writing::changed(client, gvk, key, mutate, options);
    if (!change.isOk())
        return change.error();
    const Object &seen = change.value().standing.object;
    const Object &after = change.value().after;
    if (!change.value().standing.isThere)
        return writing::written(client.create(after, options), OperationResult::Created);
    if (isEquivalent(seen, after))
        return Written{seen, OperationResult::Unchanged};
    return writing::written(client.update(after, options), OperationResult::Updated);
}

// The same with merge patches of what differs: one of everything but the status, then one of the
// status through its subresource. Of a new object the status is not written (E-26).
// [worker-thread]
template <typename Mutate>
Result<Written> createOrPatch(const Client::Blocking &client, const Gvk &gvk, const ObjectKey &key,
    Mutate mutate, const RequestOptions &options = {})
{
    const Result<writing::Change> change = writing::changed(client, gvk, key, mutate, options);
    if (!change.isOk())
        return change.error();
    const Object &seen = change.value().standing.object;
    const Object &after = change.value().after;
    if (!change.value().standing.isThere)
        return writing::written(client.create(after, options), OperationResult::Created);
    const Patch main = mainDifference(seen, after);
    const Patch status = statusDifference(seen, after);
    Written outcome{seen, OperationResult::Unchanged};
    if (main.body() != "{}") {
        const Result<Object> reply = client.patch(gvk, key, main, options);
        if (!reply.isOk())
            return reply.error();
        outcome = {reply.value(), OperationResult::Updated};
    }
    if (status.body() != "{}") {
        const Result<Object> reply = client.patch(
            gvk, key, status, RequestOptions(options).subresource(QStringLiteral("status")));
        if (!reply.isOk())
            return reply.error();
        outcome = {reply.value(),
            outcome.result == OperationResult::Updated ? OperationResult::UpdatedStatus
                                                       : OperationResult::UpdatedStatusOnly};
    }
    return outcome;
}

// Sees to it that the object has the finalizer: a merge patch that carries the resourceVersion, so
// that no other controller's finalizer is lost; a Conflict is read again and tried again
// (kDefaultRetry). `object` is what you know, from the cache say, and becomes what the server
// answers. Invalid when it is being deleted: no new ones then. [worker-thread]
DAVIT_EXPORT Status ensureFinalizer(const Client &client, Object *object, const QString &finalizer,
    const Clock &clock = {}, const RequestOptions &options = {});
// The other way round. An object that is gone is success. [worker-thread]
DAVIT_EXPORT Status releaseFinalizer(const Client &client, const Object &object,
    const QString &finalizer, const Clock &clock = {}, const RequestOptions &options = {});
DAVIT_END_NAMESPACE
