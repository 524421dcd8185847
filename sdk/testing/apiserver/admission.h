// What the real server does to an object before it is stored: checks of names and fields, defaults,
// immutability, the server's own metadata. No schemas: of the built-in kinds only the rules that
// operators run into are here; README.md lists them.
#pragma once

#include "faults.h"

namespace davit::testing::apiserver {

// "2026-01-31T12:00:00Z"
std::string timestampNow();
std::string newUid();
// generateName plus five letters of the set that the real server draws from; drawn anew, as there,
// up to kNameAttempts times while the name is taken. The last one may be taken, too.
inline constexpr int kNameAttempts = 8;
std::string generatedName(
    const std::string &prefix, const std::function<bool(const std::string &name)> &isTaken);

// Name, namespace and labels are well-formed.
ApiFault checkNames(const Kind &kind, const Json &object);
// Types of the fields that typed clients would refuse (data that is no text, bad base64).
ApiFault checkShape(const Kind &kind, const Json &object);
// Fills in what the server fills in (stringData, replicas, phases, …), at each write; the members
// that only a new object gets when `isNew`.
void setDefaults(const Kind &kind, Json &object, bool isNew);
// What an update must not change.
ApiFault checkUpdate(const Kind &kind, const Json &before, const Json &after);
// Drops empty maps and lists of metadata and brings its members into the server's order.
void tidyMetadata(Json &object);

} // namespace davit::testing::apiserver
