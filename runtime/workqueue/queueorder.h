// In which order a WorkQueue hands out what waits, when that is not first in, first out (W-2).
// Contract: called under the queue's lock; pop() only when length() is above 0, and it answers what
// was pushed. Test: tst_workqueue, order.
#pragma once

#include "workkey.h"

namespace davit::workqueue {

class QueueOrder
{
public:
    virtual ~QueueOrder();
    virtual void push(const WorkKey &key) = 0;
    virtual WorkKey pop() = 0;
    // A key that waits already was added again.
    virtual void touch(const WorkKey &key) = 0;
    virtual qsizetype length() const = 0;
};

} // namespace davit::workqueue
