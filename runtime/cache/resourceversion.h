// resourceVersions: opaque texts that may be compared only where both are decimal numbers.
// Source: KEP-5504 (comparable resource versions). Case B14. Test: tst_threadsafestore.
#pragma once

#include <davit/object.h>

#include <compare>

namespace davit::cache {

// Order of two versions of one resource; unordered when either is no decimal number (or beyond 64
// bits) and they are not the same text. [thread-safe]
std::partial_ordering compareVersions(const QString &a, const QString &b);
// True when `version` is known to be `wanted` or newer. [thread-safe]
bool hasReached(const QString &version, const QString &wanted);
// True when `candidate` is an older state of the same uid, as far as that can be told.
// [thread-safe]
bool isOlderState(const Object &candidate, const Object &known);
// True when both carry the same metadata.resourceVersion (I-7). [thread-safe]
bool haveSameVersion(const Object &a, const Object &b);
// True unless both carry a uid and the two differ (B16). [thread-safe]
bool haveSameUid(const Object &a, const Object &b);

} // namespace davit::cache
