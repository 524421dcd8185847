#include "handover.h"

#include <utility>

namespace davit::transport {

HandOver::HandOver(support::Executor &executor, ResponseSink &sink, OnRoom onRoom)
    : m_executor(&executor), m_sink(&sink), m_onRoom(std::move(onRoom))
{ }

void HandOver::putHead(const ResponseHead &head)
{
    const std::lock_guard lock(m_mutex);
    m_head = head;
    schedule();
}

void HandOver::putBytes(QByteArray bytes)
{
    if (bytes.isEmpty())
        return;
    const std::lock_guard lock(m_mutex);
    m_waitingBytes += bytes.size();
    m_pieces.push_back(std::move(bytes));
    schedule();
}

void HandOver::finish(const Error &error)
{
    const std::lock_guard lock(m_mutex);
    m_end = error;
    schedule();
}

bool HandOver::wantsBytes()
{
    const std::lock_guard lock(m_mutex);
    m_isPaused = m_waitingBytes >= kHighWater;
    return !m_isPaused;
}

void HandOver::close()
{
    std::unique_lock lock(m_mutex);
    m_executor = nullptr;
    m_sink = nullptr;
    m_onRoom = nullptr;
    if (m_deliverer != std::this_thread::get_id())
        m_idle.wait(lock, [this] { return m_deliverer == std::thread::id(); });
}

// post() under the lock: once close() returned, the executor is not touched.
void HandOver::schedule()
{
    if (!m_executor || std::exchange(m_isScheduled, true))
        return;
    m_executor->post([self = shared_from_this()] { self->deliver(); });
}

void HandOver::deliver()
{
    std::unique_lock lock(m_mutex);
    m_deliverer = std::this_thread::get_id();
    const auto call = [&](auto &&heard) {
        ResponseSink &sink = *m_sink;
        lock.unlock();
        heard(sink);
        lock.lock();
    };
    if (m_sink && m_head) {
        const ResponseHead head = *std::exchange(m_head, std::nullopt);
        call([&](ResponseSink &sink) { sink.onHead(head); });
    }
    for (std::size_t left = m_pieces.size(); m_sink && left > 0; --left) {
        const QByteArray bytes = std::move(m_pieces.front());
        m_pieces.pop_front();
        call([&](ResponseSink &sink) { sink.onBytes(bytes); });
        m_waitingBytes -= bytes.size();
        if (m_isPaused && m_waitingBytes <= kHighWater / 2) {
            m_isPaused = false;
            if (m_onRoom)
                m_onRoom(this);
        }
    }
    if (m_sink && m_pieces.empty() && m_end) {
        const Error end = *std::exchange(m_end, std::nullopt);
        call([&](ResponseSink &sink) { sink.onFinished(end); });
    }
    m_isScheduled = false;
    m_deliverer = {};
    m_idle.notify_all();
    if (!m_pieces.empty()) // put in meanwhile: others on the executor come first
        schedule();
}

} // namespace davit::transport
