// A clock for tests that look at what is done again after a while.
#pragma once

#include <support/timesource.h>

#include <QtCore/qglobal.h>

#include <atomic>
#include <map>
#include <mutex>

// Runs ahead of the real clock when told to. Timers of a minute and more fire when it gets there,
// shorter ones by the real clock.
class AheadTime final : public davit::support::TimeSource
{
public:
    Nanoseconds monotonic() const override
    {
        return davit::support::systemTimeSource().monotonic() + Nanoseconds(ahead.load());
    }
    Nanoseconds utc() const override { return davit::support::systemTimeSource().utc(); }
    TimerId callAfter(Nanoseconds delay, davit::support::Executor &executor,
        davit::support::Executor::Work work) override
    {
        if (delay < std::chrono::minutes(1))
            return davit::support::systemTimeSource().callAfter(delay, executor, std::move(work));
        const std::lock_guard lock(m_mutex);
        m_timers.emplace(--m_lastId, Timer{monotonic() + delay, &executor, std::move(work)});
        return m_lastId;
    }
    void cancel(TimerId id) override
    {
        davit::support::systemTimeSource().cancel(id);
        const std::lock_guard lock(m_mutex);
        m_timers.erase(id);
    }
    void advance(Nanoseconds by)
    {
        ahead += by.count();
        const std::lock_guard lock(m_mutex);
        for (auto timer = m_timers.begin(); timer != m_timers.end();) {
            if (timer->second.due > monotonic()) {
                ++timer;
                continue;
            }
            timer->second.executor->post(std::move(timer->second.work));
            timer = m_timers.erase(timer);
        }
    }

private:
    struct Timer
    {
        Nanoseconds due;
        davit::support::Executor *executor;
        davit::support::Executor::Work work;
    };

    std::atomic<qint64> ahead{0};
    std::mutex m_mutex;
    std::map<TimerId, Timer> m_timers; // GUARDED_BY(m_mutex)
    TimerId m_lastId = 0; // counts down from the greatest; GUARDED_BY(m_mutex)
};
