#include "pluginthread.h"

#include "support/keepforever.h"

namespace davit::pluginhost {

namespace {

thread_local PluginFaults *t_faults = nullptr;

} // namespace

class PluginThread::Loop final : public QThread
{
public:
    explicit Loop(PluginFaults &faults) : m_faults(faults) { }

protected:
    void run() override
    {
        t_faults = &m_faults;
        exec();
    }

private:
    PluginFaults &m_faults;
};

PluginThread::PluginThread(const QString &pluginId, PluginFaults &faults)
    : m_executor(std::make_unique<EventLoopExecutor>()), m_loop(std::make_unique<Loop>(faults))
{
    m_loop->setObjectName(QStringLiteral("plugin ") + pluginId);
    m_executor->moveToThread(m_loop.get());
    m_loop->start();
}

PluginThread::~PluginThread()
{
    if (finish(std::chrono::milliseconds(0)))
        return;
    // The thread may still be inside one of its works.
    support::keepForever(std::shared_ptr<EventLoopExecutor>(std::move(m_executor)));
    support::keepForever(std::shared_ptr<QThread>(std::move(m_loop)));
}

bool PluginThread::finish(std::chrono::milliseconds limit)
{
    m_executor->close();
    m_loop->quit();
    return m_loop->wait(QDeadlineTimer(limit));
}

PluginFaults *PluginThread::faultsOfCurrentThread() noexcept
{
    return t_faults;
}

} // namespace davit::pluginhost
