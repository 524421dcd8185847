#include "resourceversion.h"

#include <optional>

namespace davit::cache {
namespace {

std::optional<quint64> decimal(const QString &text)
{
    if (text.isEmpty() || !text.at(0).isDigit() || (text.size() > 1 && text.at(0) == u'0'))
        return std::nullopt;
    bool isNumber = false;
    const quint64 number = text.toULongLong(&isNumber, 10);
    return isNumber ? std::optional(number) : std::nullopt;
}

Value metadata(const Object &object, QLatin1StringView member)
{
    return object[QLatin1StringView("metadata")][member];
}

} // namespace

std::partial_ordering compareVersions(const QString &a, const QString &b)
{
    if (a == b)
        return std::partial_ordering::equivalent;
    const auto left = decimal(a);
    const auto right = decimal(b);
    if (!left || !right)
        return std::partial_ordering::unordered;
    return *left <=> *right;
}

bool hasReached(const QString &version, const QString &wanted)
{
    return compareVersions(version, wanted) >= 0;
}

bool isOlderState(const Object &candidate, const Object &known)
{
    return haveSameUid(candidate, known)
        && compareVersions(candidate.resourceVersion(), known.resourceVersion()) < 0;
}

bool haveSameVersion(const Object &a, const Object &b)
{
    const QLatin1StringView member("resourceVersion");
    return metadata(a, member) == metadata(b, member);
}

bool haveSameUid(const Object &a, const Object &b)
{
    const Value left = metadata(a, QLatin1StringView("uid"));
    const Value right = metadata(b, QLatin1StringView("uid"));
    return left.isMissing() || right.isMissing() || left == right;
}

} // namespace davit::cache
