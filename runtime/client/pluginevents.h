// Writes a plugin's Kubernetes Events. Behind davit::EventRecorder, whose contract it keeps.
// Contract:
//   - record() never blocks: 1000 events wait at most, what is more is dropped and counted, and
//   the first loss is logged (E-1).
//   - One request at a time, in order. Only broken connections are tried again, 12 times, 10 s
//   apart (E-5).
//   - What is counted up is patched; when the event is gone it is made anew (E-6).
//   - A Warning is a warning in the log as well, when its Event is new; one that is counted up, or
//   dropped as spam, is not told again.
//   - What the server or the plugin's Rbac refuses is logged, a repeated refusal once.
//   - Without a valid permit nothing is recorded: another process leads and tells it.
//   - finish() sends what waits, for a bounded time; close() drops it.
// Source: BEHAVIOURS.md. Test: tst_pluginevents.
#pragma once

#include "pluginclient.h"

namespace davit::client {

class PluginEvents final : public priv::EventBackend
{
public:
    static constexpr size_t kMaxQueued = 1000;

    // Borrowed: they outlive the works that the recorder posted.
    PluginEvents(const ClientIdentity &identity, RestClient &rest, support::TimeSource &time,
        const Logger &log);

    void record(const Object &regarding, EventSeverity severity, const QString &reason,
        const QString &note) noexcept override;
    // Takes no more events. `done` is called once, on the executor, when those that wait have been
    // sent or when `limit` has passed; what is left then is dropped and counted. Call it once.
    // [thread-safe]
    void finish(std::chrono::nanoseconds limit, std::function<void()> done);
    // Drops what waits; later ones too. [thread-safe]
    void close();
    // Events dropped because the queue was full, or its end came first. [thread-safe]
    quint64 droppedEvents() const;

private:
    ~PluginEvents() override;

    class Core;
    const std::shared_ptr<Core> m_core;
};

} // namespace davit::client
