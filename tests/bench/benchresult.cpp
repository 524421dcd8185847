#include "benchresult.h"

#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>

#include <cmath>

namespace bench {
namespace {

double rounded(double value, double scale)
{
    return std::round(value * scale) / scale;
}

QJsonValue orNull(const std::optional<double> &value)
{
    return value ? QJsonValue(rounded(*value, 10)) : QJsonValue();
}

} // namespace

QByteArray toJsonLine(const BenchResult &result)
{
    QJsonObject json{
        {QStringLiteral("peer"), QStringLiteral("davit")},
        {QStringLiteral("version"), QStringLiteral(DAVIT_VERSION)},
        {QStringLiteral("encoding"),
            result.askedForProtobuf ? QStringLiteral("protobuf, else json")
                                    : QStringLiteral("json")},
        {QStringLiteral("n"), result.objects},
        {QStringLiteral("sync_s"), rounded(result.syncSeconds, 1000)},
        {QStringLiteral("cpu_s"), rounded(result.cpuSeconds, 1000)},
        {QStringLiteral("rss_mb_at_sync"), rounded(result.residentMegabytes, 10)},
        {QStringLiteral("rss_mb_after_gc"), rounded(result.residentTrimmedMegabytes, 10)},
        {QStringLiteral("peak_rss_mb"), rounded(result.peakMegabytes, 10)},
        {QStringLiteral("heap_bytes_per_obj"), orNull(result.heapBytesPerObject)},
        {QStringLiteral("events"), result.events},
        {QStringLiteral("events_per_s"), orNull(result.eventsPerSecond)},
        {QStringLiteral("event_cpu_us"), orNull(result.eventCpuMicroseconds)},
        {QStringLiteral("lat_n"), result.latencies},
        {QStringLiteral("p50_us"), orNull(result.p50Microseconds)},
        {QStringLiteral("p99_us"), orNull(result.p99Microseconds)},
    };
    if (!result.note.isEmpty())
        json.insert(QStringLiteral("note"), result.note);
    return QJsonDocument(json).toJson(QJsonDocument::Compact);
}

} // namespace bench
