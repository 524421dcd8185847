// Keeps what goes to the server below a rate, off unless asked for: the server's own priority and
// fairness is the better judge. Contract, by channel:
//   - Call, List: one token each, in the order in which they came; each try of a RetryingTransport
//   in front of it takes one.
//   - Lease: at once, whatever waits, and without a token: a renewal is never behind patches.
//   Watch: at once, since its opener has delays of its own (C-4).
//   - A request whose deadline would pass while it waits ends with Timeout at once; nothing was
//   sent, a write neither. One that is let go while it waits gives its token back (C-6).
// Source: BEHAVIOURS.md (C-1 to C-6). Test: tst_ratelimitedtransport.
#pragma once

#include "transport.h"

#include <support/timesource.h>

#include <functional>
#include <mutex>

namespace davit::transport {

struct RateLimit
{
    double requestsPerSecond = 0; // not positive: no limit
    int burst = 1; // so many at once after a pause; at least 1
    // A request is going to wait so long. On the thread that starts it; may be empty.
    std::function<void(const Request &, std::chrono::nanoseconds)> onWait;
};

class RateLimitedTransport final : public Transport
{
public:
    // `time` is borrowed and outlives the transport and its exchanges.
    RateLimitedTransport(
        std::unique_ptr<Transport> inner, support::TimeSource &time, RateLimit limit);
    ~RateLimitedTransport() override;
    Q_DISABLE_COPY_MOVE(RateLimitedTransport)

    std::unique_ptr<Exchange> start(
        const Request &request, support::Executor &executor, ResponseSink &sink) override;
    QString serverName() const override { return m_inner->serverName(); }

private:
    using Nanoseconds = support::TimeSource::Nanoseconds;

    // How long a request waits for its token; below zero when that is longer than `longest`, and
    // then it has none.
    Nanoseconds take(Nanoseconds longest);
    void giveBack();
    Error tooLate(const Request &request) const;

    const std::unique_ptr<Transport> m_inner;
    support::TimeSource &m_time;
    const RateLimit m_limit;
    const Nanoseconds m_interval; // between two tokens
    std::mutex m_mutex;
    Nanoseconds m_full{0}; // when the bucket is full again; GUARDED_BY(m_mutex)
};

} // namespace davit::transport
