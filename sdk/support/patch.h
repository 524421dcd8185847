// The patches of the Kubernetes API over JSON texts: merge (RFC 7386), JSON patch (RFC 6902) and
// strategic merge for built-in kinds. Server-side apply is in apply.h. The same functions over
// trees, for the embedded server, are in patchtree.h. Tests: tst_patch.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qstring.h>

namespace davit::support {

enum class PatchFault : quint8 {
    Unset = 0, // no fault
    MalformedDocument, // the document is no JSON object
    MalformedPatch, // the patch itself is wrong: 400
    NotApplicable, // well-formed, but it does not fit this document (a failed "test"): 422
    TooLarge, // too many operations, or copies that add too much: 413
    Unexpected // what the API server has no status for: 500
};

struct PatchResult
{
    QByteArray json; // the patched document; empty after a fault
    PatchFault fault = PatchFault::Unset;
    QString message; // one sentence; empty without a fault

    bool isOk() const { return fault == PatchFault::Unset; }
};

// `document` and `patch` are JSON texts. All three are pure. [thread-safe]
PatchResult mergePatch(QByteArrayView document, QByteArrayView patch);
// At most 10000 operations and 3 MiB that copies add, as the API server allows.
PatchResult jsonPatch(QByteArrayView document, QByteArrayView patch);
// Lists of the built-in kinds are merged by their keys (containers by name, …), with $patch
// (replace, delete, merge), $deleteFromPrimitiveList, $setElementOrder and $retainKeys. `kind` is
// the built-in kind: a Service's ports have another key than a container's.
PatchResult strategicMergePatch(QByteArrayView document, QByteArrayView patch, QByteArrayView kind);

// The smallest merge patch that makes `after` of `before`: "{}" when they are equal (E-28). Members
// that are null in `after` cannot be expressed and are removed. [thread-safe]
PatchResult mergePatchBetween(QByteArrayView before, QByteArrayView after);

} // namespace davit::support
