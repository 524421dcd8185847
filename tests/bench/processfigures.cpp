#include "processfigures.h"

#include <davit/priv/poolaccess.h>

#include <QtCore/qfile.h>
#include <chrono>
#include <malloc.h>
#include <sys/resource.h>

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

quint64 liveHeapBytes()
{
    const struct mallinfo2 heap = ::mallinfo2();
    const davit::priv::PoolStats pool = davit::priv::poolStats();
    return quint64(heap.uordblks) + quint64(heap.hblkhd) + pool.liveBytes + pool.wastedBytes;
}

qint64 wallNanoseconds()
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

} // namespace bench
