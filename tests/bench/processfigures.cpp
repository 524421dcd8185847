#include "processfigures.h"

#include <davit/priv/poolaccess.h>

#include <QtCore/qfile.h>
#include <algorithm>
#include <chrono>
#include <malloc.h>
#include <sys/resource.h>
#include <thread>

namespace bench {
namespace {

double statusMegabytes(const QByteArray &name)
{
    QFile file(QStringLiteral("/proc/self/status"));
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    const QList<QByteArray> lines = file.readAll().split('\n');
    for (const QByteArray &line : lines) {
        if (line.startsWith(name + ':'))
            return line.sliced(name.size() + 1).simplified().split(' ').first().toDouble() / 1024;
    }
    return 0;
}

double seconds(const timeval &time)
{
    return double(time.tv_sec) + double(time.tv_usec) / 1e6;
}

quint64 liveHeapBytes()
{
    const struct mallinfo2 heap = ::mallinfo2();
    const davit::priv::PoolStats pool = davit::priv::poolStats();
    return quint64(heap.uordblks) + quint64(heap.hblkhd) + pool.liveBytes + pool.wastedBytes;
}

} // namespace

double cpuSeconds()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double residentMegabytes()
{
    return statusMegabytes("VmRSS");
}

double peakResidentMegabytes()
{
    return statusMegabytes("VmHWM");
}

void trimMemory()
{
    davit::priv::trimPool();
    ::malloc_trim(0);
}

quint64 settledHeapBytes()
{
    quint64 least = liveHeapBytes();
    for (int unchanged = 0, tries = 0; unchanged < 2 && tries < 50; ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const quint64 now = liveHeapBytes();
        unchanged = now < least ? 0 : unchanged + 1;
        least = std::min(least, now);
    }
    return least;
}

qint64 wallNanoseconds()
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

} // namespace bench
