// The simplest target of a reflector: keeps the newest state of each object, and hands the whole
// list to a function after each change. For few objects. Contract:
//   - The function is called inside the change, on the reflector's strand; the order of the list
//   means nothing.
//   - Resync and bookmarks change nothing and tell nothing.
// Source: BEHAVIOURS.md (S-13). Test: tst_othercaches.
#pragma once

#include "deltaqueue.h"
#include "objecttrie.h"

namespace davit::cache {

class UndeltaStore final : public ReflectorStore
{
public:
    using Push = std::function<void(const QList<Object> &all)>; // [cache-thread]
    explicit UndeltaStore(Push push) : m_push(std::move(push)) { }

    // [cache-thread]
    Status add(const Object &object) override { return put(object); }
    Status update(const Object &object) override { return put(object); }
    Status remove(const Object &object) override;
    Status replace(
        std::vector<Object> objects, const QString &resourceVersion, ListOrigin origin) override;
    Status resync() override { return Status::ok(); }
    void bookmark(const QString &) override { }

private:
    Status put(const Object &object);
    Status push();

    const Push m_push;
    ObjectTrie m_objects; // thread-confined: the reflector's strand
};

} // namespace davit::cache
