#include "syncreporter.h"

#include <cmath>

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
        if (sync.isSynced)
            m_done.insert(sync.resource);
    }
    m_done.intersect(seen); // a watch that ended and begins anew is told anew
    ++m_ticks;
    return isBusy;
}

void SyncReporter::report(const SyncProgress &sync)
{
    using namespace std::chrono_literals;
    if (!sync.isSynced && (sync.elapsed < 900ms || (sync.elapsed > 1min && m_ticks % 10 != 0)))
        return;
    const double seconds
        = std::round(std::chrono::duration<double>(sync.elapsed).count() * 100) / 100;
    Logger log = m_log.with("resource", sync.resource).with("objects", sync.objects);
    log = log.with("bytes", sync.bytes).with("seconds", seconds);
    if (sync.isSynced)
        return log.info("first sync done");
    if (sync.remainingObjects >= 0)
        log = log.with("remaining", sync.remainingObjects);
    if (!sync.lastError.isEmpty())
        log = log.with("error", sync.lastError);
    if (sync.elapsed >= m_slowAfter)
        log.warning("first sync is slow");
    else
        log.info("first sync");
}

} // namespace davit::host
