#include "processlimits.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <vector>

namespace davit::host {

namespace {

constexpr rlim_t kUsualFiles = 1024;
constexpr rlim_t kLeastFiles = 128; // connections, pipes of threads, libraries while they load
constexpr int kLeastThreads = 16; // io, timers, web servers, strands, a plugin and its workers

Status checkFiles()
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return Status::ok();
    if (limit.rlim_cur < kUsualFiles) {
        limit.rlim_cur = std::min(limit.rlim_max, kUsualFiles);
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= kLeastFiles)
        return Status::ok();
    return Status(ErrorCode::InvalidConfiguration,
        QStringLiteral("this process may open %1 files, and needs %2; raise the limit (ulimit -n, "
                       "LimitNOFILE of systemd)")
            .arg(limit.rlim_cur)
            .arg(kLeastFiles));
}

// All at once, then they end.
Status checkThreads()
{
    std::mutex mutex;
    std::condition_variable changed;
    bool isOver = false;
    std::vector<std::thread> threads;
    QString fault;
    try {
        threads.reserve(kLeastThreads);
        for (int i = 0; i < kLeastThreads; ++i)
            threads.emplace_back([&] {
                std::unique_lock lock(mutex);
                changed.wait(lock, [&] { return isOver; });
            });
    } catch (const std::system_error &e) {
        fault = QString::fromLocal8Bit(e.what());
    }
    {
        const std::lock_guard lock(mutex);
        isOver = true;
    }
    changed.notify_all();
    for (std::thread &thread : threads)
        thread.join();
    if (fault.isEmpty())
        return Status::ok();
    return Status(ErrorCode::InvalidConfiguration,
        QStringLiteral("this process cannot have the threads that it needs (%1, at number %2 of "
                       "%3); raise its limits (memory, ulimit -u, pids.max, TasksMax of systemd)")
            .arg(fault)
            .arg(threads.size() + 1)
            .arg(kLeastThreads));
}

} // namespace

Status checkProcessLimits()
{
    const Status status = checkFiles();
    return status.isOk() ? checkThreads() : status;
}

void forbidCoreDumps()
{
    constexpr rlimit kNone{0, 0};
    ::setrlimit(RLIMIT_CORE, &kNone);
    ::prctl(PR_SET_DUMPABLE, 0); // a pipe in core_pattern gets a dump in spite of the limit
}

} // namespace davit::host
