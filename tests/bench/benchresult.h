// The result of a run, and its form on standard output: one JSON object on one line. Numbers that
// a run does not have are null.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qstring.h>
#include <optional>

namespace bench {

struct BenchResult
{
    qint64 objects = 0;
    bool askedForProtobuf = false; // a server that has none answered in JSON
    double syncSeconds = 0;
    double cpuSeconds = 0;
    double residentMegabytes = 0; // at sync
    double residentTrimmedMegabytes = 0;
    double peakMegabytes = 0;
    std::optional<double> heapBytesPerObject;
    qint64 events = 0;
    std::optional<double> eventsPerSecond;
    std::optional<double> eventCpuMicroseconds;
    qint64 latencies = 0;
    std::optional<double> p50Microseconds;
    std::optional<double> p99Microseconds;
    QString note;
};

QByteArray toJsonLine(const BenchResult &result); // no newline

} // namespace bench
