#include "mutationcheck.h"

namespace davit::cache {

MutationCheck::MutationCheck(std::shared_ptr<const ThreadSafeStore> store,
    support::Executor &executor, support::TimeSource &time, std::chrono::nanoseconds period,
    Report report)
    : m_store(std::move(store))
    , m_executor(executor)
    , m_time(time)
    , m_period(period)
    , m_report(std::move(report))
    , m_isAlive(std::make_shared<bool>(true))
{
    arm();
}

MutationCheck::~MutationCheck()
{
    m_time.cancel(m_timer);
}

void MutationCheck::arm()
{
    m_timer
        = m_time.callAfter(m_period, m_executor, [this, alive = std::weak_ptr<bool>(m_isAlive)] {
              if (!alive.lock())
                  return;
              look();
              arm();
          });
}

void MutationCheck::look()
{
    m_store->snapshot()->objects.forEach([this](const Object &object) {
        const quint64 handle = priv::PoolAccess::peek(object);
        if (priv::isIntact(object) || m_told.contains(handle))
            return;
        m_told.insert(handle, object);
        m_report(object);
    });
}

} // namespace davit::cache
