// The process's QCoreApplication: what an event handler on a plugin's thread throws (a timer's, a
// queued call's, a QObject's of the plugin) is that plugin's fault instead of the end of the
// process. It stands behind PluginCall, which guards what the host itself calls.
// Its threads run Qt's own event loop, unless QT_NO_GLIB is set to nothing: GLib's writes to a file
// at each posted event and wakes the receiver, Qt's once until it is awake (20,000 Pods by a
// streaming list: 158,000 writes and 4,600).
// Source: measured with Qt 6.4.2: what leaves notify() ends the process. Test: tst_pluginhost.
#pragma once

#include <QtCore/qcoreapplication.h>

namespace davit::pluginhost {

class GuardedApplication final : public QCoreApplication
{
public:
    GuardedApplication(int &argc, char **argv);
    bool notify(QObject *receiver, QEvent *event) override;
};

} // namespace davit::pluginhost
