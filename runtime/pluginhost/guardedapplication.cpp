#include "guardedapplication.h"

#include "pluginthread.h"

#include <support/glibswitch.h>

namespace davit::pluginhost {

// Before the first event loop is made.
static int &withOwnEventLoop(int &argc)
{
    if (!qEnvironmentVariableIsSet(support::kGlibSwitch))
        qputenv(support::kGlibSwitch, support::kSetByDavit);
    return argc;
}

GuardedApplication::GuardedApplication(int &argc, char **argv)
    : QCoreApplication(withOwnEventLoop(argc), argv)
{ }

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
