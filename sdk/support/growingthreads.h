// Threads that are made when a work finds none idle, for works that block for as long as a peer
// likes: a connection keeps one while it is open. Test: tst_probes (halfOpenConnections),
// tst_embeddedapiserver (manyWatchesAndCalls).
#pragma once

#include <QtCore/qglobal.h>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace davit::support {

class GrowingThreads final
{
public:
    explicit GrowingThreads(std::size_t most) : m_most(most) { }
    Q_DISABLE_COPY_MOVE(GrowingThreads)

    // What finds no thread waits for one that is there. A thread that cannot be had is a warning.
    // [any one thread]
    void post(std::function<void()> work);
    // Returns when all works have been done and the threads have ended; call it before this dies.
    // [any one thread]
    void finish();

private:
    void addThread();
    void run();

    const std::size_t m_most;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::deque<std::function<void()>> m_waiting; // GUARDED_BY(m_mutex)
    std::vector<std::thread> m_threads; // of the caller
    std::size_t m_idle = 0; // GUARDED_BY(m_mutex)
    bool m_isOver = false; // GUARDED_BY(m_mutex)
};

} // namespace davit::support
