#include "trialload.h"

#include <QtCore/qfileinfo.h>
#include <QtCore/qpluginloader.h>
#include <QtCore/qtimer.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sys/prctl.h>
#include <unistd.h>

namespace davit::pluginhost {

namespace {

constexpr char kLoaded[] = "it can be loaded\n";
constexpr char kNotLoaded[] = "not loaded: ";
constexpr qsizetype kTextLimit = 4096; // of what plugin code may print there, too

QString inStaticConstructor(const QString &what)
{
    return QStringLiteral("its static constructors %1; mend what it does before initialize")
        .arg(what);
}

// So ends the loader itself when a library is cut or written over.
bool isFromBadMemory(int signalNumber)
{
    return signalNumber == SIGSEGV || signalNumber == SIGBUS;
}

// The child's answer; no fault: it can be loaded.
void tell(const QString &fault)
{
    std::printf("%s%s", fault.isEmpty() ? kLoaded : kNotLoaded,
        fault.isEmpty() ? "" : (fault.toUtf8() + '\n').constData());
    std::fflush(nullptr);
}

// std::terminate in the child. Without an exception it is a crash.
[[noreturn]] void tellException()
{
    if (const std::exception_ptr thrown = std::current_exception()) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::exception &e) {
            tell(inStaticConstructor(QStringLiteral("threw: ") + QString::fromUtf8(e.what())));
        } catch (...) {
            tell(inStaticConstructor(QStringLiteral("threw something that is no std::exception")));
        }
        ::_exit(1);
    }
    std::abort();
}

} // namespace

TrialLoad::TrialLoad(
    const QStringList &program, const QString &library, std::chrono::milliseconds limit, Done done)
    : m_limit(limit), m_done(std::move(done))
{
    m_process.setStandardInputFile(QProcess::nullDevice());
    m_process.setStandardErrorFile(QProcess::nullDevice());
    QObject::connect(&m_process, &QProcess::readyReadStandardOutput, &m_process,
        [this] { m_text = (m_text + m_process.readAllStandardOutput()).right(kTextLimit); });
    QObject::connect(&m_process, &QProcess::finished, &m_process, [this] { ended(); });
    QObject::connect(
        &m_process, &QProcess::errorOccurred, &m_process, [this](QProcess::ProcessError error) {
            if (error == QProcess::FailedToStart)
                QTimer::singleShot(0, &m_process, [this] { ended(); });
        });
    QTimer::singleShot(limit, &m_process, [this] {
        m_isTooLate = true;
        m_process.kill();
    });
    m_process.start(program.first(), program.mid(1) + QStringList(library));
}

TrialLoad::~TrialLoad()
{
    m_process.disconnect();
    if (m_process.state() == QProcess::NotRunning)
        return;
    m_process.kill();
    m_process.waitForFinished(30'000); // on a busy machine, too: else QProcess warns and waits
}

void TrialLoad::ended()
{
    QString fault;
    const qsizetype said = m_text.lastIndexOf(kNotLoaded);
    if (m_isTooLate)
        fault = inStaticConstructor(
            QStringLiteral("have not returned for %1 ms").arg(m_limit.count()));
    else if (m_process.error() == QProcess::FailedToStart)
        fault = QString();
    else if (m_process.exitStatus() == QProcess::CrashExit)
        fault = inStaticConstructor(QStringLiteral("crashed (signal %1)").arg(m_process.exitCode())
            + (isFromBadMemory(m_process.exitCode()) ? QStringLiteral(" or the file is damaged")
                                                     : QString()));
    else if (said >= 0)
        fault = QString::fromUtf8(m_text.mid(said + qsizetype(sizeof kNotLoaded) - 1)).trimmed();
    else if (!m_text.endsWith(kLoaded))
        fault = inStaticConstructor(
            QStringLiteral("ended the process (exit code %1)").arg(m_process.exitCode()));
    std::exchange(m_done, nullptr)(fault);
}

QString loadLibrary(QPluginLoader &loader)
{
    // With lazy binding a missing symbol would end the process at the first call.
    loader.setLoadHints(QLibrary::ResolveAllSymbolsHint | QLibrary::PreventUnloadHint);
    if (loader.load())
        return {};
    return QStringLiteral("it could not be loaded (%1); rebuild it against this SDK")
        .arg(loader.errorString().simplified());
}

int runTrialLoad(const QString &library)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a host that is gone needs no answer
    // What the library throws gets here with every Qt: that of 6.8 lets nothing out of its loader.
    std::set_terminate(tellException);
    QPluginLoader loader(library);
    const QString fault = QFileInfo(library).isFile()
        ? loadLibrary(loader)
        : QStringLiteral("there is no regular file %1; name the library of a plugin").arg(library);
    tell(fault);
    return fault.isEmpty() ? 0 : 1;
}

} // namespace davit::pluginhost
