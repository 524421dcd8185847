// Works of one kind side by side, and the wait for all of them, as client-go's
// workqueue.ParallelizeUntil. Contract:
//   - Pieces 0 … n-1, in chunks: those of a chunk run in order, on one thread.
//   - At most `workers` threads, and no more than there are chunks; the caller's is one of them.
//   - Once stop is requested no piece begins any more; those that run end.
// Davit decides otherwise: a piece that throws does not end the process. The rest of its chunk is
// skipped, the other chunks go on, and the first of such faults is the answer.
// Source: BEHAVIOURS.md (6.6). Test: tst_parallelize.
#pragma once

#include <davit/status.h>

#include <functional>
#include <stop_token>

namespace davit::workqueue {

struct Pieces
{
    int workers = 1; // less than one: nothing runs
    qsizetype count = 0;
    qsizetype chunkSize = 1; // less than one is one
};

// Runs `work` for each piece. Ok, also when it was stopped; PluginFault with what was thrown.
// Blocks. [worker-thread]
Status parallelizeUntil(const std::stop_token &stop, const Pieces &pieces,
    const std::function<void(qsizetype piece)> &work);

} // namespace davit::workqueue
