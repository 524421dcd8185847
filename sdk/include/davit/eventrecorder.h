// Kubernetes Events about an object, for the people who run "kubectl describe". Contract:
//   - Never blocks, never fails: what the server refuses is logged. 1000 wait at most for a server
//   that is slow; what comes then is dropped and counted in davit_plugin_events_dropped_total, the
//   first with a log line.
//   - Without an action: an Event of core/v1, as recorders always wrote them. Equal ones are
//   counted, similar ones combined, floods dropped (E-8 to E-10). The plugin's Rbac needs create
//   and patch on events of the group "".
//   - With an action: an Event of events.k8s.io/v1, in which equal ones are a series: all but the
//   notes and the versions of the objects is the same, and the note of the first stays. The server
//   is told of the first one and of the second; of the count again each 30 minutes, when there was
//   none for 6 minutes, and at the end of the plugin (E-11 to E-14). The plugin's Rbac needs create
//   and patch on events of the group "events.k8s.io".
//   - Either kind is seen in both groups: kubectl describe and kubectl get events show it.
// Source: BEHAVIOURS.md. Test: tst_pluginevents, tst_eventseries, tst_serieseventform.
#pragma once

#include <davit/object.h>

DAVIT_BEGIN_NAMESPACE
enum class EventSeverity : quint8 { Unset = 0, Normal, Warning };

class DAVIT_EXPORT EventRecorder
{
public:
    // Drops everything.
    EventRecorder();
    EventRecorder(const EventRecorder &other);
    EventRecorder &operator=(const EventRecorder &other);
    ~EventRecorder();
    explicit EventRecorder(priv::EventBackend &backend); // host only; takes a reference of its own

    // `reason` is one CamelCase word ("TargetNotOurs"), `note` one line; it ends at 1024 bytes: the
    // server would refuse a longer one (E-15). [thread-safe]
    void record(const Object &regarding, EventSeverity severity, const QString &reason,
        const QString &note) const;
    // In the order of controller-runtime's Eventf. `action` is what was done or tried, one
    // CamelCase word ("Copying"); `reason` is why, or with what outcome ("Copied",
    // "TargetNotOurs"). Both have 1 to 128 characters: an empty one is logged and dropped here, a
    // longer one by the server. `related` is another object that plays a part, such as the copy;
    // null when there is none. [thread-safe]
    void record(const Object &regarding, const Object &related, EventSeverity severity,
        const QString &reason, const QString &action, const QString &note) const;

private:
    priv::EventBackend *d; // shared
};
DAVIT_END_NAMESPACE
