// Owner references: what is deleted with whom, and who controls what. Contract: the object's handle
// that you pass is changed, nothing is sent; on an error it is as before.
// Source: Kubernetes "Owners and Dependents"; controller-runtime's controllerutil (BEHAVIOURS.md
// E-17 to E-21). Test: tst_objectchanges.
#pragma once

#include <davit/object.h>

DAVIT_BEGIN_NAMESPACE
// Makes `owner` the one controller of the object: its changes reach the controller that owns(), and
// the garbage collector deletes the object after it. A reference of the same owner (group, kind and
// name; version and uid may differ) is replaced in place. Errors: AlreadyOwned when another one
// controls it, InvalidArgument when the scopes do not fit (E-19) or the owner has no uid, kind or
// name. [thread-safe]
DAVIT_EXPORT Status setControllerReference(const Object &owner, Object *object);
// The same without controlling: any number of owners is fine. [thread-safe]
DAVIT_EXPORT Status setOwnerReference(const Object &owner, Object *object);
// NotFound when there is no reference to that owner. [thread-safe]
DAVIT_EXPORT Status removeOwnerReference(const Object &owner, Object *object);
// The same, and InvalidArgument when the reference is not the controlling one. [thread-safe]
DAVIT_EXPORT Status removeControllerReference(const Object &owner, Object *object);
// By group, kind and name. [thread-safe]
DAVIT_EXPORT bool hasOwnerReference(const Object &owner, const Object &object);
// The first reference that says controller: true; Missing without. [thread-safe]
DAVIT_EXPORT Value controllerOf(const Object &object);
// By uid alone. [thread-safe]
DAVIT_EXPORT bool isControlledBy(const Object &owner, const Object &object);
DAVIT_END_NAMESPACE
