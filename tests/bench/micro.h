// Single operations, timed: reads of a cache that is filled, and the work queue. Printed as text,
// one figure a line; nothing passes or fails.
#pragma once

#include <davit/lister.h>

namespace bench {

// `pods` is what a plugin's lister shows. Any thread.
void printReads(const davit::Lister &pods);
// Needs no cluster.
void printQueue();
// Small events, fanned out to twenty handlers. Needs no cluster.
void printFanOut();

} // namespace bench
