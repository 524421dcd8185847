// The eight bytes of an Object. Pooled: the root block's reference in the low half. Private: the
// address of a PrivateBlock. Flags in the two highest bits; 0 is null.
#pragma once

#include "block.h"

#include <utility>

namespace davit::priv::pool {

constexpr std::uint64_t kPrivateFlag = std::uint64_t(1) << 63;
constexpr std::uint64_t kMetadataOnlyFlag = std::uint64_t(1) << 62;
constexpr std::uint64_t kFlags = kPrivateFlag | kMetadataOnlyFlag;

inline bool isPrivate(std::uint64_t handle) noexcept
{
    return (handle & kPrivateFlag) != 0;
}
inline PrivateBlock *privateBlock(std::uint64_t handle) noexcept
{
    return reinterpret_cast<PrivateBlock *>(std::uintptr_t(handle & ~kFlags));
}
inline Ref rootRef(std::uint64_t handle) noexcept
{
    return Ref(handle);
}

void releasePrivate(PrivateBlock *block) noexcept;
void releaseBlock(Ref ref) noexcept; // pool.cpp

// One more holder. [thread-safe]
inline std::uint64_t retain(std::uint64_t handle) noexcept
{
    if (handle == 0)
        return 0;
    std::atomic<std::uint32_t> &count
        = isPrivate(handle) ? privateBlock(handle)->count : blockAt(rootRef(handle))->count;
    count.fetch_add(1, std::memory_order_relaxed);
    return handle;
}
// One holder less; the last one frees. [thread-safe]
inline void release(std::uint64_t handle) noexcept
{
    if (handle == 0)
        return;
    if (isPrivate(handle))
        releasePrivate(privateBlock(handle));
    else
        releaseBlock(rootRef(handle));
}

} // namespace davit::priv::pool
