// The phases of a run: sync, burst, paced, hold. Slots of plugins count; the main thread waits.
// Output, one line each: READY, BURST_DONE, then the result as JSON.
#pragma once

#include "benchinput.h"
#include "benchresult.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

namespace bench {

class BenchRun
{
public:
    explicit BenchRun(const BenchInput &input);
    Q_DISABLE_COPY_MOVE(BenchRun)

    // One object reached the slot of one plugin. [plugin-thread]
    void added();
    void updated();
    // The first plugin's slot saw an event that the server stamped, nanoseconds since 1970, as
    // text. [plugin-thread]
    void stamped(const QString &stamp);
    bool isPaced() const { return m_phase.load(std::memory_order_relaxed) == Phase::Paced; }

    // Runs all phases; `countObjects` tells what the cache holds. Blocks. False when the objects
    // did not come. [host-thread]
    bool run(const std::function<qint64()> &countObjects);
    // The first phase alone, without output. [host-thread]
    bool waitForObjects();

private:
    enum class Phase : quint8 { Sync, Burst, Paced };

    bool waitFor(const std::function<bool()> &isReached, std::chrono::seconds limit);
    void wake();
    void takeSyncFigures(qint64 objects);
    void burst();
    void paced();

    const BenchInput m_input;
    BenchResult m_result;
    std::atomic<Phase> m_phase{Phase::Sync};
    std::atomic<qint64> m_added{0};
    std::atomic<qint64> m_updated{0}; // in the burst
    std::atomic<qint64> m_firstUpdate{0}; // nanoseconds, monotonic
    std::atomic<qint64> m_lastUpdate{0};
    std::mutex m_mutex;
    std::condition_variable m_reached;
    std::vector<double> m_latencies; // microseconds. GUARDED_BY(m_mutex)
};

} // namespace bench
