#include "manualclock.h"

#include <support/moment.h>

#include <algorithm>
#include <utility>

namespace davit::testing {

void ManualExecutor::post(Work work)
{
    const std::lock_guard lock(m_mutex);
    m_waiting.push_back(std::move(work));
}

bool ManualExecutor::runOne()
{
    Work work;
    {
        const std::lock_guard lock(m_mutex);
        if (m_waiting.empty())
            return false;
        work = std::move(m_waiting.front());
        m_waiting.pop_front();
    }
    work();
    return true;
}

int ManualExecutor::runAll()
{
    int count = 0;
    while (runOne())
        ++count;
    return count;
}

int ManualExecutor::pendingItems() const
{
    const std::lock_guard lock(m_mutex);
    return int(m_waiting.size());
}

ManualClock::ManualClock(Nanoseconds utcStart) : m_utcOffset(utcStart) { }

ManualClock::Nanoseconds ManualClock::monotonic() const
{
    const std::lock_guard lock(m_mutex);
    return m_now;
}

ManualClock::Nanoseconds ManualClock::utc() const
{
    const std::lock_guard lock(m_mutex);
    return m_now + m_utcOffset;
}

ManualClock::TimerId ManualClock::callAfter(
    Nanoseconds delay, support::Executor &executor, support::Executor::Work work)
{
    const std::lock_guard lock(m_mutex);
    const TimerId id = ++m_lastId;
    if (delay <= Nanoseconds::zero())
        executor.post(std::move(work));
    else
        m_timers.emplace(support::momentAfter(m_now, delay), Timer{id, &executor, std::move(work)});
    return id;
}

void ManualClock::cancel(TimerId id)
{
    support::Executor::Work dropped; // destroyed outside the lock
    const std::lock_guard lock(m_mutex);
    const auto found = std::find_if(m_timers.begin(), m_timers.end(),
        [id](const auto &timer) { return timer.second.id == id; });
    if (found == m_timers.end())
        return;
    dropped = std::move(found->second.work);
    m_timers.erase(found);
}

bool ManualClock::fireOneUntil(Nanoseconds end)
{
    const std::lock_guard lock(m_mutex);
    const auto first = m_timers.begin();
    if (first == m_timers.end() || first->first > end)
        return false;
    m_now = std::max(m_now, first->first);
    Timer due = std::move(first->second);
    m_timers.erase(first);
    due.executor->post(std::move(due.work));
    return true;
}

void ManualClock::advance(Nanoseconds span, ManualExecutor *executor)
{
    if (executor)
        executor->runAll();
    const Nanoseconds end = support::momentAfter(monotonic(), span);
    while (fireOneUntil(end))
        if (executor)
            executor->runAll();
    const std::lock_guard lock(m_mutex);
    m_now = std::max(m_now, end);
}

void ManualClock::shiftUtc(Nanoseconds span)
{
    const std::lock_guard lock(m_mutex);
    m_utcOffset += span;
}

int ManualClock::pendingTimers() const
{
    const std::lock_guard lock(m_mutex);
    return int(m_timers.size());
}

std::optional<ManualClock::Nanoseconds> ManualClock::untilNextTimer() const
{
    const std::lock_guard lock(m_mutex);
    if (m_timers.empty())
        return std::nullopt;
    return m_timers.begin()->first - m_now;
}

} // namespace davit::testing
