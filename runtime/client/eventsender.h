// Sends what is told of events. Contract:
//   - tell() never blocks: 1000 events wait at most, what is more is dropped and counted, and the
//   first loss is logged (E-1).
//   - One request at a time, in order. Only broken connections are tried again, 12 times (E-5,
//   E-14). When what is patched has gone, the event is made anew (E-6).
//   - What time brings to a series waits behind what was told; a timer runs while a series or a
//   single event of events.k8s.io is remembered, and not else (E-13).
//   - A Warning is a warning in the log as well, when its Event is new; one that is counted up, or
//   dropped as spam, is not told again.
//   - What the server or the plugin's Rbac refuses is logged, a repeated refusal once.
// Test: tst_pluginevents, tst_serieseventform.
#pragma once

#include "coreeventform.h"
#include "pluginclient.h"
#include "serieseventform.h"

#include <QtCore/qset.h>
#include <deque>

namespace davit::client {

class EventSender : public std::enable_shared_from_this<EventSender>
{
public:
    static constexpr size_t kMaxQueued = 1000;

    // Borrowed: they outlive the works that the sender posted.
    EventSender(const ClientIdentity &identity, RestClient &rest, support::TimeSource &time,
        const Logger &log);
    ~EventSender();
    Q_DISABLE_COPY_MOVE(EventSender)

    // [thread-safe]
    void tell(ToldEvent event);
    // Takes no more events. `done` is called once, on the executor, when those that wait, and then
    // the series that grew, have been sent, or when `limit` has passed; events that are left then
    // are dropped and counted. Call it once. [thread-safe]
    void finish(std::chrono::nanoseconds limit, std::function<void()> done);
    // Drops what waits; later ones too. [thread-safe]
    void close();
    // Events dropped because the queue was full, or its end came first. [thread-safe]
    quint64 droppedEvents() const;

private:
    enum class Phase : quint8 { Open, Finishing, Closed };
    struct Sending
    {
        EventForm *form;
        EventWrite write;
        bool isTold = false; // else it is of a series whose events were told before
        int tries = 0;
    };

    void next();
    bool dropIfClosed();
    bool takeTold(ToldEvent *told);
    void form(const ToldEvent &told);
    void formDue();
    bool rest();
    void wakeWhenDue();
    void wake();
    void retry();
    void send(const std::shared_ptr<Sending> &sending);
    Status prepare(const Sending &sending, Call *call) const;
    void answered(const std::shared_ptr<Sending> &sending, const RawReply &reply);
    void countDropped(quint64 events);
    void logWarning(const ToldEvent &told) const;
    void logRefusal(const Error &error);

    const ClientIdentity m_identity;
    RestClient &m_rest;
    support::TimeSource &m_time;
    const Logger m_log;
    mutable std::mutex m_mutex;
    std::deque<ToldEvent> m_queue; // GUARDED_BY(m_mutex)
    bool m_isBusy = false; // GUARDED_BY(m_mutex)
    Phase m_phase = Phase::Open; // GUARDED_BY(m_mutex)
    std::function<void()> m_finished; // GUARDED_BY(m_mutex); told once
    support::TimeSource::TimerId m_limitTimer = 0; // GUARDED_BY(m_mutex)
    support::TimeSource::TimerId m_dueTimer = 0; // GUARDED_BY(m_mutex); 0: no series to look after
    support::TimeSource::TimerId m_retryTimer = 0; // GUARDED_BY(m_mutex)
    std::shared_ptr<Sending> m_tryingAgain; // GUARDED_BY(m_mutex); waits for that timer
    quint64 m_dropped = 0; // GUARDED_BY(m_mutex)
    CoreEventForm m_core; // confined to the executor, as all that follows
    SeriesEventForm m_series;
    bool m_isEnding = false; // the series are
    std::deque<std::shared_ptr<Sending>> m_ready;
    QSet<QString> m_refusals;
};

} // namespace davit::client
