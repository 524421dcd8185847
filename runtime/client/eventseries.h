// Decides what is written of the events of one recorder in events.k8s.io/v1. Contract:
//   - Events are equal when type, action, reason, regarding and related are; the note does not
//   count, nor do the versions of the objects. Controller and instance are the recorder's (E-11).
//   - The first one is created, with the second one it becomes a series of 2; of later ones the
//   count alone grows here (E-12).
//   - Every 30 minutes each series is written with its count. Every 6 minutes those without an
//   event for 6 minutes are written for the last time and forgotten; single events too, without a
//   write (E-13).
//   - The 4096 keys that had an event last are remembered; a series that has to go before its time
//   is written for the last time.
// Source: client-go tools/events, BEHAVIOURS.md. Not thread-safe. Test: tst_eventseries.
#pragma once

#include "eventform.h"
#include "recentmap.h"

#include <deque>
#include <optional>

namespace davit::client {

struct SeriesWrite
{
    ToldEvent first; // the one that made the Event
    qint64 count = 1; // 1: it is to be created; more: the series is to be patched in
    std::chrono::nanoseconds lastTime{0}; // UTC, of the newest
};

class EventSeries
{
public:
    static constexpr size_t kMaxKeys = 4096;

    EventSeries();
    // What is to be written now, in this order.
    std::vector<SeriesWrite> told(const ToldEvent &event);
    // The next write that time has brought; nothing when none is left. `monotonic` is now.
    std::optional<SeriesWrite> due(std::chrono::nanoseconds monotonic);
    // When to ask due() again; nothing while nothing is remembered.
    std::optional<std::chrono::nanoseconds> nextDue() const;
    // From now on due() gives each series whose count has grown since it was written, and forgets.
    void end();
    size_t size() const { return m_known.size(); }

private:
    struct Known
    {
        ToldEvent first;
        qint64 count = 0;
        qint64 writtenCount = 0;
        std::chrono::nanoseconds lastTime{0};
        std::chrono::nanoseconds lastMonotonic{0};
    };

    void tick(std::chrono::nanoseconds monotonic);
    std::optional<SeriesWrite> ended();
    std::optional<SeriesWrite> heartbeat();
    static SeriesWrite write(Known &known);

    RecentMap<Known> m_known; // the order is that of the newest events
    std::deque<QString> m_heartbeats; // keys whose series is to be written
    std::chrono::nanoseconds m_endedUntil = std::chrono::nanoseconds::min(); // of lastMonotonic
    std::chrono::nanoseconds m_nextEnd{0}; // both count while something is remembered
    std::chrono::nanoseconds m_nextHeartbeat{0};
    bool m_isEnding = false;
};

} // namespace davit::client
