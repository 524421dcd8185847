// The bridge of one exchange between the io thread and the executor of whoever asked. Contract:
//   - the sink hears head, bytes and end in the order they were put in, on the executor.
//   - at most kHighWater bytes (plus one piece) wait; then wantsBytes() is false until half of them
//   were heard, and `onRoom` is called once.
//   - one work of the executor hears what was there when it began, so that a source that never
//   pauses leaves the executor to others.
//   - close() ends it: nothing is heard after it returns, and executor and sink are not touched any
//   more. On another thread than the one that delivers it waits for the call under way, as
//   std::stop_callback does.
// Test: tst_handover.
#pragma once

#include "transport.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace davit::transport {

class HandOver final : public std::enable_shared_from_this<HandOver>
{
public:
    static constexpr qsizetype kHighWater = 1024 * 1024;

    // Called on the executor; must only post.
    using OnRoom = std::function<void(HandOver *)>;

    HandOver(support::Executor &executor, ResponseSink &sink, OnRoom onRoom);

    // What follows is for the io side. After finish() nothing may be put in. [thread-safe]
    void putHead(const ResponseHead &head);
    void putBytes(QByteArray bytes);
    void finish(const Error &error);
    // False: stop reading, onRoom will follow. [thread-safe]
    bool wantsBytes();

    // For the owner of the exchange. [thread-safe]
    void close();

private:
    void schedule(); // with m_mutex held
    void deliver();

    std::mutex m_mutex;
    std::condition_variable m_idle;
    support::Executor *m_executor; // null after close(). GUARDED_BY(m_mutex)
    ResponseSink *m_sink; // GUARDED_BY(m_mutex)
    OnRoom m_onRoom; // GUARDED_BY(m_mutex)
    std::optional<ResponseHead> m_head; // GUARDED_BY(m_mutex)
    std::deque<QByteArray> m_pieces; // GUARDED_BY(m_mutex)
    qsizetype m_waitingBytes = 0; // GUARDED_BY(m_mutex)
    std::optional<Error> m_end; // GUARDED_BY(m_mutex)
    std::thread::id m_deliverer; // while the sink is being called. GUARDED_BY(m_mutex)
    bool m_isScheduled = false; // GUARDED_BY(m_mutex)
    bool m_isPaused = false; // GUARDED_BY(m_mutex)
};

} // namespace davit::transport
