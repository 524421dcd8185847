// Waits longer and longer before it asks a server that refuses or breaks what it is asked, off
// unless the environment asks for it (backoffenvironment.h).
// Contract, of the channels Call and List:
//   - An answer of 429 or above 499, and no answer, make the server's delay begin with the base or
//   double it, up to the longest; any other answer ends it. What was canceled counts for nothing.
//   - A try waits until the delay since the last fault is over; behind a RetryingTransport, that
//   and Retry-After run side by side (C-11).
//   - A delay that was not asked for in twice the longest is forgotten.
//   - A request whose deadline would pass while it waits ends with Timeout at once; nothing was
//   sent.
// Lease and Watch pass, and count for nothing: a renewal is never late for others' faults, and the
// reflector has delays of its own.
// Davit decides otherwise than client-go, where each try waits the whole delay however long ago
// the fault was, and where no answer ends the delay.
// Source: BEHAVIOURS.md, C-13. Test: tst_backofftransport.
#pragma once

#include "clusterconfig.h"
#include "transport.h"

#include <support/timesource.h>

#include <functional>
#include <mutex>

namespace davit::transport {

class BackoffTransport final : public Transport
{
public:
    // A request is going to wait so long. On the thread that starts it; may be empty.
    using OnWait = std::function<void(const Request &, std::chrono::nanoseconds)>;

    // `time` is borrowed and outlives the transport and its exchanges.
    BackoffTransport(std::unique_ptr<Transport> inner, support::TimeSource &time,
        const HostBackoff &backoff, OnWait onWait = {});
    ~BackoffTransport() override;
    Q_DISABLE_COPY_MOVE(BackoffTransport)

    std::unique_ptr<Exchange> start(
        const Request &request, support::Executor &executor, ResponseSink &sink) override;
    QString serverName() const override { return m_inner->serverName(); }

private:
    class Watched;
    using Nanoseconds = support::TimeSource::Nanoseconds;

    Nanoseconds wait() const;
    void failed();
    void worked();
    Error tooLate(const Request &request, Nanoseconds wait) const;

    const std::unique_ptr<Transport> m_inner;
    support::TimeSource &m_time;
    const HostBackoff m_backoff;
    const OnWait m_onWait;
    mutable std::mutex m_mutex;
    Nanoseconds m_delay{0}; // zero: none; GUARDED_BY(m_mutex)
    Nanoseconds m_failedAt{0}; // monotonic; GUARDED_BY(m_mutex)
};

} // namespace davit::transport
