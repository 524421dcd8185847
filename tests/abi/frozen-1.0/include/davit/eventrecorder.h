// Kubernetes Events about an object, for the people who run "kubectl describe". Contract:
//   - Never blocks, never fails: what the server refuses is logged. Equal events are counted,
//   floods are dropped (E-8 to E-10). 1000 wait at most for a server that is slow; what comes then
//   is dropped and counted in davit_plugin_events_dropped_total, the first with a log line.
//   - The plugin's Rbac needs create and patch on events.
// Source: BEHAVIOURS.md. Test: tst_pluginevents.
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

    // `reason` is one CamelCase word ("TargetNotOurs"), `note` one line; it ends at 1024 bytes.
    // [thread-safe]
    void record(const Object &regarding, EventSeverity severity, const QString &reason,
        const QString &note) const;

private:
    priv::EventBackend *d; // shared
};
DAVIT_END_NAMESPACE
