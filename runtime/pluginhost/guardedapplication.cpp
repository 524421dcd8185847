#include "guardedapplication.h"

#include "pluginthread.h"

namespace davit::pluginhost {

bool GuardedApplication::notify(QObject *receiver, QEvent *event)
{
    PluginFaults *const faults = PluginThread::faultsOfCurrentThread();
    if (!faults)
        return QCoreApplication::notify(receiver, event);
    const QString subject = QString::fromLatin1(receiver->metaObject()->className());
    bool isHandled = false;
    priv::pluginCall(
        *faults, "event", subject, [&] { isHandled = QCoreApplication::notify(receiver, event); });
    return isHandled;
}

} // namespace davit::pluginhost
