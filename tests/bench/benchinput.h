// What a run is to do, from the environment, under the names that all peers of a comparison read.
// Shapes: numbers are decimal texts; an absent or unreadable one is its default.
#pragma once

#include <QtCore/qglobal.h>

namespace bench {

struct BenchInput
{
    qint64 objects = 20000; // BENCH_N: to wait for
    qint64 burstEvents = 0; // BENCH_EVENTS; 0: no burst
    qint64 pacedEvents = 0; // BENCH_LAT; 0: no paced phase
    int plugins = 1; // BENCH_PLUGINS
    bool asksForProtobuf = true; // BENCH_ENCODING=json: it does not
    bool isStripped = true; // BENCH_STRIP=0: managedFields were to be kept
    bool isHeld = false; // BENCH_HOLD: stay until standard input closes
    qint64 startNanoseconds = 0; // BENCH_T0: wall clock when the runner started us
};

BenchInput readInput();

} // namespace bench
