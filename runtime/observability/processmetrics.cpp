#include "processmetrics.h"

#include "metricsregistry.h"

#include <QtCore/qdir.h>
#include <QtCore/qfile.h>
#include <sys/resource.h>
#include <unistd.h>

namespace davit::observability {

namespace {

QByteArray contentOf(const char *path)
{
    QFile file(QString::fromLatin1(path));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

double bootTimeSeconds()
{
    for (const QByteArray &line : contentOf("/proc/stat").split('\n'))
        if (line.startsWith("btime "))
            return line.mid(6).toDouble();
    return 0;
}

} // namespace

void collectProcessMetrics(MetricsSink &sink)
{
    using Type = MetricsRegistry::Type;
    const QByteArray stat = contentOf("/proc/self/stat");
    // Fields from the third on stand behind the last ')': the command may hold anything.
    const QList<QByteArray> fields = stat.mid(stat.lastIndexOf(')') + 2).split(' ');
    if (fields.size() < 22)
        return;
    const double ticks = double(::sysconf(_SC_CLK_TCK));
    sink.add(Type::Counter, QStringLiteral("process_cpu_seconds_total"),
        QStringLiteral("User and system CPU time spent in seconds"), {},
        (fields[11].toDouble() + fields[12].toDouble()) / ticks);
    sink.add(Type::Gauge, QStringLiteral("process_threads"), QStringLiteral("Threads"), {},
        fields[17].toDouble());
    sink.add(Type::Gauge, QStringLiteral("process_start_time_seconds"),
        QStringLiteral("Start time of the process since the Unix epoch in seconds"), {},
        bootTimeSeconds() + fields[19].toDouble() / ticks);
    sink.add(Type::Gauge, QStringLiteral("process_virtual_memory_bytes"),
        QStringLiteral("Virtual memory size in bytes"), {}, fields[20].toDouble());
    sink.add(Type::Gauge, QStringLiteral("process_resident_memory_bytes"),
        QStringLiteral("Resident memory size in bytes"), {},
        fields[21].toDouble() * double(::sysconf(_SC_PAGESIZE)));
    sink.add(Type::Gauge, QStringLiteral("process_open_fds"),
        QStringLiteral("Open file descriptors"), {},
        double(QDir(QStringLiteral("/proc/self/fd"))
                   .entryList(QDir::AllEntries | QDir::System | QDir::NoDotAndDotDot)
                   .size()));
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
        sink.add(Type::Gauge, QStringLiteral("process_max_fds"),
            QStringLiteral("Most file descriptors that may be open"), {}, double(limit.rlim_cur));
}

} // namespace davit::observability
