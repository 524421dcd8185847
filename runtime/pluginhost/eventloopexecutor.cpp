#include "eventloopexecutor.h"

#include <QtCore/qcoreapplication.h>
#include <QtCore/qcoreevent.h>

namespace davit::pluginhost {

EventLoopExecutor::~EventLoopExecutor()
{
    close();
}

void EventLoopExecutor::post(Work work)
{
    const std::lock_guard lock(m_mutex);
    if (m_isClosed)
        return;
    m_waiting.push_back(std::move(work));
    if (m_isWakePosted)
        return;
    m_isWakePosted = true;
    QCoreApplication::postEvent(this, new QEvent(QEvent::User));
}

void EventLoopExecutor::close()
{
    std::vector<Work> dropped; // their destructors run without the lock
    const std::lock_guard lock(m_mutex);
    m_isClosed = true;
    dropped.swap(m_waiting);
}

bool EventLoopExecutor::event(QEvent *event)
{
    if (event->type() != QEvent::User)
        return QObject::event(event);
    std::vector<Work> works;
    {
        const std::lock_guard lock(m_mutex);
        works.swap(m_waiting);
        m_isWakePosted = false;
    }
    for (Work &work : works)
        work();
    return true;
}

} // namespace davit::pluginhost
