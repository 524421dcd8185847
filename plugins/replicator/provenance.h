// How a copy says where it came from, and how a source says where it goes. Contract:
//   - A copy carries three marks of its own place: the label `copy` is its namespace, `copied-to`
//   its namespace and name, `copied-from` a namespace and its name. Two right marks of the three
//   make an object ours: each of them may be damaged and is put right.
//   - What carries fewer is not ours: one mark alone, or a clone that someone made elsewhere or
//   under another name (its marks speak of the place of the original).
//   - What carries the uid of a source is its copy where that source wants one, whatever the marks.
//   - A copy is never a source, whatever its annotations say.
// All functions are pure. Test: tst_replicatorrules.
#pragma once

#include <davit/object.h>

namespace replicator {

// On a source: names and globs of namespaces.
inline constexpr QLatin1StringView kToNamespaces("replicator.davit.dev/to-namespaces");
// On a copy.
inline constexpr QLatin1StringView kCopyLabel("replicator.davit.dev/copy"); // its namespace
inline constexpr QLatin1StringView kCopiedTo("replicator.davit.dev/copied-to"); // namespace/name
inline constexpr QLatin1StringView kCopiedFrom(
    "replicator.davit.dev/copied-from"); // namespace/name
inline constexpr QLatin1StringView kSourceUid("replicator.davit.dev/source-uid");

// At least two of its three marks are right. [thread-safe]
bool isCopy(const davit::Object &object);
// It carries the uid of `source`. [thread-safe]
bool hasUidOf(const davit::Object &source, const davit::Object &object);
// Its copied-from names `source`. [thread-safe]
bool isNamedAfter(const davit::Object &source, const davit::Object &object);
// It asks for copies, is not being deleted, and is no copy itself. [thread-safe]
bool isSource(const davit::Object &object);
// False for a service account's token, which works in its own namespace alone. [thread-safe]
bool isCopyable(const davit::Object &source);

// The copy of `source` that belongs into the namespace, on top of what is there already (labels and
// annotations of others stay); `existing` may be null. Data, type and immutable are the source's.
// [thread-safe]
davit::Object copyFor(
    const davit::Object &source, const QString &namespaceName, const davit::Object &existing);
// Whether data, type, immutable, the marks and the uid are what copyFor() makes them. [thread-safe]
bool isEqualCopy(const davit::Object &source, const davit::Object &copy);
// Whether the server would let `copy` be changed into a copy of `source`. [thread-safe]
bool isChangeable(const davit::Object &source, const davit::Object &copy);
// A digest of what is copied; kept in memory only. [thread-safe]
QByteArray contentDigest(const davit::Object &source);

} // namespace replicator
