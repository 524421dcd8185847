#include "wakeuptimer.h"

#include <mutex>

namespace davit::workqueue {

struct WakeUpTimer::Target
{
    std::mutex mutex;
    std::function<void()> onWakeUp; // empty once the timer is gone; GUARDED_BY(mutex)
};

WakeUpTimer::WakeUpTimer(
    support::TimeSource &time, support::Executor &executor, std::function<void()> onWakeUp)
    : m_time(time), m_executor(executor), m_target(std::make_shared<Target>())
{
    m_target->onWakeUp = std::move(onWakeUp);
}

WakeUpTimer::~WakeUpTimer()
{
    disarm();
    const std::lock_guard lock(m_target->mutex);
    m_target->onWakeUp = nullptr;
}

void WakeUpTimer::armAt(std::chrono::nanoseconds moment)
{
    if (m_id != 0 && m_moment <= moment)
        return;
    disarm();
    m_moment = moment;
    m_id = m_time.callAfter(moment - m_time.monotonic(), m_executor, [target = m_target] {
        const std::lock_guard lock(target->mutex);
        if (target->onWakeUp)
            target->onWakeUp();
    });
}

void WakeUpTimer::fired()
{
    // One that was replaced may come late: then the set one is asked for anew, at worst once too
    // often.
    disarm();
}

void WakeUpTimer::disarm()
{
    if (m_id != 0)
        m_time.cancel(m_id);
    m_id = 0;
}

} // namespace davit::workqueue
