#include "initprocess.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace davit::host {
namespace {

// By a process; those of the kernel went to the whole group of the terminal, but for the hang-up,
// which it tells the first process of a session alone.
bool isForDavit(const siginfo_t &signal)
{
    return signal.si_code <= 0 || signal.si_signo == SIGHUP;
}

// Takes whoever has ended. Does not return when that was `davit`.
void reap(pid_t davit)
{
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0)
        if (ended == davit)
            ::_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

} // namespace

void leaveFirstProcess()
{
    if (::getpid() != 1)
        return;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, &before); // blocked ones are kept, also those that PID 1 ignores
    std::signal(SIGCHLD, SIG_DFL);
    const pid_t davit = ::fork();
    if (davit <= 0) { // without a second process it is better than nothing
        ::sigprocmask(SIG_SETMASK, &before, nullptr);
        return;
    }
    reap(davit); // who ended before the signals were kept
    for (;;) {
        siginfo_t signal{};
        const int number = ::sigwaitinfo(&all, &signal);
        if (number == SIGCHLD)
            reap(davit);
        else if (number > 0 && isForDavit(signal))
            ::kill(davit, number);
    }
}

} // namespace davit::host
