// A shared backend: public value classes hold it by pointer and count it.
#pragma once

#include <atomic>
#include <davit/global.h>
#include <utility>

namespace davit::priv {

class DAVIT_EXPORT RefCounted
{
public:
    RefCounted() = default;
    Q_DISABLE_COPY_MOVE(RefCounted)
    // A new one has a count of 0: the first holder retains it. [thread-safe]
    void retain() noexcept { m_count.fetch_add(1, std::memory_order_relaxed); }
    // Deletes the object with the last holder. [thread-safe]
    void release() noexcept
    {
        if (m_count.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }

protected:
    virtual ~RefCounted();

private:
    std::atomic<int> m_count{0};
};

// What a value class does with the backend that it holds: null, or counted. [thread-safe]
template <typename Backend> Backend *retained(Backend *backend) noexcept
{
    if (backend)
        backend->retain();
    return backend;
}
template <typename Backend> void released(Backend *backend) noexcept
{
    if (backend)
        backend->release();
}
// `held` holds `backend` from now on; they may be the same.
template <typename Backend> void holdInstead(Backend *&held, Backend *backend) noexcept
{
    retained(backend);
    released(std::exchange(held, backend));
}

} // namespace davit::priv
