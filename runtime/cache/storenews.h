// The bell of a store: rung after each change, heard by readers who wait for one. Contract: who
// rings waits for nobody; nothing that is rung between told() and waitBeyond() is missed. All
// methods: [thread-safe]. Test: tst_consistencywait.
#pragma once

#include <QtCore/qglobal.h>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace davit::cache {

class StoreNews
{
public:
    // How often it was rung.
    quint64 told() const;
    void tell();
    // Until it was rung more often than that; false when `until` came first. [worker-thread]
    bool waitBeyond(quint64 told, std::chrono::steady_clock::time_point until) const;
    // How many wait now; for tests.
    int waiters() const;

private:
    mutable std::mutex m_mutex; // held for a count, never while a reader looks
    mutable std::condition_variable m_rung;
    quint64 m_told = 0; // GUARDED_BY(m_mutex)
    mutable int m_waiters = 0; // GUARDED_BY(m_mutex)
};

} // namespace davit::cache
