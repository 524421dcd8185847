#include "queueorder.h"

namespace davit::workqueue {

QueueOrder::~QueueOrder() = default;

void FifoOrder::push(const WorkKey &key)
{
    m_keys.push_back(key);
}

WorkKey FifoOrder::pop()
{
    WorkKey first = std::move(m_keys.front());
    m_keys.pop_front();
    return first;
}

void FifoOrder::touch(const WorkKey &) { }

qsizetype FifoOrder::length() const
{
    return qsizetype(m_keys.size());
}

} // namespace davit::workqueue
