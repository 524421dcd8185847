#include "syncreporter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace davit::host {

using observability::SyncProgress;

SyncReporter::SyncReporter(
    const observability::StateBoard &board, const Logger &log, std::chrono::nanoseconds slowAfter)
    : m_board(board), m_log(log), m_slowAfter(slowAfter)
{ }

bool SyncReporter::tick()
{
    bool isBusy = false;
    QSet<QString> seen;
    for (const SyncProgress &sync : m_board.syncs()) {
        seen.insert(sync.resource);
        isBusy = isBusy || !sync.isSynced;
        if (!m_done.contains(sync.resource))
            report(sync);
        if (sync.isSynced) {
            m_done.insert(sync.resource);
            m_told.remove(sync.resource);
            m_errors.remove(sync.resource);
        }
    }
    m_done.intersect(seen); // a watch that ended and begins anew is told anew
    ++m_ticks;
    return isBusy;
}

bool SyncReporter::isWorthALine(const SyncProgress &sync)
{
    using namespace std::chrono_literals;
    if (sync.elapsed < 900ms)
        return false;
    const bool isNew = !m_told.contains(sync.resource);
    Told &told = m_told[sync.resource];
    const bool isSlow = sync.elapsed >= m_slowAfter;
    const bool hasMoved = told.objects != sync.objects || told.bytes != sync.bytes;
    const quint64 rest = hasMoved ? told.rest : 60;
    const bool isDue
        = (isNew || m_ticks - told.tick >= rest) && (hasMoved || sync.lastError.isEmpty());
    if (!isDue && (!isSlow || told.isSlow))
        return false;
    const quint64 next = isNew ? 1 : std::min<quint64>(told.rest * 2, 10);
    told = {sync.objects, sync.bytes, m_ticks, next, isSlow};
    return true;
}

void SyncReporter::tellWaiting(const SyncProgress &sync)
{
    if (sync.lastError.isEmpty() || sync.plugins.isEmpty())
        return;
    QString &told = m_errors[sync.resource];
    if (std::exchange(told, sync.lastError) != sync.lastError)
        m_log.warning("plugins wait for the first list of a resource",
            {{"plugins", sync.plugins}, {"resource", sync.resource}, {"error", sync.lastError}});
}

void SyncReporter::report(const SyncProgress &sync)
{
    if (!sync.isSynced)
        tellWaiting(sync);
    if (!sync.isSynced && !isWorthALine(sync))
        return;
    const double seconds
        = std::round(std::chrono::duration<double>(sync.elapsed).count() * 100) / 100;
    Logger log = m_log.with("resource", sync.resource).with("objects", sync.objects);
    log = log.with("receivedBytes", sync.bytes).with("seconds", seconds);
    if (sync.isSynced)
        return log.info("first sync done");
    if (sync.remainingObjects >= 0)
        log = log.with("remaining", sync.remainingObjects);
    if (!sync.plugins.isEmpty())
        log = log.with("plugins", sync.plugins);
    if (!sync.lastError.isEmpty())
        log = log.with("error", sync.lastError);
    if (sync.elapsed >= m_slowAfter)
        log.warning("first sync is slow");
    else
        log.info("first sync");
}

} // namespace davit::host
