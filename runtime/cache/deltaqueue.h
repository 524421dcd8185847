// What stands between a reflector and a store. Contract:
//   - One producer side (the reflector) and one consumer.
//   - hasSynced() turns true once the first list was processed, and never back.
// RealFifo carries production; DeltaFifo is the classic of older releases. Source: BEHAVIOURS.md.
// Tests: tst_realfifo, tst_deltafifo.
#pragma once

#include "delta.h"

#include <davit/status.h>

#include <functional>

namespace davit::cache {

// Changes objects on their way in; must give the same when applied twice. An error drops the
// object, or fails the list it is in.
using Transform = std::function<Status(Object *)>;

// The producer's view: what a Reflector writes to.
class ReflectorStore
{
public:
    virtual ~ReflectorStore() = default;
    // An error means that nothing was taken in; the reflector logs it and goes on.
    virtual Status add(const Object &object) = 0;
    virtual Status update(const Object &object) = 0;
    virtual Status remove(const Object &object) = 0;
    // The whole list. An error ends the reflector's round.
    virtual Status replace(
        std::vector<Object> objects, const QString &resourceVersion, ListOrigin origin)
        = 0;
    virtual Status resync() = 0;
    virtual void bookmark(const QString &resourceVersion) = 0;
    // What the store applies on the way in, for temporary lists; null for nothing.
    virtual const Transform *transform() const { return nullptr; }
};

// A key of an object: namespace/name. Tests give functions that fail.
using KeyFunction = std::function<Status(const Object &, ObjectKey *)>;
// The usual one. InvalidArgument without a name: the error says what else is known (S-7).
Status keyByName(const Object &object, ObjectKey *key);

class DeltaQueue : public ReflectorStore
{
public:
    // [thread-safe]
    virtual bool hasSynced() const = 0;
    // Wakes whoever waits in a pop; entries that are left are still handed out.
    // [thread-safe]
    virtual void close() = 0;
};

} // namespace davit::cache
