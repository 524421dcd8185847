#include "provenance.h"

#include <davit/objectbuilder.h>

#include <QtCore/qcryptographichash.h>
#include <array>

namespace replicator {

using davit::Object;
using davit::ObjectBuilder;
using namespace Qt::StringLiterals;

namespace {

constexpr std::array kContent = {"data"_L1, "binaryData"_L1, "type"_L1};

// An absent map and an empty one are the same content.
bool isSamePart(const davit::Value &a, const davit::Value &b)
{
    return a == b || (a.size() == 0 && b.size() == 0 && !a.isString() && !b.isString());
}

// Maps compare without regard to the order of their members.
bool isSameMap(const davit::Value &a, const davit::Value &b)
{
    if (isSamePart(a, b))
        return true;
    if (!a.isObject() || !b.isObject() || a.size() != b.size())
        return false;
    for (qsizetype i = 0; i < a.size(); ++i)
        if (b[a.nameAt(i)] != a.at(i))
            return false;
    return true;
}

bool isSameContent(const Object &source, const Object &copy)
{
    for (const QLatin1StringView part : kContent)
        if (!isSameMap(source[part], copy[part]))
            return false;
    return true;
}

bool hasRightLabel(const Object &object)
{
    return !object.namespaceName().isEmpty() && object.label(kCopyLabel) == object.namespaceName();
}

bool hasRightCopiedTo(const Object &object)
{
    return object.annotation(kCopiedTo) == toString(object.key());
}

// A copy has the name of its source.
bool hasRightCopiedFrom(const Object &object)
{
    davit::ObjectKey from;
    return davit::parseObjectKey(object.annotation(kCopiedFrom), &from).isOk()
        && !from.namespaceName.isEmpty() && from.name == object.name();
}

} // namespace

bool isCopy(const Object &object)
{
    return int(hasRightLabel(object)) + int(hasRightCopiedTo(object))
        + int(hasRightCopiedFrom(object))
        >= 2;
}

bool hasUidOf(const Object &source, const Object &object)
{
    return !source.uid().isEmpty() && object.annotation(kSourceUid) == source.uid();
}

bool isNamedAfter(const Object &source, const Object &object)
{
    return object.annotation(kCopiedFrom) == toString(source.key());
}

bool isSource(const Object &object)
{
    return object.hasAnnotation(kToNamespaces) && !object.isBeingDeleted() && !isCopy(object);
}

bool isCopyable(const Object &source)
{
    return !source["type"_L1].equals("kubernetes.io/service-account-token"_L1);
}

Object copyFor(const Object &source, const QString &namespaceName, const Object &existing)
{
    const davit::ObjectKey key{namespaceName, source.name()};
    std::unique_ptr<ObjectBuilder> builder = existing.isNull()
        ? std::make_unique<ObjectBuilder>(source.gvk(), key)
        : std::make_unique<ObjectBuilder>(existing);
    for (const QLatin1StringView part : kContent)
        builder->set({QString(part)}, source[part]);
    builder->set({u"immutable"_s}, source["immutable"_L1]);
    builder->setLabel(kCopyLabel, namespaceName);
    builder->setAnnotation(kCopiedTo, toString(key));
    builder->setAnnotation(kCopiedFrom, toString(source.key()));
    builder->setAnnotation(kSourceUid, source.uid());
    return builder->build();
}

bool isEqualCopy(const Object &source, const Object &copy)
{
    return isSameContent(source, copy)
        && source["immutable"_L1].toBool() == copy["immutable"_L1].toBool() && hasRightLabel(copy)
        && hasRightCopiedTo(copy) && isNamedAfter(source, copy) && hasUidOf(source, copy);
}

bool isChangeable(const Object &source, const Object &copy)
{
    if (source["type"_L1].toString() != copy["type"_L1].toString())
        return false; // a Secret keeps its type for life
    return !copy["immutable"_L1].toBool()
        || (source["immutable"_L1].toBool() && isSameContent(source, copy));
}

QByteArray contentDigest(const Object &source)
{
    QCryptographicHash hash(QCryptographicHash::Sha256);
    for (const QLatin1StringView part : kContent)
        hash.addData(source[part].toJson() + '\n');
    hash.addData(source["immutable"_L1].toJson());
    return hash.result();
}

} // namespace replicator
