// Finalizers: marks that keep a deleted object until whoever set them has cleaned up. Contract: the
// functions of this header change the handle that you pass and send nothing; ensureFinalizer() and
// releaseFinalizer() of writes.h write.
// Source: Kubernetes "Finalizers"; controller-runtime's controllerutil and finalizer package
// (BEHAVIOURS.md E-22 to E-24). Test: tst_objectchanges.
#pragma once

#include <davit/object.h>
#include <functional>
#include <utility>
#include <vector>

DAVIT_BEGIN_NAMESPACE
// [thread-safe]
DAVIT_EXPORT bool containsFinalizer(const Object &object, const QString &finalizer);
// Appends it. False, and no change, when it is there or the object is being deleted: the server
// refuses new ones then. [thread-safe]
DAVIT_EXPORT bool addFinalizer(Object *object, const QString &finalizer);
// Drops every equal entry; true when there was one. [thread-safe]
DAVIT_EXPORT bool removeFinalizer(Object *object, const QString &finalizer);

// The clean-ups of a controller, by the finalizer each belongs to. Header-only. Registering: [any
// one thread], before use; finalize(): [thread-safe].
class FinalizerRegistry
{
public:
    // Cleans up for an object that is being deleted; may change it (its status, say).
    using CleanUp = std::function<Status(Object *object)>;

    struct Outcome
    {
        bool isUpdated = false; // metadata or spec changed: write the object
        bool isStatusUpdated = false; // write its status, too
        Status status; // of the clean-ups that failed, joined in one sentence
    };

    // InvalidArgument when the finalizer is registered already.
    Status add(const QString &finalizer, CleanUp cleanUp)
    {
        for (const auto &entry : m_entries)
            if (entry.first == finalizer)
                return Status(ErrorCode::InvalidArgument,
                    QStringLiteral("finalizer %1: it is registered already").arg(finalizer));
        m_entries.emplace_back(finalizer, std::move(cleanUp));
        return Status::ok();
    }

    // An object that lives gets the finalizers that it lacks, and nothing runs. Of one that is
    // being deleted each finalizer that it has runs its clean-up: success removes it, an error
    // keeps it, and the others still run.
    Outcome finalize(Object *object) const
    {
        Outcome outcome;
        for (const auto &[finalizer, cleanUp] : m_entries) {
            if (!object->isBeingDeleted()) {
                outcome.isUpdated |= addFinalizer(object, finalizer);
                continue;
            }
            if (!containsFinalizer(*object, finalizer))
                continue;
            const Value before = (*object)[QLatin1StringView("status")];
            const Status done = cleanUp(object);
            outcome.isStatusUpdated |= (*object)[QLatin1StringView("status")] != before;
            if (done.isOk())
                outcome.isUpdated |= removeFinalizer(object, finalizer);
            else
                outcome.status = joined(outcome.status, done.error().withContext(finalizer));
        }
        return outcome;
    }

private:
    static Status joined(const Status &known, const Error &next)
    {
        return known.isOk() ? Status(next)
                            : Status(Error(known.error().code(),
                                known.error().message() + QStringLiteral("; ") + next.message()));
    }
    std::vector<std::pair<QString, CleanUp>> m_entries;
};
DAVIT_END_NAMESPACE
