// Decides what becomes of an event that a plugin tells: written as new, counted up, or dropped.
// Contract, in this order (E-7 to E-10):
//   - aggregate: from the 10th distinct message of one group (source, object, type, reason) on, the
//   messages are one event;
//   - count: an event that was seen is counted up instead of written anew;
//   - spam: 25 events an object and type at once, then one in 300 s; what is more is dropped, but
//   counted.
// Each part remembers the 4096 keys used last. Source: client-go tools/record, BEHAVIOURS.md.
// Not thread-safe. Test: tst_pluginevents (T95 to T97).
#pragma once

#include "recentmap.h"

#include <chrono>
#include <optional>
#include <set>

namespace davit::client {

// What makes two events of a source alike.
struct EventIdentity
{
    QString involved; // namespace, kind, name, uid and version of the object, joined
    QString type; // "Normal", "Warning"
    QString reason;
};

struct CorrelatedEvent
{
    QString message; // with a prefix when several were combined
    qint64 count = 1;
    QString name; // of the event object; that of the first when it is counted up
    std::chrono::nanoseconds firstTime{0}; // UTC
    bool isPatch = false; // counted up: patch the event that is there
};

class EventCorrelator
{
public:
    static constexpr size_t kMaxKeys = 4096;

    EventCorrelator();
    // `name` is what a new event object is called; `utc` the time now. Nothing when the event is
    // dropped.
    std::optional<CorrelatedEvent> correlate(const EventIdentity &identity, const QString &message,
        const QString &name, std::chrono::nanoseconds utc);

private:
    struct Group
    {
        std::set<QString> messages;
        std::chrono::nanoseconds lastTime{0};
    };
    struct Seen
    {
        qint64 count = 0;
        QString name;
        std::chrono::nanoseconds firstTime{0};
    };
    struct Tokens
    {
        bool isNew = true;
        double left = 0;
        std::chrono::nanoseconds countedAt{0};
    };

    bool takeToken(const QString &key, std::chrono::nanoseconds utc);

    RecentMap<Group> m_groups;
    RecentMap<Seen> m_seen;
    RecentMap<Tokens> m_tokens;
};

} // namespace davit::client
