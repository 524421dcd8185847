// What a reflector tells the consumer, one entry a change. Source: BEHAVIOURS.md. Test:
// tst_realfifo.
#pragma once

#include <davit/object.h>

#include <memory>
#include <vector>

namespace davit::cache {

enum class DeltaType : quint8 {
    Unset = 0,
    Added, // object
    Updated, // object
    Deleted, // object as received, or a tombstone
    Replaced, // object; item by item
    ReplacedAll, // a whole list; atomic
    Sync, // object; item by item
    SyncAll, // nothing; atomic
    Bookmark // a version only
};

// How a list may be believed when it is behind what was seen before.
enum class ListOrigin : quint8 {
    Unset = 0,
    Ordinary, // the server may have answered from the past: known newer states stay (B14)
    Consistent // at least as new as all that is known: what is older in it went back on the server
};

struct Delta
{
    DeltaType type = DeltaType::Unset;
    // The deletion was inferred, not observed: a tombstone. `object` may be stale, or null.
    bool isFinalStateUnknown = false;
    ListOrigin origin = ListOrigin::Ordinary;
    ObjectKey key; // empty for ReplacedAll, SyncAll, Bookmark
    Object object;
    QString resourceVersion; // ReplacedAll, Bookmark
    std::shared_ptr<const std::vector<Object>> items; // ReplacedAll
};

// "Added" and so on; for logs and tests.
QLatin1StringView deltaTypeName(DeltaType type);

} // namespace davit::cache
