// How a copy says where it came from, and how a source says where it goes. Contract:
//   - An object is our copy when it names its source and, as copied-to, the namespace it is in: a
//   clone that someone made by hand in another namespace is not ours.
//   - A copy is never a source, whatever its annotations say.
#pragma once

#include <davit/object.h>

namespace replicator {

// On a source: names and globs of namespaces.
inline constexpr QLatin1StringView kToNamespaces("replicator.davit.dev/to-namespaces");
// On a copy.
inline constexpr QLatin1StringView kCopiedFrom(
    "replicator.davit.dev/copied-from"); // namespace/name
inline constexpr QLatin1StringView kCopiedTo("replicator.davit.dev/copied-to"); // namespace
inline constexpr QLatin1StringView kSourceUid("replicator.davit.dev/source-uid");
inline constexpr QLatin1StringView kCopyLabel("replicator.davit.dev/copy"); // "true"

bool isCopy(const davit::Object &object);
// Empty unless it is a copy: "namespace/name".
QString sourceOf(const davit::Object &copy);
bool isSource(const davit::Object &object);

// The copy of `source` that belongs into the namespace, on top of what is there already (labels and
// annotations of others stay); `existing` may be null. Data, type and immutable are the source's.
davit::Object copyFor(
    const davit::Object &source, const QString &namespaceName, const davit::Object &existing);
// Whether data, type, immutable and provenance are what copyFor() makes them.
bool isEqualCopy(const davit::Object &source, const davit::Object &copy);
// Whether the server would let `copy` be changed into a copy of `source`.
bool isChangeable(const davit::Object &source, const davit::Object &copy);
// A digest of what is copied; kept in memory only.
QByteArray contentDigest(const davit::Object &source);

} // namespace replicator
