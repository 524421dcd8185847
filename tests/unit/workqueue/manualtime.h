// Time and executor under the test's hand.
#pragma once

#include <map>
#include <mutex>
#include <support/timesource.h>
#include <vector>

// Works run when the test says so.
class ManualExecutor final : public davit::support::Executor
{
public:
    void post(Work work) override
    {
        const std::lock_guard lock(m_mutex);
        m_works.push_back(std::move(work));
    }
    // Runs what waits, and what that posts.
    void runAll()
    {
        for (;;) {
            std::vector<Work> works;
            {
                const std::lock_guard lock(m_mutex);
                works.swap(m_works);
            }
            if (works.empty())
                return;
            for (const Work &work : works)
                work();
        }
    }

private:
    std::mutex m_mutex;
    std::vector<Work> m_works;
};

class ManualTime final : public davit::support::TimeSource
{
public:
    Nanoseconds monotonic() const override
    {
        const std::lock_guard lock(m_mutex);
        return m_now;
    }
    Nanoseconds utc() const override { return monotonic() + std::chrono::hours(24 * 365 * 50); }
    TimerId callAfter(Nanoseconds delay, davit::support::Executor &executor,
        davit::support::Executor::Work work) override
    {
        const std::lock_guard lock(m_mutex);
        const TimerId id = ++m_lastId;
        m_timers.emplace(m_now + delay, Timer{id, &executor, std::move(work)});
        return id;
    }
    void cancel(TimerId id) override
    {
        const std::lock_guard lock(m_mutex);
        for (auto timer = m_timers.begin(); timer != m_timers.end(); ++timer) {
            if (timer->second.id == id) {
                m_timers.erase(timer);
                return;
            }
        }
    }
    // Moves the clock; timers that are due post their work.
    void advance(Nanoseconds by)
    {
        std::vector<Timer> due;
        {
            const std::lock_guard lock(m_mutex);
            m_now += by;
            while (!m_timers.empty() && m_timers.begin()->first <= m_now) {
                due.push_back(std::move(m_timers.begin()->second));
                m_timers.erase(m_timers.begin());
            }
        }
        for (Timer &timer : due)
            timer.executor->post(std::move(timer.work));
    }
    // The earliest timer, counted from now; negative when there is none.
    Nanoseconds nextTimer() const
    {
        const std::lock_guard lock(m_mutex);
        return m_timers.empty() ? Nanoseconds(-1) : m_timers.begin()->first - m_now;
    }

private:
    struct Timer
    {
        TimerId id;
        davit::support::Executor *executor;
        davit::support::Executor::Work work;
    };
    mutable std::mutex m_mutex;
    Nanoseconds m_now{std::chrono::hours(1)};
    std::multimap<Nanoseconds, Timer> m_timers;
    TimerId m_lastId = 0;
};
