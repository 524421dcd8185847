// A debugging aid: looks at the cached objects of one resource now and then, and names those whose
// memory was written to. Objects have no setters and are shared by all plugins, so only a stray
// pointer can do it. Contract:
//   - Each damaged object is told once; one that was replaced meanwhile is looked at anew.
//   - Objects that have left the store are not looked at (client-go keeps them for two minutes).
// Davit decides otherwise: damage is told, where client-go ends the process (4.7). Case B30. Test:
// tst_cachechecks.
#pragma once

#include "threadsafestore.h"

#include <support/timesource.h>

namespace davit::cache {

class MutationCheck
{
public:
    using Report = std::function<void(const Object &damaged)>; // [cache-thread]

    // Looks each `period` (above zero), on `executor`. Everything borrowed outlives the check.
    MutationCheck(std::shared_ptr<const ThreadSafeStore> store, support::Executor &executor,
        support::TimeSource &time, std::chrono::nanoseconds period, Report report);
    ~MutationCheck(); // on the executor, or when it runs nothing any more
    Q_DISABLE_COPY_MOVE(MutationCheck)

private:
    void arm();
    void look();

    const std::shared_ptr<const ThreadSafeStore> m_store;
    support::Executor &m_executor;
    support::TimeSource &m_time;
    const std::chrono::nanoseconds m_period;
    const Report m_report;
    std::shared_ptr<bool> m_isAlive; // timers look
    support::TimeSource::TimerId m_timer = 0;
    QHash<quint64, Object> m_told; // handles of damaged objects, held so that they stay their own
};

} // namespace davit::cache
