// davit: the executable.
#include "check.h"
#include "commandline.h"
#include "hostapplication.h"
#include "initprocess.h"
#include "inspect.h"
#include "processlimits.h"
#include "rawget.h"
#include "servercalls.h"
#include "unixsignals.h"

#include <observability/redaction.h>
#include <pluginhost/guardedapplication.h>
#include <pluginhost/lastwords.h>
#include <pluginhost/trialload.h>
#include <support/timesource.h>
#include <transport/execcredential.h>

#include <QtCore/qfileinfo.h>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

using namespace davit;
using namespace davit::host;

namespace {

// A server may repeat in its answer what it was sent.
void tell(const QString &sentence)
{
    std::fprintf(stderr, "davit: %s\n", observability::redacted(sentence).toUtf8().constData());
}

int refuse(const QString &sentence)
{
    tell(sentence);
    return int(ExitCode::Configuration);
}

int inspect(const InspectOptions &options)
{
    bool isGood = true;
    for (const QString &file : options.files)
        std::fputs(inspectPlugin(file, &isGood).toUtf8().constData(), stdout);
    return int(isGood ? ExitCode::Done : ExitCode::Failure);
}

// A signal that ends a query ends the exec programs that it runs as well, with their children; the
// process dies of it, as without this. Before any other thread.
void endProgramsAtSignals()
{
    sigset_t ending;
    sigemptyset(&ending);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
        struct sigaction inherited
        {
        };
        ::sigaction(number, nullptr, &inherited);
        if (inherited.sa_handler != SIG_IGN) // nohup wants it ignored
            sigaddset(&ending, number);
    }
    ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);
    std::thread([ending] {
        int number = 0;
        while (sigwait(&ending, &number) != 0) { }
        transport::endExecPrograms();
        std::signal(number, SIG_DFL);
        ::pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
        ::raise(number);
    }).detach();
}

// A line for each finding as it comes, and one that sums them up.
int checkCluster(const CheckOptions &options)
{
    forbidCoreDumps();
    endProgramsAtSignals();
    int faults = 0;
    const QueryExit exit = check(options, [&faults](const Finding &finding) {
        faults += finding.grade == Finding::Grade::Bad ? 1 : 0;
        const QString line = withoutControls(observability::redacted(toLine(finding)));
        std::fprintf(stdout, "%s\n", line.toUtf8().constData());
        std::fflush(stdout);
    });
    if (exit == QueryExit::Done)
        std::fputs("\nDavit can work with this cluster.\n", stdout);
    else
        std::fprintf(stdout, "\n%d %s to mend, exit code %d.\n", faults,
            faults == 1 ? "thing" : "things", int(exit));
    return int(exit);
}

int getRaw(const GetOptions &options)
{
    forbidCoreDumps();
    endProgramsAtSignals();
    QString sentence;
    const QueryExit exit = rawGet(options, &sentence);
    if (!sentence.isEmpty())
        tell(sentence);
    return int(exit);
}

observability::LogSettings logSettings(const RunOptions &options)
{
    observability::LogSettings settings = options.log;
    if (::isatty(STDERR_FILENO) == 1) {
        if (!options.isEncodingChosen)
            settings.encoding = observability::LogEncoding::Console;
        if (qEnvironmentVariableIsEmpty("NO_COLOR"))
            settings.colour = observability::Colour::On;
    }
    return settings;
}

int run(const RunOptions &options)
{
    if (!options.areCoreDumpsAllowed)
        forbidCoreDumps();
    if (const Status status = checkProcessLimits(); !status.isOk())
        return refuse(status.error().message());
    const Result<Setup> setup = prepareSetup(options);
    if (!setup.isOk())
        return refuse(setup.error().message());
    observability::LogWriter log(support::systemTimeSource(), STDERR_FILENO, logSettings(options));
    log.takeQtMessages();
    pluginhost::installLastWords(STDERR_FILENO);
    int code = int(ExitCode::Done);
    HostApplication host(
        options, setup.value(), log, [&](ExitCode exitCode, const QString &sentence) {
            code = sentence.isEmpty() ? int(exitCode) : refuse(sentence);
            QCoreApplication::exit(code);
        });
    const UnixSignals unixSignals([&host](const QString &name) { host.stop(name); });
    if (const Status status = host.start(); status.isOk())
        code = QCoreApplication::exec();
    else
        code = refuse(status.error().message());
    transport::endExecPrograms();
    // No destructor runs, static or not: a plugin's thread may be in the middle of its code.
    log.flush();
    std::fflush(nullptr);
    ::_exit(code);
}

// All but "davit run", whose words go to standard error.
int answer(const Command &command)
{
    if (const auto *files = std::get_if<InspectOptions>(&command))
        return inspect(*files);
    if (const auto *query = std::get_if<CheckOptions>(&command))
        return checkCluster(*query);
    if (const auto *query = std::get_if<GetOptions>(&command))
        return getRaw(*query);
    if (const auto *trial = std::get_if<TryOptions>(&command))
        return pluginhost::runTrialLoad(QFileInfo(trial->file).absoluteFilePath());
    std::fputs(std::get<Text>(command).text.toUtf8().constData(), stdout);
    return int(ExitCode::Done);
}

// What was printed may be on its way yet; where it does not arrive nothing is a success.
int withOutputWritten(int code)
{
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
        return code;
    tell(
        QStringLiteral("standard output takes no more, so what was to stand there is cut off; look "
                       "at the disk, or at who reads it"));
    return code == int(ExitCode::Done) ? int(ExitCode::Failure) : code;
}

// Where 0, 1 or 2 was closed, the next file or socket would get the number, and log lines with it.
bool openStandardFiles()
{
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(number, F_GETFD) == -1 && ::open("/dev/null", O_RDWR) != number)
            return false;
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    if (!openStandardFiles())
        return int(ExitCode::Configuration); // there is nowhere to say it
    leaveFirstProcess();
    pluginhost::GuardedApplication app(argc, argv);
    const Result<Command> command = parseCommandLine(QCoreApplication::arguments().mid(1));
    if (!command.isOk())
        return refuse(command.error().message());
    if (const auto *options = std::get_if<RunOptions>(&command.value()))
        return run(*options);
    const int code = withOutputWritten(answer(command.value()));
    if (std::holds_alternative<TryOptions>(command.value()))
        ::_exit(code); // the library stays loaded
    return code;
}
