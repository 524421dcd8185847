// A plugin's Kubernetes Events. Behind davit::EventRecorder, whose contract it keeps. Contract:
//   - record() never blocks; what is told is sent by an EventSender, in the form of CoreEventForm,
//   or of SeriesEventForm when it has an action.
//   - Without a valid permit nothing is recorded: another process leads and tells it.
//   - finish() sends what waits, for a bounded time; close() drops it.
// Source: BEHAVIOURS.md. Test: tst_pluginevents, tst_serieseventform.
#pragma once

#include "pluginclient.h"

namespace davit::client {

class EventSender;
struct ToldEvent;

class PluginEvents final : public priv::EventBackend
{
public:
    // Borrowed: they outlive the works that the recorder posted.
    PluginEvents(const ClientIdentity &identity, RestClient &rest, support::TimeSource &time,
        const Logger &log);

    void record(const Object &regarding, EventSeverity severity, const QString &reason,
        const QString &note) noexcept override;
    void recordAction(const Object &regarding, const Object &related, EventSeverity severity,
        const QString &reason, const QString &action, const QString &note) noexcept override;
    // As EventSender's. [thread-safe]
    void finish(std::chrono::nanoseconds limit, std::function<void()> done);
    void close();
    quint64 droppedEvents() const;

private:
    ~PluginEvents() override;

    bool mayTell(const Object &regarding, EventSeverity severity, const QString &reason) const;
    ToldEvent told(const Object &regarding, EventSeverity severity, const QString &reason,
        const QString &note) const;

    const QString m_pluginId;
    const std::shared_ptr<const support::Permit> m_permit;
    support::TimeSource &m_time;
    const Logger m_log;
    const std::shared_ptr<EventSender> m_sender;
};

} // namespace davit::client
