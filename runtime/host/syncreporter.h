// Tells the log how the first sync of each resource goes. Contract:
//   - One line a second and resource while it runs, every ten seconds after the first minute; one
//   line when it is done. What is done within a second has that line alone.
//   - After `slowAfter` each line is a warning.
// Test: tst_syncreporter.
#pragma once

#include <davit/logging.h>
#include <observability/stateboard.h>

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
    void report(const observability::SyncProgress &sync);

    const observability::StateBoard &m_board;
    const Logger m_log;
    const std::chrono::nanoseconds m_slowAfter;
    QSet<QString> m_done;
    quint64 m_ticks = 0;
};

} // namespace davit::host
