#include "benchrun.h"

#include "processfigures.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kPhaseLimit = 80s; // below the time in which the runner gives up

qint64 monotonicNanoseconds()
{
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

void say(const char *line)
{
    std::puts(line);
    std::fflush(stdout);
}

} // namespace

BenchRun::BenchRun(const BenchInput &input) : m_input(input)
{
    m_latencies.reserve(std::size_t(input.pacedEvents));
    m_result.askedForProtobuf = input.asksForProtobuf;
    if (!input.isStripped)
        m_result.note = QStringLiteral("managedFields are not kept, though asked for");
}

void BenchRun::added()
{
    if (m_added.fetch_add(1, std::memory_order_relaxed) + 1 == m_input.objects * m_input.plugins)
        wake();
}

void BenchRun::updated()
{
    if (m_phase.load(std::memory_order_relaxed) != Phase::Burst)
        return;
    const qint64 count = m_updated.fetch_add(1, std::memory_order_relaxed) + 1;
    if (count == 1)
        m_firstUpdate.store(monotonicNanoseconds());
    if (count == m_input.burstEvents * m_input.plugins) {
        m_lastUpdate.store(monotonicNanoseconds());
        wake();
    }
}

void BenchRun::stamped(const QString &stamp)
{
    const qint64 now = wallNanoseconds();
    bool isNumber = false;
    const qint64 sent = stamp.toLongLong(&isNumber);
    if (!isNumber)
        return;
    const std::lock_guard lock(m_mutex);
    m_latencies.push_back(double(now - sent) / 1e3);
    if (qint64(m_latencies.size()) == m_input.pacedEvents)
        m_reached.notify_all();
}

bool BenchRun::waitFor(const std::function<bool()> &isReached, std::chrono::seconds limit)
{
    std::unique_lock lock(m_mutex);
    return m_reached.wait_for(lock, limit, isReached);
}

// With the lock: the waiter has either not looked yet, or sleeps.
void BenchRun::wake()
{
    const std::lock_guard lock(m_mutex);
    m_reached.notify_all();
}

void BenchRun::takeSyncFigures(qint64 objects)
{
    m_result.objects = objects;
    m_result.syncSeconds = double(wallNanoseconds() - m_input.startNanoseconds) / 1e9;
    m_result.cpuSeconds = cpuSeconds();
    m_result.residentMegabytes = residentMegabytes();
    m_result.peakMegabytes = peakResidentMegabytes();
    trimMemory();
    m_result.residentTrimmedMegabytes = residentMegabytes();
    m_result.heapBytesPerObject = double(settledHeapBytes()) / double(std::max<qint64>(1, objects));
}

void BenchRun::burst()
{
    const double before = cpuSeconds();
    m_phase.store(Phase::Burst);
    say("READY");
    const qint64 wanted = m_input.burstEvents * m_input.plugins;
    if (!waitFor([&] { return m_updated.load() >= wanted; }, kPhaseLimit))
        m_result.note = QStringLiteral("burst timed out at %1 events").arg(m_updated.load());
    const double took = double(m_lastUpdate.load() - m_firstUpdate.load()) / 1e9;
    m_result.events = m_input.burstEvents;
    if (took > 0)
        m_result.eventsPerSecond = double(m_input.burstEvents) / took;
    m_result.eventCpuMicroseconds = (cpuSeconds() - before) * 1e6 / double(m_input.burstEvents);
    if (m_input.pacedEvents > 0)
        m_phase.store(Phase::Paced);
    say("BURST_DONE");
}

void BenchRun::paced()
{
    const auto isReached = [&] { return qint64(m_latencies.size()) >= m_input.pacedEvents; };
    if (!waitFor(isReached, 60s))
        m_result.note = QStringLiteral("paced phase timed out");
    const std::lock_guard lock(m_mutex);
    std::sort(m_latencies.begin(), m_latencies.end());
    m_result.latencies = qint64(m_latencies.size());
    if (m_latencies.empty())
        return;
    m_result.p50Microseconds = m_latencies[m_latencies.size() / 2];
    m_result.p99Microseconds = m_latencies[m_latencies.size() * 99 / 100];
}

bool BenchRun::waitForObjects()
{
    const qint64 wanted = m_input.objects * m_input.plugins;
    return waitFor([&] { return m_added.load() >= wanted; }, kPhaseLimit);
}

bool BenchRun::run(const std::function<qint64()> &countObjects)
{
    if (!waitForObjects())
        return false;
    takeSyncFigures(countObjects());
    if (m_input.burstEvents > 0) {
        burst();
    } else {
        m_phase.store(m_input.pacedEvents > 0 ? Phase::Paced : Phase::Sync);
        say("READY");
    }
    if (m_input.pacedEvents > 0)
        paced();
    if (m_input.isHeld) {
        char byte = 0;
        while (::read(STDIN_FILENO, &byte, 1) > 0) { }
    }
    say(toJsonLine(m_result).constData());
    return true;
}

} // namespace bench
