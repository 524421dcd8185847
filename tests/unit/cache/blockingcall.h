// A call that is meant to block, on a thread of its own, and a sure way to know that it does: its
// thread sleeps in the kernel. Precondition: nobody else makes the call wait, so the test holds no
// lock and does not print while it asks.
#pragma once

#include <QtCore/qdeadlinetimer.h>
#include <QtCore/qfile.h>
#include <atomic>
#include <functional>
#include <thread>
#include <unistd.h>

namespace fakes {

class BlockingCall
{
public:
    explicit BlockingCall(std::function<void()> call)
        : m_thread([this, call = std::move(call)] {
            m_id = gettid();
            call();
            m_hasReturned = true;
        })
    { }
    ~BlockingCall() { join(); }
    Q_DISABLE_COPY_MOVE(BlockingCall)

    // Waits until it blocks. False when it returned instead, or did neither for half a minute.
    bool blocks() const
    {
        const QDeadlineTimer deadline(30'000);
        while (!m_hasReturned && !deadline.hasExpired()) {
            if (m_id != 0 && isAsleep())
                return !m_hasReturned;
            std::this_thread::yield();
        }
        return false;
    }
    void join()
    {
        if (m_thread.joinable())
            m_thread.join();
    }

private:
    // "123 (a name) S …"; proc(5).
    bool isAsleep() const
    {
        QFile file(QStringLiteral("/proc/self/task/%1/stat").arg(m_id.load()));
        if (!file.open(QIODevice::ReadOnly))
            return false;
        const QByteArray line = file.readAll();
        return line.mid(line.lastIndexOf(')') + 2, 1) == "S";
    }

    std::atomic<pid_t> m_id = 0;
    std::atomic<bool> m_hasReturned = false;
    std::thread m_thread; // last member: begins when the others are there
};

} // namespace fakes
