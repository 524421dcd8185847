#include "eventseries.h"

#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <algorithm>

namespace davit::client {
namespace {

using namespace std::chrono_literals;

constexpr auto kHeartbeat = 30min;
constexpr auto kQuiet = 6min;

QString keyOf(const ToldEvent &event)
{
    const QJsonArray parts{event.type, event.action, event.reason, identityOf(event.regarding),
        identityOf(event.related)};
    return QString::fromUtf8(QJsonDocument(parts).toJson(QJsonDocument::Compact));
}

} // namespace

EventSeries::EventSeries() : m_known(kMaxKeys) { }

SeriesWrite EventSeries::write(Known &known)
{
    known.writtenCount = known.count;
    return {known.first, known.count, known.lastTime};
}

std::vector<SeriesWrite> EventSeries::told(const ToldEvent &event)
{
    if (m_known.size() == 0) {
        m_nextEnd = event.monotonic + kQuiet;
        m_nextHeartbeat = event.monotonic + kHeartbeat;
    }
    std::vector<SeriesWrite> writes;
    const QString key = keyOf(event);
    if (m_known.size() == kMaxKeys && !m_known.find(key)) {
        Known gone = m_known.takeOldest();
        if (gone.count > 1)
            writes.push_back(write(gone));
    }
    Known &known = m_known.touch(key);
    if (known.count == 0)
        known.first = event;
    ++known.count;
    known.lastTime = event.utc;
    known.lastMonotonic = event.monotonic;
    if (known.count <= 2)
        writes.push_back(write(known));
    return writes;
}

void EventSeries::tick(std::chrono::nanoseconds monotonic)
{
    if (m_isEnding || m_known.size() == 0)
        return;
    if (monotonic >= m_nextEnd) {
        m_endedUntil = monotonic - kQuiet;
        m_nextEnd = monotonic + kQuiet;
    }
    if (monotonic >= m_nextHeartbeat) {
        m_heartbeats.clear();
        for (const auto &[key, known] : m_known)
            if (known.count > 1)
                m_heartbeats.push_back(key);
        m_nextHeartbeat = monotonic + kHeartbeat;
    }
}

std::optional<SeriesWrite> EventSeries::ended()
{
    while (m_known.size() > 0 && m_known.oldest().lastMonotonic <= m_endedUntil) {
        Known known = m_known.takeOldest();
        if (known.count > (m_isEnding ? known.writtenCount : 1))
            return write(known);
    }
    return std::nullopt;
}

std::optional<SeriesWrite> EventSeries::heartbeat()
{
    while (!m_heartbeats.empty()) {
        Known *const known = m_known.find(m_heartbeats.front());
        m_heartbeats.pop_front();
        if (known && known->count > 1) // it may have ended, and begun anew
            return write(*known);
    }
    return std::nullopt;
}

std::optional<SeriesWrite> EventSeries::due(std::chrono::nanoseconds monotonic)
{
    tick(monotonic);
    std::optional<SeriesWrite> next = ended();
    return next ? next : heartbeat();
}

std::optional<std::chrono::nanoseconds> EventSeries::nextDue() const
{
    if (m_known.size() == 0)
        return std::nullopt;
    return std::min(m_nextEnd, m_nextHeartbeat);
}

void EventSeries::end()
{
    m_isEnding = true;
    m_endedUntil = std::chrono::nanoseconds::max();
    m_heartbeats.clear();
}

} // namespace davit::client
