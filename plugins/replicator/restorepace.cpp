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

void RestorePace::keepOnly(const davit::ObjectKey &source, const QSet<QString> &namespaceUids)
{
    const std::lock_guard lock(m_mutex);
    const auto known = m_sources.find(source);
    if (known == m_sources.end())
        return;
    known->removeIf([&](Places::iterator place) { return !namespaceUids.contains(place.key()); });
    if (known->isEmpty())
        m_sources.erase(known);
}

milliseconds RestorePace::remaining(
    const davit::ObjectKey &source, const QString &namespaceUid, const QByteArray &digest) const
{
    const std::lock_guard lock(m_mutex);
    const Entry known = m_sources.value(source).value(namespaceUid);
    if (known.digest != digest)
        return 0ms;
    const auto age = m_clock.monotonic() - known.lastWrite;
    return age >= known.delay ? 0ms : ceil<milliseconds>(known.delay - age);
}

bool RestorePace::isKnown(
    const davit::ObjectKey &source, const QString &namespaceUid, const QByteArray &digest) const
{
    const std::lock_guard lock(m_mutex);
    return m_sources.value(source).value(namespaceUid).digest == digest;
}

milliseconds RestorePace::written(
    const davit::ObjectKey &source, const QString &namespaceUid, const QByteArray &digest)
{
    const std::lock_guard lock(m_mutex);
    const nanoseconds now = m_clock.monotonic();
    Entry &entry = m_sources[source][namespaceUid];
    // The write that brings new content does not count: the first restoration after it is free.
    if (entry.digest != digest || now - entry.lastWrite > kQuiet)
        entry.delay = 0ms;
    else
        entry.delay = entry.delay == 0ms ? kFirst : std::min(entry.delay * 2, kLongest);
    entry.digest = digest;
    entry.lastWrite = now;
    return entry.delay;
}

qsizetype RestorePace::entryCount() const
{
    const std::lock_guard lock(m_mutex);
    qsizetype count = 0;
    for (const Places &places : m_sources)
        count += places.size();
    return count;
}

} // namespace replicator
