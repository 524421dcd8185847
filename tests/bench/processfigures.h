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
// Heap in use, and the pool's segments without what is free in them, once what delivers a list has
// ended: the least of readings until two in a row are not below it, for a second at most.
quint64 settledHeapBytes();
qint64 wallNanoseconds(); // since 1970

} // namespace bench
