// SIGTERM, SIGINT and SIGHUP as a call in the host's event loop. Contract:
//   - the first one is told once, on the thread that made this object;
//   - the second one ends the process at once with exit code 1 and a line on standard error,
//   whatever the event loop does, and also when both waited for a process that was halted;
//   - SIGHUP never is that second one, and stays ignored where it was when the process began.
// One object a process. SIGPIPE is ignored from then on. Test: tst_davit, firstSignal and
// secondSignal.
#pragma once

#include <QtCore/qobject.h>
#include <functional>

namespace davit::host {

class UnixSignals final : public QObject
{
    Q_OBJECT
public:
    // `onStop` gets the signal's name ("SIGTERM"). [host-thread]
    explicit UnixSignals(std::function<void(const QString &name)> onStop);
    ~UnixSignals() override; // the default actions are back
    Q_DISABLE_COPY_MOVE(UnixSignals)

private:
    void onReadable();

    const std::function<void(const QString &)> m_onStop;
    int m_pipe[2] = {-1, -1};
};

} // namespace davit::host
