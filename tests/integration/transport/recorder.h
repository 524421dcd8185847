// What a test heard of one exchange, and the thread it is heard on.
#pragma once

#include "transport/qnamtransport.h"

#include <davit/result.h>
#include <support/strand.h>

#include <QtCore/qthreadpool.h>
#include <condition_variable>
#include <mutex>

class Recorder final : public davit::transport::ResponseSink
{
public:
    void onHead(const davit::transport::ResponseHead &head) override
    {
        const std::lock_guard lock(m_mutex);
        m_head = head;
        m_changed.notify_all();
    }
    void onBytes(const QByteArray &bytes) override
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return !m_isBlocked; });
        m_size += bytes.size();
        if (m_size <= 1024 * 1024)
            m_body += bytes;
        m_changed.notify_all();
    }
    void onFinished(const davit::Error &error) override
    {
        const std::lock_guard lock(m_mutex);
        m_error = error;
        ++m_ends;
        m_changed.notify_all();
    }

    // While blocked the executor stands still at the next piece.
    void setBlocked(bool isBlocked)
    {
        const std::lock_guard lock(m_mutex);
        m_isBlocked = isBlocked;
        m_changed.notify_all();
    }

    bool waitForHead(std::chrono::milliseconds limit = std::chrono::seconds(10))
    {
        return waitFor(limit, [this] { return m_head.httpStatus != 0; });
    }
    bool waitForBytes(qint64 count, std::chrono::milliseconds limit = std::chrono::seconds(10))
    {
        return waitFor(limit, [this, count] { return m_size >= count; });
    }
    bool waitForEnd(std::chrono::milliseconds limit = std::chrono::seconds(10))
    {
        return waitFor(limit, [this] { return m_ends > 0; });
    }

    davit::transport::ResponseHead head() const { return read(m_head); }
    QByteArray body() const { return read(m_body); } // its first MiB
    qint64 size() const { return read(m_size); }
    davit::Error error() const { return read(m_error); }
    int ends() const { return read(m_ends); }

private:
    template <typename Condition>
    bool waitFor(std::chrono::milliseconds limit, const Condition &condition)
    {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_for(lock, limit, condition);
    }
    template <typename T> T read(const T &member) const
    {
        const std::lock_guard lock(m_mutex);
        return member;
    }

    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    davit::transport::ResponseHead m_head; // GUARDED_BY(m_mutex)
    QByteArray m_body; // GUARDED_BY(m_mutex)
    qint64 m_size = 0; // GUARDED_BY(m_mutex)
    davit::Error m_error; // GUARDED_BY(m_mutex)
    int m_ends = 0; // GUARDED_BY(m_mutex)
    bool m_isBlocked = false; // GUARDED_BY(m_mutex)
};

// One call after another on a strand, as the cache does.
class Caller
{
public:
    explicit Caller(davit::transport::Transport &transport) : m_transport(transport)
    {
        m_pool.setMaxThreadCount(2);
    }
    std::unique_ptr<davit::transport::Exchange> start(
        const davit::transport::Request &request, Recorder &recorder)
    {
        return m_transport.start(request, m_strand, recorder);
    }
    davit::support::Strand &strand() { return m_strand; }

private:
    davit::transport::Transport &m_transport;
    QThreadPool m_pool;
    davit::support::Strand m_strand{m_pool};
};

// Body of one GET, or its error.
inline davit::Result<QByteArray> getOnce(
    davit::transport::Transport &transport, const davit::transport::Request &request = {})
{
    Caller caller(transport);
    Recorder recorder;
    const auto exchange = caller.start(request, recorder);
    if (!recorder.waitForEnd())
        return davit::Error(davit::ErrorCode::Timeout, QStringLiteral("the test waited in vain"));
    if (recorder.error().isError())
        return recorder.error();
    return recorder.body();
}
