// Works that run in the event loop of the thread that made this executor: the host's.
// Test: tst_syncreporter uses it.
#pragma once

#include <support/executor.h>

#include <QtCore/qobject.h>

namespace davit::host {

class EventLoopExecutor final : public support::Executor
{
public:
    // After the executor's death nothing that was posted runs any more. [thread-safe]
    void post(Work work) override
    {
        QMetaObject::invokeMethod(&m_receiver, std::move(work), Qt::QueuedConnection);
    }

private:
    QObject m_receiver;
};

} // namespace davit::host
