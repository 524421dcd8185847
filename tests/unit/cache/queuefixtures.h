// What the tests of both queues share.
#pragma once

#include "fakes.h"

namespace fakes {

// What the consumer of a queue holds, written by hand.
class Known final : public cache::KnownObjects
{
public:
    std::vector<Object> objects;
    QString lost; // name of one whose key is told, and which is not found
    std::vector<ObjectKey> keys() const override
    {
        std::vector<ObjectKey> all;
        for (const Object &object : objects)
            all.push_back(object.key());
        return all;
    }
    Object find(const ObjectKey &key) const override
    {
        for (const Object &object : objects) {
            if (object.key() == key && object.name() != lost)
                return object;
        }
        return {};
    }
};

// "A foo@2", "D T(foo, foo@2)", "RA[a b]@7".
inline QString deltaText(const cache::Delta &delta)
{
    switch (delta.type) {
    case cache::DeltaType::ReplacedAll: {
        QStringList items;
        for (const Object &object : *delta.items)
            items += text(object);
        return QStringLiteral("RA[%1]@%2").arg(items.join(u' '), delta.resourceVersion);
    }
    case cache::DeltaType::SyncAll:
        return QStringLiteral("SA");
    case cache::DeltaType::Bookmark:
        return QStringLiteral("B ") + delta.resourceVersion;
    default:
        break;
    }
    const QString object = delta.isFinalStateUnknown
        ? QStringLiteral("T(%1, %2)")
              .arg(toString(delta.key),
                  delta.object.isNull() ? QStringLiteral("null") : text(delta.object))
        : text(delta.object);
    return cache::deltaTypeName(delta.type).first(1) + u' ' + object;
}

} // namespace fakes
