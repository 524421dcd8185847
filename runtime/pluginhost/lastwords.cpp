#include "lastwords.h"

#include "pluginfaults.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <poll.h>
#include <unistd.h>

namespace davit::pluginhost {

namespace {

int g_fileDescriptor = -1;
constinit thread_local char t_uncaught[256] = ""; // what std::terminate was called for

// Async-signal-safe: a heap that is broken is one of the reasons to be here.
class Sentence
{
public:
    Sentence &operator<<(const char *text)
    {
        for (; *text != '\0' && m_size < sizeof m_text - 1; ++text)
            m_text[m_size++] = static_cast<unsigned char>(*text) < ' ' ? ' ' : *text;
        return *this;
    }
    void write()
    {
        m_text[m_size++] = '\n';
        pollfd waiting{g_fileDescriptor, POLLOUT, 0};
        if (::poll(&waiting, 1, 200) == 1)
            (void)!::write(g_fileDescriptor, m_text, m_size);
    }

private:
    char m_text[1024];
    size_t m_size = 0;
};

void say(const char *how, const char *detail = "")
{
    const RunningCode code = PluginFaults::runningHere();
    Sentence sentence;
    sentence << "davit: ";
    if (code.entry)
        sentence << "plugin \"" << code.pluginId << "\" ended the process in its " << code.entry
                 << ": " << how << detail << "; mend the plugin or remove it";
    else
        sentence << "the process ends: " << how << detail
                 << ", on a thread that ran no plugin's code";
    sentence.write();
}

void onExit()
{
    say("it called exit()");
    ::_exit(1);
}

void onTerminate()
{
    const char *what = "";
    try {
        if (const std::exception_ptr exception = std::current_exception())
            std::rethrow_exception(exception);
        what = "std::terminate was called";
    } catch (const std::exception &e) {
        what = e.what();
    } catch (...) {
        what = "something that is no std::exception";
    }
    std::strncpy(t_uncaught, what, sizeof t_uncaught - 1);
    std::abort();
}

const char *describe(int number)
{
    switch (number) {
    case SIGABRT:
        return "it called abort() or qFatal()";
    case SIGSEGV:
        return "SIGSEGV";
    case SIGBUS:
        return "SIGBUS";
    case SIGFPE:
        return "SIGFPE";
    default:
        return "SIGILL";
    }
}

void onSignal(int number)
{
    if (number == SIGABRT && t_uncaught[0] != '\0')
        say("it threw, and nobody caught: ", t_uncaught); // or no exception
    else
        say(describe(number));
    ::raise(number); // once this returns, and without it: SA_RESETHAND
}

} // namespace

void installLastWords(int fileDescriptor)
{
    g_fileDescriptor = fileDescriptor;
    std::atexit(onExit);
    std::at_quick_exit(onExit);
    std::set_terminate(onTerminate);
    struct sigaction action
    {
    };
    action.sa_handler = onSignal;
    action.sa_flags = int(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
        struct sigaction present
        {
        };
        if (::sigaction(number, nullptr, &present) == 0 && present.sa_handler == SIG_DFL)
            ::sigaction(number, &action, nullptr);
    }
}

} // namespace davit::pluginhost
