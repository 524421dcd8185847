// Server-side apply and the bookkeeping of metadata.managedFields, over trees. Internal, like
// json.h. Contract:
//   - A field that I applied before and no longer send is removed, unless another manager owns it.
//   - A field with another value that another manager owns is a conflict, unless forced; then it is
//     mine alone. Equal values are shared.
//   - A write that is no apply takes the fields it changed, silently (E-33).
// Limits: without a schema, what is granular is decided by listkeys.h: maps and scalars are; of the
// lists only those it names, of built-in kinds; every other list is atomic. Maps that a schema
// calls atomic (a label selector) are treated as granular.
// Source: KEP-555; BEHAVIOURS.md E-31 to E-33. Test: tst_apply.
#pragma once

#include "fieldset.h"

namespace davit::support {

// Who writes. Texts are UTF-8.
struct FieldWriter
{
    std::string manager;
    std::string apiVersion;
    std::string subresource; // empty for the object itself
    std::string time; // RFC 3339, seconds
    std::string kind; // a built-in kind; empty for a custom resource, whose lists are all atomic
};

struct ApplyConflict
{
    std::string manager; // as the message names it: "kubectl" using v1 at 2026-01-01T00:00:00Z
    std::string field; // ".spec.replicas"
};

struct ApplyOutcome
{
    Json object; // with its new managedFields; unspecified when there are conflicts
    std::vector<ApplyConflict> conflicts;
};

// `live` is null (a JSON null) when the object does not exist. [thread-safe]
ApplyOutcome applyTree(
    const Json &live, const Json &configuration, const FieldWriter &writer, bool isForced);

// Sets `after`'s managedFields from `before` (null: created now) and what the write changed. A list
// that `after` brings itself counts as the former state; an empty one clears it. [thread-safe]
void recordUpdate(const Json &before, Json &after, const FieldWriter &writer);

} // namespace davit::support
