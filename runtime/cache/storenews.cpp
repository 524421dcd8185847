#include "storenews.h"

namespace davit::cache {

quint64 StoreNews::told() const
{
    const std::lock_guard lock(m_mutex);
    return m_told;
}

void StoreNews::tell()
{
    {
        const std::lock_guard lock(m_mutex);
        ++m_told;
        if (m_waiters == 0)
            return;
    }
    m_rung.notify_all();
}

bool StoreNews::waitBeyond(quint64 told, std::chrono::steady_clock::time_point until) const
{
    std::unique_lock lock(m_mutex);
    ++m_waiters;
    const bool isRung = m_rung.wait_until(lock, until, [&] { return m_told != told; });
    --m_waiters;
    return isRung;
}

int StoreNews::waiters() const
{
    const std::lock_guard lock(m_mutex);
    return m_waiters;
}

} // namespace davit::cache
