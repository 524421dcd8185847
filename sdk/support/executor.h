// Where a piece of work runs. Contract:
//   - post() never runs the work inside the call; works of one executor run one after another, in
//   the order of post().
//   - What a work throws ends the process: works are the runtime's own code.
// Test: tst_strand, order.
#pragma once

#include <functional>

namespace davit::support {

class Executor
{
public:
    using Work = std::function<void()>;

    virtual ~Executor() = default;
    // Queues the work; never blocks. After the executor was stopped the work is dropped.
    // [thread-safe]
    virtual void post(Work work) = 0;
};

} // namespace davit::support
