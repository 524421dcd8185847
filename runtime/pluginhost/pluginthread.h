// The thread of one plugin, with an event loop: its initialize, slots, timers and QObjects run
// there, and nothing of another plugin. Test: tst_pluginmanager.
#pragma once

#include "eventloopexecutor.h"
#include "pluginfaults.h"

#include <QtCore/qthread.h>
#include <memory>

namespace davit::pluginhost {

class PluginThread
{
public:
    // `faults` is borrowed and outlives the thread. The thread runs at once. [host-thread]
    PluginThread(const QString &pluginId, PluginFaults &faults);
    // A thread that has not ended by now is left to the process: destroying it would end that too.
    ~PluginThread();
    Q_DISABLE_COPY_MOVE(PluginThread)

    // [thread-safe]
    void post(support::Executor::Work work) { m_executor->post(std::move(work)); }
    // Ends the event loop and waits; false when the thread did not end by then. [host-thread]
    bool finish(std::chrono::milliseconds limit);

    // Of the plugin whose thread this is; null on any other thread. [thread-safe]
    static PluginFaults *faultsOfCurrentThread() noexcept;

private:
    class Loop;

    std::unique_ptr<EventLoopExecutor> m_executor; // lives in the thread
    std::unique_ptr<Loop> m_loop;
};

} // namespace davit::pluginhost
