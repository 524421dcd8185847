// The eight bytes of an Object, flags in the two lowest bits; 0 is null. Pooled: above them the
// root block's reference. Private: the address of a PrivateBlock, whose own lowest bits are 0; so a
// leak checker sees who holds it.
#pragma once

#include "block.h"

#include <utility>

namespace davit::priv::pool {

constexpr std::uint64_t kPrivateFlag = 1;
constexpr std::uint64_t kMetadataOnlyFlag = 2;
constexpr std::uint64_t kFlags = kPrivateFlag | kMetadataOnlyFlag;
constexpr int kFlagBits = 2;
static_assert(alignof(PrivateBlock) > kFlags);

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
    return Ref(handle >> kFlagBits);
}
// 0 for no block.
inline std::uint64_t handleOf(Ref root) noexcept
{
    return std::uint64_t(root) << kFlagBits;
}
inline std::uint64_t handleOf(const PrivateBlock *block) noexcept
{
    return std::uint64_t(reinterpret_cast<std::uintptr_t>(block)) | kPrivateFlag;
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
