// What the kernel and malloc say about this process.
#pragma once

#include <QtCore/qglobal.h>

namespace bench {

double cpuSeconds(); // user and system, all threads
double residentMegabytes(); // VmRSS, MiB
double peakResidentMegabytes(); // VmHWM, MiB
// Gives free memory of pool and heap back to the system: what other runtimes do by a forced
// collection.
void trimMemory();
// Heap in use, and the pool's segments without what is free in them.
quint64 liveHeapBytes();
qint64 wallNanoseconds(); // since 1970

} // namespace bench
