#include "timesource.h"

#include "moment.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

namespace davit::support {
namespace {

class SystemTimeSource final : public TimeSource
{
public:
    Nanoseconds monotonic() const override
    {
        return std::chrono::steady_clock::now().time_since_epoch();
    }

    Nanoseconds utc() const override
    {
        return std::chrono::duration_cast<Nanoseconds>(
            std::chrono::system_clock::now().time_since_epoch());
    }

    TimerId callAfter(Nanoseconds delay, Executor &executor, Executor::Work work) override
    {
        const std::lock_guard lock(m_mutex);
        if (!m_started) {
            m_started = true;
            std::thread([this] { run(); }).detach(); // the instance is never destroyed
        }
        const TimerId id = ++m_lastId;
        const auto at = m_timers.emplace(
            momentAfter(monotonic(), delay), Timer{id, &executor, std::move(work)});
        m_byId.emplace(id, at);
        if (at == m_timers.begin())
            m_wake.notify_one();
        return id;
    }

    void cancel(TimerId id) override
    {
        Executor::Work dropped; // destroyed outside the lock
        const std::lock_guard lock(m_mutex);
        const auto found = m_byId.find(id);
        if (found == m_byId.end())
            return;
        dropped = std::move(found->second->second.work);
        m_timers.erase(found->second);
        m_byId.erase(found);
    }

private:
    struct Timer
    {
        TimerId id;
        Executor *executor;
        Executor::Work work;
    };
    using Timers = std::multimap<Nanoseconds, Timer>;

    void run()
    {
        std::unique_lock lock(m_mutex);
        for (;;) {
            if (m_timers.empty()) {
                m_wake.wait(lock);
                continue;
            }
            const auto first = m_timers.begin();
            if (const Nanoseconds moment = first->first; moment > monotonic()) {
                // Not wait_for(), whose own sum may not fit.
                m_wake.wait_until(lock, std::chrono::steady_clock::time_point(moment));
                continue;
            }
            Timer due = std::move(first->second);
            m_byId.erase(due.id);
            m_timers.erase(first);
            // post() under the lock: cancel() returning means that the executor is not touched any
            // more.
            due.executor->post(std::move(due.work));
        }
    }

    std::mutex m_mutex;
    std::condition_variable m_wake;
    Timers m_timers; // GUARDED_BY(m_mutex)
    std::unordered_map<TimerId, Timers::iterator> m_byId; // GUARDED_BY(m_mutex)
    TimerId m_lastId = 0; // GUARDED_BY(m_mutex)
    bool m_started = false; // GUARDED_BY(m_mutex)
};

} // namespace

TimeSource &systemTimeSource()
{
    static SystemTimeSource *const instance = new SystemTimeSource; // its thread outlives main()
    return *instance;
}

} // namespace davit::support
