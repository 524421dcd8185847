#include "unixsignals.h"

#include "exitcodes.h"

#include <QtCore/qsocketnotifier.h>
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace davit::host {

namespace {

std::atomic<int> g_writeEnd{-1};
std::atomic<int> g_count{0};
std::atomic<bool> g_isEnding{false}; // by a second one

// Not at all where it would have to wait for a reader.
void tellSecond()
{
    static constexpr char kLine[]
        = "davit: a second signal: it ends at once, what runs is cut off\n";
    pollfd standardError{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&standardError, 1, 0) == 1 && (standardError.revents & POLLOUT) != 0)
        (void)!::write(STDERR_FILENO, kLine, sizeof kLine - 1);
}

// Async-signal-safe: atomics, poll, write and _exit alone.
void onSignal(int number)
{
    const int saved = errno;
    const bool isFirst = g_count.fetch_add(1) == 0;
    if (!isFirst && number == SIGHUP)
        return; // a shell and the kernel both tell that the terminal is gone
    if (!isFirst) {
        g_isEnding = true;
        tellSecond();
        ::_exit(int(ExitCode::Failure));
    }
    const auto byte = static_cast<unsigned char>(number);
    if (::write(g_writeEnd.load(), &byte, 1) != 1)
        ::_exit(int(ExitCode::Failure)); // nobody would hear of it
    errno = saved;
}

// A process that was halted gets its signals at once, and each may be in the hands of another
// thread: none of them must be overtaken by what the first one leads to.
void letSecondEnd()
{
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);
    ::pthread_sigmask(SIG_UNBLOCK, &ending, nullptr); // this thread takes what still waits
    while (g_isEnding)
        ::pause(); // the thread that has it ends the process
}

QString nameOf(int number)
{
    if (number == SIGHUP)
        return QStringLiteral("SIGHUP");
    return number == SIGINT ? QStringLiteral("SIGINT") : QStringLiteral("SIGTERM");
}

} // namespace

UnixSignals::UnixSignals(std::function<void(const QString &)> onStop) : m_onStop(std::move(onStop))
{
    if (::pipe2(m_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        qFatal("cannot make the pipe for signals");
    g_writeEnd = m_pipe[1];
    g_count = 0;
    g_isEnding = false;
    auto *notifier = new QSocketNotifier(m_pipe[0], QSocketNotifier::Read, this);
    connect(notifier, &QSocketNotifier::activated, this, &UnixSignals::onReadable);
    struct sigaction action
    {
    };
    action.sa_handler = onSignal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGTERM, &action, nullptr);
    ::sigaction(SIGINT, &action, nullptr);
    struct sigaction inherited
    {
    };
    ::sigaction(SIGHUP, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) // nohup wants it ignored
        ::sigaction(SIGHUP, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

UnixSignals::~UnixSignals()
{
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGINT, SIG_DFL);
    if (std::signal(SIGHUP, SIG_DFL) == SIG_IGN)
        std::signal(SIGHUP, SIG_IGN);
    g_writeEnd = -1;
    ::close(m_pipe[0]);
    ::close(m_pipe[1]);
}

void UnixSignals::onReadable()
{
    unsigned char number = 0;
    if (::read(m_pipe[0], &number, 1) != 1)
        return;
    letSecondEnd();
    m_onStop(nameOf(number));
}

} // namespace davit::host
