// The process's QCoreApplication: what an event handler on a plugin's thread throws (a timer's, a
// queued call's, a QObject's of the plugin) is that plugin's fault instead of the end of the
// process. It stands behind PluginCall, which guards what the host itself calls.
// Source: measured with Qt 6.4.2: what leaves notify() ends the process. Test: tst_pluginhost.
#pragma once

#include <QtCore/qcoreapplication.h>

namespace davit::pluginhost {

class GuardedApplication final : public QCoreApplication
{
public:
    using QCoreApplication::QCoreApplication;
    bool notify(QObject *receiver, QEvent *event) override;
};

} // namespace davit::pluginhost
