#include "strand.h"

#include <QtCore/qrunnable.h>
#include <QtCore/qthreadpool.h>
#include <utility>

// A pool orders start() before the run by locks that ThreadSanitizer does not see, since Qt is not
// built for it. This says so, for this strand alone, before anything of it is read.
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define DAVIT_TSAN_RELEASE(address) __tsan_release(address)
#define DAVIT_TSAN_ACQUIRE(address) __tsan_acquire(address)
#else
#define DAVIT_TSAN_RELEASE(address) (void)0
#define DAVIT_TSAN_ACQUIRE(address) (void)0
#endif

namespace davit::support {
namespace {
thread_local const Strand *t_current = nullptr;
}

// What the pool runs, one turn at a time; the strand's own, so that a turn allocates nothing.
class Strand::Turn final : public QRunnable
{
public:
    explicit Turn(Strand &strand) : m_strand(strand) { setAutoDelete(false); }
    void run() override
    {
        DAVIT_TSAN_ACQUIRE(this);
        m_strand.drain();
    }

private:
    Strand &m_strand;
};

Strand::Strand(QThreadPool &pool) : m_pool(pool), m_turn(std::make_unique<Turn>(*this)) { }

Strand::~Strand()
{
    stop();
}

void Strand::post(Work work)
{
    {
        const std::lock_guard lock(m_mutex);
        if (m_isStopped)
            return;
        m_waiting.push_back(std::move(work));
        if (m_isScheduled)
            return;
        m_isScheduled = true;
    }
    DAVIT_TSAN_RELEASE(m_turn.get());
    m_pool.start(m_turn.get());
}

void Strand::stop()
{
    std::vector<Work> dropped; // destroyed after the lock is released
    std::unique_lock lock(m_mutex);
    m_isStopped = true;
    dropped.swap(m_waiting);
    m_idle.wait(lock, [this] { return !m_isScheduled; });
}

bool Strand::isCurrent() const
{
    return t_current == this;
}

// Takes all that waits at once: one hop through the pool serves a whole burst.
void Strand::drain()
{
    std::vector<Work> batch;
    {
        const std::lock_guard lock(m_mutex);
        batch.swap(m_waiting);
    }
    const Strand *const outer = std::exchange(t_current, this);
    for (Work &work : batch)
        std::exchange(work, nullptr)();
    t_current = outer;
    {
        const std::lock_guard lock(m_mutex);
        if (m_waiting.empty()) {
            m_isScheduled = false;
            m_idle.notify_all(); // under the lock: stop() may destroy this right after
            return;
        }
    }
    // From start() on, the next turn may end, and stop() return, before this one has returned.
    QThreadPool &pool = m_pool;
    Turn *const turn = m_turn.get();
    DAVIT_TSAN_RELEASE(turn);
    pool.start(turn);
}

} // namespace davit::support
