#include "delayedexchange.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace davit::transport {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

// The mutex is for the owner, who may let go on any thread.
class DelayedExchange::Waiting : public std::enable_shared_from_this<Waiting>
{
public:
    Waiting(Transport &inner, support::TimeSource &time, const Request &request,
        support::Executor &executor, ResponseSink &sink, std::function<void()> onLetGo)
        : m_inner(inner)
        , m_time(time)
        , m_executor(executor)
        , m_sink(sink)
        , m_onLetGo(std::move(onLetGo))
        , m_request(request)
    { }

    void wait(Nanoseconds delay)
    {
        if (m_request.totalDeadline.count() > 0)
            m_request.totalDeadline = std::max(
                m_request.totalDeadline - duration_cast<milliseconds>(delay), milliseconds(1));
        const std::lock_guard lock(m_mutex);
        m_timer
            = m_time.callAfter(delay, m_executor, [self = shared_from_this()] { self->send(); });
    }
    void close()
    {
        std::unique_ptr<Exchange> last; // its end waits for a callback
        {
            const std::lock_guard lock(m_mutex);
            m_isClosed = true;
            last = std::move(m_exchange);
            if (m_timer == 0)
                return;
            m_time.cancel(std::exchange(m_timer, 0)); // its executor need not live longer
        }
        if (m_onLetGo)
            m_onLetGo();
    }

private:
    void send()
    {
        const std::lock_guard lock(m_mutex);
        if (m_isClosed)
            return;
        m_timer = 0;
        m_exchange = m_inner.start(m_request, m_executor, m_sink);
    }

    Transport &m_inner;
    support::TimeSource &m_time;
    support::Executor &m_executor;
    ResponseSink &m_sink;
    const std::function<void()> m_onLetGo;
    Request m_request;
    std::mutex m_mutex;
    std::unique_ptr<Exchange> m_exchange; // GUARDED_BY(m_mutex)
    support::TimeSource::TimerId m_timer = 0; // GUARDED_BY(m_mutex)
    bool m_isClosed = false; // GUARDED_BY(m_mutex)
};

class DelayedExchange::Refused final : public Exchange
{
public:
    Refused(const Error &error, support::Executor &executor, ResponseSink &sink)
        : m_isOpen(std::make_shared<std::atomic<bool>>(true))
    {
        executor.post([isOpen = m_isOpen, error, &sink] {
            if (*isOpen)
                sink.onFinished(error);
        });
    }
    ~Refused() override { *m_isOpen = false; }

private:
    const std::shared_ptr<std::atomic<bool>> m_isOpen;
};

DelayedExchange::DelayedExchange(Transport &inner, support::TimeSource &time,
    const Request &request, support::Executor &executor, ResponseSink &sink, Nanoseconds delay,
    std::function<void()> onLetGo)
    : m_waiting(std::make_shared<Waiting>(inner, time, request, executor, sink, std::move(onLetGo)))
{
    m_waiting->wait(delay);
}

DelayedExchange::~DelayedExchange()
{
    m_waiting->close();
}

std::unique_ptr<Exchange> DelayedExchange::refused(
    const Error &error, support::Executor &executor, ResponseSink &sink)
{
    return std::make_unique<Refused>(error, executor, sink);
}

} // namespace davit::transport
