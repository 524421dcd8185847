// Loads a plugin's library in a process of its own before the host does. Contract:
//   - Static constructors run inside dlopen. What they throw leaves it with glibc's loader lock
//   held: from then on dlopen, dlsym, dladdr and thread_local destructors of all other threads
//   hang. No thread of the host's own helps against that, so the host never loads what failed here.
//   - That they crash, end the process or do not return is found in the same way.
// Source: measured with glibc 2.36 and Qt 6.4.2. Test: tst_pluginmanager, badLoads.
#pragma once

#include <QtCore/qprocess.h>
#include <chrono>
#include <functional>
#include <memory>

class QPluginLoader;

namespace davit::pluginhost {

class TrialLoad
{
public:
    // Why it cannot be loaded and what to do, without the file's name; empty when it can.
    using Done = std::function<void(const QString &fault)>;

    // Runs `program` with the library's path appended; it calls runTrialLoad(). `done` is called
    // once, from the event loop, and does not destroy this. A program that cannot be started is no
    // fault of the plugin's. [host-thread]
    TrialLoad(const QStringList &program, const QString &library, std::chrono::milliseconds limit,
        Done done);
    ~TrialLoad(); // ends the trial, and `done` is not called any more
    Q_DISABLE_COPY_MOVE(TrialLoad)

private:
    void ended();

    QProcess m_process;
    const std::chrono::milliseconds m_limit;
    Done m_done;
    QByteArray m_text; // the end of what it printed
    bool m_isTooLate = false;
};

// Maps the library with all its symbols, and runs its static constructors. Like TrialLoad::Done.
QString loadLibrary(QPluginLoader &loader);

// In the trial's process: loads the library, prints what TrialLoad understands and people can read,
// and gives the exit code; the caller leaves by _exit. [host-thread]
int runTrialLoad(const QString &library);

} // namespace davit::pluginhost
