// The connections of a server whose threads are few. Contract: when more are open than it has
// threads for, those whose request began longest ago are shut, so that a new one is always served,
// whatever the others do: slow ones would hold the threads, and nobody could probe.
// Test: tst_probes, slowClients, stopsUnderSlowClients.
#pragma once

#include <QtCore/qglobal.h>
#include <list>
#include <mutex>

namespace davit::web {

class Connections
{
public:
    explicit Connections(std::size_t most) : m_most(most) { }
    Q_DISABLE_COPY_MOVE(Connections)

    // One more, which has no thread yet. [thread-safe]
    void accepted();
    // It has its thread now, and may be shut from another one. [thread-safe]
    void begin(int socket);
    // Its next request begins: it is the youngest again. [thread-safe]
    void renew(int socket);
    // Before the socket is closed. [thread-safe]
    void end(int socket);
    // No more requests; answers under way are still written. [thread-safe]
    void finish();

private:
    void shutOldest(); // under the mutex

    const std::size_t m_most;
    std::mutex m_mutex;
    std::list<int> m_order; // the oldest first, none that was shut; GUARDED_BY(m_mutex)
    std::size_t m_open = 0; // with those that wait for a thread; GUARDED_BY(m_mutex)
    std::size_t m_shut = 0; // of m_open; GUARDED_BY(m_mutex)
    bool m_isOver = false; // GUARDED_BY(m_mutex)
};

} // namespace davit::web
