// An executor over a thread pool: works run one after another, on whichever thread of the pool is
// free. A strand runs what waits when its turn comes; what came meanwhile waits for the next turn,
// behind the other strands of the pool, so that one that never rests starves nobody. One strand
// serves one resource ([cache-thread]), so that resources run side by side and nothing inside one
// needs a lock. Test: tst_strand.
#pragma once

#include "executor.h"

#include <QtCore/qglobal.h>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

class QThreadPool;

namespace davit::support {

class Strand final : public Executor
{
public:
    // `pool` is borrowed and outlives the strand.
    explicit Strand(QThreadPool &pool);
    // Waits for the work that runs; drops the others. Must not be called from a work of this
    // strand.
    ~Strand() override;
    Q_DISABLE_COPY_MOVE(Strand)

    // [thread-safe]
    void post(Work work) override;
    // No work is accepted any more and waiting ones are dropped; returns when the one that runs has
    // ended. [thread-safe]
    void stop();
    // True on the thread that runs a work of this strand now. For DAVIT_ASSERT_STRAND.
    // [thread-safe]
    bool isCurrent() const;

private:
    class Turn;
    void drain();

    QThreadPool &m_pool;
    const std::unique_ptr<Turn> m_turn;
    std::mutex m_mutex;
    std::condition_variable m_idle;
    std::vector<Work> m_waiting; // GUARDED_BY(m_mutex)
    bool m_isScheduled = false; // GUARDED_BY(m_mutex)
    bool m_isStopped = false; // GUARDED_BY(m_mutex)
};

} // namespace davit::support
