// The entries of status.conditions. Contract: objects are values, so a change is made to the handle
// that you pass; nothing is sent. A list that is absent or null has no entries.
// Source: Kubernetes API conventions, "Typical status properties"; apimachinery's meta/conditions
// (BEHAVIOURS.md E-35 to E-42). Test: tst_objectchanges.
#pragma once

#include <davit/clock.h>
#include <davit/object.h>

DAVIT_BEGIN_NAMESPACE
// ABI: frozen
struct Condition
{
    QString type; // "Ready"
    QString status; // "True", "False" or "Unknown"
    QString reason; // one word in CamelCase
    QString message; // for people
    qint64 observedGeneration = 0; // 0: not written
    QDateTime lastTransitionTime{}; // invalid: now, when the status changes
};

// Adds or changes the entry of that type. True when anything changed. The time is written when the
// status differs from the one that is there, and kept otherwise, even if one is given. Members of
// the entry that Condition does not know stay. No effect on the null object. [thread-safe]
DAVIT_EXPORT bool setStatusCondition(
    Object *object, const Condition &condition, const Clock &clock = {});
// The entry as it stands, Missing when there is none. O(conditions). [thread-safe]
DAVIT_EXPORT Value findStatusCondition(const Object &object, const QString &type);
// Drops every entry of the type; the others keep their order. True when there was one.
// [thread-safe]
DAVIT_EXPORT bool removeStatusCondition(Object *object, const QString &type);
// False when there is none; "Unknown" is neither true nor false. [thread-safe]
DAVIT_EXPORT bool isStatusConditionTrue(const Object &object, const QString &type);
DAVIT_EXPORT bool isStatusConditionFalse(const Object &object, const QString &type);
DAVIT_END_NAMESPACE
