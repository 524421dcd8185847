// An exchange that begins on another transport after a delay, or ends without having begun: what a
// transport makes of a request that has to wait. Contract: as transport.h; nothing is sent when it
// is let go while it waits. Test: tst_ratelimitedtransport, tst_backofftransport.
#pragma once

#include "transport.h"

#include <support/timesource.h>

#include <functional>

namespace davit::transport {

class DelayedExchange final : public Exchange
{
public:
    using Nanoseconds = support::TimeSource::Nanoseconds;

    // The delay counts into the request's total deadline. `onLetGo` is called when it is let go
    // while it waits; may be empty. `inner` and `time` outlive it. [thread-safe]
    DelayedExchange(Transport &inner, support::TimeSource &time, const Request &request,
        support::Executor &executor, ResponseSink &sink, Nanoseconds delay,
        std::function<void()> onLetGo = {});
    ~DelayedExchange() override;
    Q_DISABLE_COPY_MOVE(DelayedExchange)

    // One that ends with this error. [thread-safe]
    static std::unique_ptr<Exchange> refused(
        const Error &error, support::Executor &executor, ResponseSink &sink);

private:
    class Waiting;
    class Refused;

    const std::shared_ptr<Waiting> m_waiting;
};

} // namespace davit::transport
