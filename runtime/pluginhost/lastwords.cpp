#include "lastwords.h"

#include "pluginfaults.h"

#include <QtCore/qfile.h>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <execinfo.h>
#include <iterator>
#include <link.h>
#include <mutex>
#include <poll.h>
#include <unistd.h>

namespace davit::pluginhost {

namespace {

int g_fileDescriptor = -1;
constinit thread_local char t_uncaught[256] = ""; // what std::terminate was called for

// The code of one plugin's library. Written once, and read by signal handlers.
struct Code
{
    uintptr_t begin = 0;
    uintptr_t end = 0; // one after
    const char *pluginId = nullptr; // lives as long as the process
};
constinit Code g_codes[256];
constinit std::atomic<size_t> g_codesKnown{0}; // what is below it is written

const char *pluginOf(const void *address)
{
    const auto at = reinterpret_cast<uintptr_t>(address);
    const size_t known = g_codesKnown.load(std::memory_order_acquire);
    for (size_t i = 0; i < known; ++i)
        if (at >= g_codes[i].begin && at < g_codes[i].end)
            return g_codes[i].pluginId;
    return nullptr;
}

// The kernel's signal frame is walked through as well. glibc's backtrace() takes no lock and no
// memory after its first call (libgcc of GCC 12 finds the frames by _dl_find_object).
const char *pluginOnStack()
{
    void *frames[128];
    const int depth = ::backtrace(frames, 128);
    for (int i = 0; i < depth; ++i)
        if (const char *const id = pluginOf(frames[i]))
            return id;
    return nullptr;
}

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
    // Of Kubernetes, whose names are ASCII, but for what a plugin calls its own.
    Sentence &operator<<(QStringView text)
    {
        for (const QChar c : text) {
            const char letter[] = {c.unicode() < 0x7f ? char(c.unicode()) : '?', '\0'};
            *this << letter;
        }
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
    if (code.entry) {
        sentence << "plugin \"" << code.pluginId << "\" ended the process in its " << code.entry;
        if (!code.subject.isEmpty())
            sentence << " (" << code.subject << ")";
        sentence << ": " << how << detail << "; mend the plugin or remove it";
    } else if (const char *const id = pluginOnStack())
        sentence << "plugin \"" << id << "\" ended the process outside of the host's calls: " << how
                 << detail << "; mend the plugin or remove it";
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
    pluginOnStack(); // the first one loads libgcc
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

void addToLastWords(const QString &pluginId, const QString &library)
{
    void *const handle = ::dlopen(QFile::encodeName(library).constData(), RTLD_LAZY | RTLD_NOLOAD);
    link_map *map = nullptr;
    if (!handle || ::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return;
    Code code{0, 0, ::strdup(pluginId.toUtf8().constData())};
    const auto codeOf = [&](const dl_phdr_info &info) {
        for (int i = 0; i < info.dlpi_phnum && info.dlpi_addr == map->l_addr; ++i) {
            const ElfW(Phdr) &part = info.dlpi_phdr[i];
            if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0)
                code = {info.dlpi_addr + part.p_vaddr, info.dlpi_addr + part.p_vaddr + part.p_memsz,
                    code.pluginId};
        }
    };
    ::dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *to) {
            (*static_cast<decltype(codeOf) *>(to))(*info);
            return 0;
        },
        const_cast<void *>(static_cast<const void *>(&codeOf)));
    ::dlclose(handle); // it stays loaded
    static std::mutex mutex; // one writer
    const std::lock_guard lock(mutex);
    const size_t known = g_codesKnown.load(std::memory_order_relaxed);
    if (code.end == 0 || known == std::size(g_codes))
        return;
    g_codes[known] = code;
    g_codesKnown.store(known + 1, std::memory_order_release);
}

} // namespace davit::pluginhost
