// The patches of patch.h over trees. For the embedded server and for patch.cpp; never throws.
#pragma once

#include "json.h"
#include "patch.h"

namespace davit::support {

// What became of a patch; `target` is unspecified after a fault.
struct PatchOutcome
{
    PatchFault fault = PatchFault::Unset;
    QString message;

    bool isOk() const { return fault == PatchFault::Unset; }
};

PatchOutcome mergePatchTree(Json &target, const Json &patch);
PatchOutcome jsonPatchTree(Json &target, const Json &patch);
PatchOutcome strategicMergePatchTree(Json &target, const Json &patch, const std::string &kind);
// "{}" as an object when both are equal.
Json mergePatchTreeBetween(const Json &before, const Json &after);

} // namespace davit::support
