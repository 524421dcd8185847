// Namespace and name of an object. Its text form is "namespace/name", or "name" alone for what has
// no namespace. Source: client-go's meta-namespace key (BEHAVIOURS.md). Test: tst_objectkey.
#pragma once

#include <QtCore/qhashfunctions.h>
#include <QtCore/qmetatype.h>
#include <QtCore/qstring.h>
#include <davit/result.h>

DAVIT_BEGIN_NAMESPACE
// ABI: frozen
struct ObjectKey
{
    QString namespaceName; // empty for cluster scope
    QString name;
};

// "namespace/name" or "name". [thread-safe]
DAVIT_EXPORT QString toString(const ObjectKey &key);
// Fills `key` from "a" or "a/b"; an error for three or more parts. Empty parts are accepted, as
// client-go does. [thread-safe]
DAVIT_EXPORT Status parseObjectKey(QStringView text, ObjectKey *key);

inline bool operator==(const ObjectKey &a, const ObjectKey &b)
{
    return a.name == b.name && a.namespaceName == b.namespaceName;
}
inline bool operator!=(const ObjectKey &a, const ObjectKey &b)
{
    return !(a == b);
}
inline size_t qHash(const ObjectKey &key, size_t seed = 0)
{
    return qHashMulti(seed, key.namespaceName, key.name);
}
DAVIT_END_NAMESPACE
Q_DECLARE_METATYPE(davit::ObjectKey)
