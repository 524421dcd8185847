// The thread that all QNetworkAccessManager objects of one transport live in, as an executor.
// Contract:
//   - works run in the order of post(), with the thread's event loop between batches.
//   - the hand-over is a std::mutex and one posted event for many works (Qt's own locks are
//   invisible to TSan).
// Test: tst_handover, ioThreadOrder.
#pragma once

#include <support/executor.h>

#include <QtCore/qthread.h>
#include <memory>
#include <mutex>
#include <vector>

namespace davit::transport {

class IoThread final : public support::Executor
{
public:
    IoThread();
    ~IoThread() override; // stop() must have been called, or nothing runs there
    Q_DISABLE_COPY_MOVE(IoThread)

    // After stop() the work is dropped. [thread-safe]
    void post(Work work) override;
    // Drops what waits, runs `last` in the thread, ends the thread and returns. Not from the io
    // thread itself. The second call does nothing. [thread-safe]
    void stop(Work last);
    bool isCurrent() const { return QThread::currentThread() == &m_thread; }

private:
    class Mailbox;

    void wake(); // with m_mutex held
    void drain();

    QThread m_thread;
    std::unique_ptr<Mailbox> m_mailbox;
    std::mutex m_mutex;
    std::vector<Work> m_waiting; // GUARDED_BY(m_mutex)
    bool m_isWakePosted = false; // GUARDED_BY(m_mutex)
    bool m_isStopped = false; // GUARDED_BY(m_mutex)
};

} // namespace davit::transport
