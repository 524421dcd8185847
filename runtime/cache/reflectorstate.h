// What a reflector is doing, for probes, metrics and logs. Plain values, copied under the
// reflector's lock: [thread-safe] as such. Test: tst_reflector, progress.
#pragma once

#include <davit/error.h>

#include <chrono>

namespace davit::cache {

enum class ReflectorPhase : quint8 {
    Unset = 0, // not started
    Listing,
    StreamingList,
    Watching,
    BackingOff,
    Stopped
};

// How far the fill of the cache has come; of the last one when none runs.
struct SyncProgress
{
    qint64 objects = 0;
    qint64 bytes = 0;
    qint64 remainingItemCount = -1; // -1: the server did not say
    std::chrono::nanoseconds elapsed{0}; // of the first fill with all its failed attempts
};

struct ReflectorState
{
    ReflectorPhase phase = ReflectorPhase::Unset;
    SyncProgress progress;
    QString resourceVersion; // the next watch starts here
    SyncProgress lastFill; // of the last fill that ended well
    Error lastError; // of the last attempt that failed; unset again after a fill, or an open watch
    quint64 fills = 0; // lists and streaming lists that ended well; more than one: relists
    quint64 listRequests = 0;
    quint64 watchRequests = 0;
    quint64 failedRounds = 0;
    quint64 events = 0; // counted watch events
    quint64 skippedEvents = 0; // of another kind, or refused by the store
    quint64 comparisons = 0; // fills that were checked (1.8)
    quint64 differences = 0; // objects that were not as the server said
};

} // namespace davit::cache
