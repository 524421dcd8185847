// Tries again what the server asks to try again. Contract, by channel:
//   - Call, List: 429 and 503 with Retry-After, whatever the method, since the server says that it
//   did not execute them; other 5xx with Retry-After and a connection that broke before the head,
//   for GET only, the latter after 1 s. At most ten times (C-7 to C-9, C-11).
//   - Watch: passed on; the reflector has its own delays (B25). Lease: passed on; a late write is
//   no use (B45).
//   - never a write whose outcome is unknown. The total deadline covers all tries: when the wait
//   does not fit in, or is longer than kLongestWait where there is none, the refusal is passed on,
//   so that whoever asked can tell what it waits for.
// Davit decides otherwise than C-8: Retry-After as a date counts too. Test: tst_retryingtransport.
#pragma once

#include "transport.h"

#include <support/timesource.h>

namespace davit::transport {

class RetryingTransport final : public Transport
{
public:
    static constexpr int kMaxRetries = 10;
    static constexpr std::chrono::seconds kLongestWait{60}; // of one try without a total deadline

    // `time` is borrowed and outlives the transport and its exchanges.
    RetryingTransport(std::unique_ptr<Transport> inner, support::TimeSource &time);
    ~RetryingTransport() override;
    Q_DISABLE_COPY_MOVE(RetryingTransport)

    std::unique_ptr<Exchange> start(
        const Request &request, support::Executor &executor, ResponseSink &sink) override;
    QString serverName() const override { return m_inner->serverName(); }

private:
    const std::unique_ptr<Transport> m_inner;
    support::TimeSource &m_time;
};

} // namespace davit::transport
