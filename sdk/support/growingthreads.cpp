#include "growingthreads.h"

#include <QtCore/qlogging.h>
#include <system_error>
#include <utility>

namespace davit::support {

void GrowingThreads::post(std::function<void()> work)
{
    const std::lock_guard lock(m_mutex);
    m_waiting.push_back(std::move(work));
    if (m_waiting.size() > m_idle && m_threads.size() < m_most)
        addThread();
    m_wake.notify_one();
}

void GrowingThreads::finish()
{
    {
        const std::lock_guard lock(m_mutex);
        m_isOver = true;
    }
    m_wake.notify_all();
    for (std::thread &thread : m_threads)
        thread.join();
}

void GrowingThreads::addThread()
{
    try {
        m_threads.emplace_back([this] { run(); });
    } catch (const std::system_error &e) {
        qWarning("no thread for a connection: %s", e.what());
    }
}

void GrowingThreads::run()
{
    std::unique_lock lock(m_mutex);
    for (;;) {
        ++m_idle;
        m_wake.wait(lock, [this] { return m_isOver || !m_waiting.empty(); });
        --m_idle;
        if (m_waiting.empty())
            return;
        const std::function<void()> work = std::move(m_waiting.front());
        m_waiting.pop_front();
        lock.unlock();
        work();
        lock.lock();
    }
}

} // namespace davit::support
