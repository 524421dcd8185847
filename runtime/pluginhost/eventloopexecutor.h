// Works that run in the event loop of one thread: a plugin's, or the host's. Contract:
//   - works run in the order of post(), with the thread's event loop between batches.
//   - the hand-over is a std::mutex and one posted event for many works, so that TSan sees it.
// Test: tst_pluginmanager.
#pragma once

#include <support/executor.h>

#include <QtCore/qobject.h>
#include <mutex>
#include <vector>

namespace davit::pluginhost {

class EventLoopExecutor final : public QObject, public support::Executor
{
public:
    // Serves the thread that it is made in, or moved to before the first post().
    EventLoopExecutor() = default;
    ~EventLoopExecutor() override;
    Q_DISABLE_COPY_MOVE(EventLoopExecutor)

    // [thread-safe]
    void post(Work work) override;
    // Drops what waits and what comes. [thread-safe]
    void close();

protected:
    bool event(QEvent *event) override;

private:
    std::mutex m_mutex;
    std::vector<Work> m_waiting; // GUARDED_BY(m_mutex)
    bool m_isWakePosted = false; // GUARDED_BY(m_mutex)
    bool m_isClosed = false; // GUARDED_BY(m_mutex)
};

} // namespace davit::pluginhost
