#include "claims.h"

#include "provenance.h"

#include <algorithm>

namespace replicator {

using davit::Object;
using namespace Qt::StringLiterals;

namespace {

bool isOlder(const Object &a, const Object &b)
{
    const QString first = a["metadata"_L1]["creationTimestamp"_L1].toString();
    const QString second = b["metadata"_L1]["creationTimestamp"_L1].toString();
    return first != second ? first < second : toString(a.key()) < toString(b.key());
}

// How surely an object is the copy of a source.
int closeness(const Object &source, const Object &existing)
{
    if (hasUidOf(source, existing))
        return 2;
    return isNamedAfter(source, existing) ? 1 : 0;
}

} // namespace

Claims::Claims(const QList<Object> &sources, const NamespacePatterns &denied) : m_denied(denied)
{
    for (const Object &source : sources)
        if (isCopyable(source))
            m_claims.append({source, source.key(),
                NamespacePatterns::fromText(source.annotation(kToNamespaces))});
}

bool Claims::isWanted(const QString &namespaceName) const
{
    return std::any_of(m_claims.begin(), m_claims.end(),
        [&](const Claim &claim) { return wants(claim, namespaceName); });
}

bool Claims::isWantedBy(const davit::ObjectKey &source, const QString &namespaceName) const
{
    return std::any_of(m_claims.begin(), m_claims.end(),
        [&](const Claim &claim) { return claim.key == source && wants(claim, namespaceName); });
}

Object Claims::winner(const QString &namespaceName, const Object &existing) const
{
    Object best;
    int bestCloseness = 0;
    for (const Claim &claim : m_claims) {
        if (!wants(claim, namespaceName))
            continue;
        const int close = closeness(claim.source, existing);
        if (best.isNull() || close > bestCloseness
            || (close == bestCloseness && isOlder(claim.source, best))) {
            best = claim.source;
            bestCloseness = close;
        }
    }
    return best;
}

bool Claims::wants(const Claim &claim, const QString &namespaceName) const
{
    return namespaceName != claim.key.namespaceName && !m_denied.matches(namespaceName)
        && claim.patterns.matches(namespaceName);
}

} // namespace replicator
