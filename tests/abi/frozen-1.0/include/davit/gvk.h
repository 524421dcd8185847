// Group, version and kind: which type of object. The core group is empty.
#pragma once

#include <QtCore/qhashfunctions.h>
#include <QtCore/qmetatype.h>
#include <QtCore/qstring.h>
#include <davit/global.h>

DAVIT_BEGIN_NAMESPACE
// ABI: frozen
struct Gvk
{
    QString group; // "" for the core group, "apps", "demo.example"
    QString version; // "v1"
    QString kind; // "ConfigMap"
};

// "v1" or "apps/v1". [thread-safe]
DAVIT_EXPORT QString apiVersion(const Gvk &gvk);
// From "apps/v1" and "Deployment". [thread-safe]
DAVIT_EXPORT Gvk gvkFrom(QStringView apiVersion, QStringView kind);
// "v1 ConfigMap", "apps/v1 Deployment": the form of messages and logs. [thread-safe]
DAVIT_EXPORT QString toString(const Gvk &gvk);

inline bool operator==(const Gvk &a, const Gvk &b)
{
    return a.kind == b.kind && a.group == b.group && a.version == b.version;
}
inline bool operator!=(const Gvk &a, const Gvk &b)
{
    return !(a == b);
}
inline size_t qHash(const Gvk &gvk, size_t seed = 0)
{
    return qHashMulti(seed, gvk.group, gvk.version, gvk.kind);
}
DAVIT_END_NAMESPACE
Q_DECLARE_METATYPE(davit::Gvk)
