#include "restorepace.h"

namespace replicator {

using namespace std::chrono;
using namespace std::chrono_literals;

namespace {
constexpr milliseconds kFirst = 1s;
constexpr milliseconds kLongest = 5min;
constexpr milliseconds kQuiet = 10min;
} // namespace

RestorePace::RestorePace(const davit::Clock &clock) : m_clock(clock) { }

milliseconds RestorePace::remaining(const davit::ObjectKey &target, const QByteArray &digest)
{
    const std::lock_guard lock(m_mutex);
    const auto known = m_entries.constFind(target);
    if (known == m_entries.constEnd() || known->digest != digest)
        return 0ms;
    const auto age = m_clock.monotonic() - known->lastWrite;
    return age >= known->delay ? 0ms : ceil<milliseconds>(known->delay - age);
}

milliseconds RestorePace::written(const davit::ObjectKey &target, const QByteArray &digest)
{
    const std::lock_guard lock(m_mutex);
    const nanoseconds now = m_clock.monotonic();
    Entry &entry = m_entries[target];
    // The write that brings new content does not count: the first restoration after it is free.
    if (entry.digest != digest || now - entry.lastWrite > kQuiet)
        entry.delay = 0ms;
    else
        entry.delay = entry.delay == 0ms ? kFirst : std::min(entry.delay * 2, kLongest);
    entry.digest = digest;
    entry.lastWrite = now;
    return entry.delay;
}

void RestorePace::forget(const davit::ObjectKey &target)
{
    const std::lock_guard lock(m_mutex);
    m_entries.remove(target);
}

} // namespace replicator
