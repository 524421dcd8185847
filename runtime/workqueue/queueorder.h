// In which order a WorkQueue hands out what waits (W-2). Contract: called under the queue's lock;
// pop() only when length() is above 0. Test: tst_workqueue, order.
#pragma once

#include "workkey.h"

#include <deque>

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

// First in, first out; touching changes nothing.
class FifoOrder final : public QueueOrder
{
public:
    void push(const WorkKey &key) override;
    WorkKey pop() override;
    void touch(const WorkKey &key) override;
    qsizetype length() const override;

private:
    std::deque<WorkKey> m_keys;
};

} // namespace davit::workqueue
