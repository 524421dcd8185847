// Tells the log how the first sync of each resource goes. Contract:
//   - While something comes, a line a resource after 1, 2, 4, 8 and 16 s, then each ten seconds;
//   one a minute while nothing comes. One line when it is done; what is done within a second has
//   that line alone.
//   - When it begins to fail, or fails otherwise, one line says which plugins wait for it (B32);
//   that it fails again is told by the cache alone.
//   - After `slowAfter` each line is a warning, and there is one even when it fails: the plugins
//   that it names are late.
// Test: tst_syncreporter.
#pragma once

#include <davit/logging.h>
#include <observability/stateboard.h>

#include <QtCore/qhash.h>
#include <QtCore/qset.h>

namespace davit::host {

class SyncReporter
{
public:
    SyncReporter(const observability::StateBoard &board, const Logger &log,
        std::chrono::nanoseconds slowAfter);

    // Called once a second. True while some resource is not synced. [host-thread]
    bool tick();

private:
    struct Told
    {
        quint64 objects = 0;
        quint64 bytes = 0;
        quint64 tick = 0;
        quint64 rest = 1; // ticks to the next line while something comes
        bool isSlow = false;
    };

    void tellWaiting(const observability::SyncProgress &sync);

    void report(const observability::SyncProgress &sync);
    // Whether a resource that is not synced has a line in this tick.
    bool isWorthALine(const observability::SyncProgress &sync);

    const observability::StateBoard &m_board;
    const Logger m_log;
    const std::chrono::nanoseconds m_slowAfter;
    QSet<QString> m_done;
    QHash<QString, Told> m_told; // of those that are not done
    QHash<QString, QString> m_errors; // of these, what was told last
    quint64 m_ticks = 0;
};

} // namespace davit::host
