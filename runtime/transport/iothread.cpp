#include "iothread.h"

#include <QtCore/qcoreapplication.h>
#include <QtCore/qcoreevent.h>
#include <utility>

namespace davit::transport {

class IoThread::Mailbox final : public QObject
{
public:
    explicit Mailbox(IoThread &owner) : m_owner(owner) { }

protected:
    bool event(QEvent *event) override
    {
        if (event->type() != QEvent::User)
            return QObject::event(event);
        m_owner.drain();
        return true;
    }

private:
    IoThread &m_owner;
};

IoThread::IoThread() : m_mailbox(std::make_unique<Mailbox>(*this))
{
    m_thread.setObjectName(QStringLiteral("io"));
    m_mailbox->moveToThread(&m_thread);
    m_thread.start();
}

IoThread::~IoThread()
{
    stop({});
}

void IoThread::post(Work work)
{
    const std::lock_guard lock(m_mutex);
    if (m_isStopped)
        return;
    m_waiting.push_back(std::move(work));
    wake();
}

void IoThread::stop(Work last)
{
    std::vector<Work> dropped; // destroyed outside the lock
    {
        const std::lock_guard lock(m_mutex);
        if (std::exchange(m_isStopped, true))
            return;
        dropped.swap(m_waiting);
        m_waiting.push_back([this, last = std::move(last)] {
            if (last)
                last();
            // TSan does not see what QThread::wait() orders; this lock and the one below it does.
            const std::lock_guard visible(m_mutex);
            m_thread.quit();
        });
        wake();
    }
    m_thread.wait();
    const std::lock_guard visible(m_mutex);
}

// The event is posted under the lock that drain() takes first: so TSan sees that it was made before
// it is deleted.
void IoThread::wake()
{
    if (std::exchange(m_isWakePosted, true))
        return;
    QCoreApplication::postEvent(m_mailbox.get(), new QEvent(QEvent::User));
}

void IoThread::drain()
{
    std::vector<Work> batch;
    {
        const std::lock_guard lock(m_mutex);
        batch.swap(m_waiting);
        m_isWakePosted = false;
    }
    for (Work &work : batch)
        std::exchange(work, nullptr)();
}

} // namespace davit::transport
