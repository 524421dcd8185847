// The sources of one name, and which of them has a place. Contract:
//   - A source wants the namespaces that its patterns name, but for its own and the denied ones.
//   - Of several that want one place the one whose copy is there has it: by the copy's source-uid,
//   else by its copied-from; without a copy, or when it says neither, the oldest.
// Const after construction. Test: tst_replicatorrules, winner.
#pragma once

#include "namespacepatterns.h"

#include <davit/object.h>

#include <QtCore/qlist.h>

namespace replicator {

class Claims
{
public:
    Claims() = default;
    // What cannot be copied claims nothing.
    Claims(const QList<davit::Object> &sources, const NamespacePatterns &denied);

    // Whether any source wants a copy there. [thread-safe]
    bool isWanted(const QString &namespaceName) const;
    bool isWantedBy(const davit::ObjectKey &source, const QString &namespaceName) const;
    // The source that has, or gets, that place; null when none wants it. `existing`: what is there
    // now, or null. [thread-safe]
    davit::Object winner(const QString &namespaceName, const davit::Object &existing) const;

private:
    struct Claim
    {
        davit::Object source;
        davit::ObjectKey key; // of the source
        NamespacePatterns patterns;
    };
    bool wants(const Claim &claim, const QString &namespaceName) const;

    QList<Claim> m_claims;
    NamespacePatterns m_denied;
};

} // namespace replicator
