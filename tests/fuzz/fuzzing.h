// What the fuzz targets share. A target is LLVMFuzzerTestOneInput() in fuzz_NAME.cpp; its input
// begins with two bytes that say where the rest is cut in two, since a socket cuts anywhere.
#pragma once

#include <davit/priv/poolaccess.h>

#include <QtCore/qbytearray.h>
#include <QtCore/qlist.h>
#include <cstdint>
#include <cstdlib>

namespace fuzzing {

// The build may define NDEBUG; these checks stay.
inline void require(bool holds)
{
    if (!holds)
        std::abort();
}

struct Input
{
    QByteArray bytes;
    qsizetype cut = 0; // within bytes

    QList<QByteArray> pieces() const { return {bytes.left(cut), bytes.mid(cut)}; }
};

// False when there is nothing to feed.
inline bool readInput(const std::uint8_t *data, std::size_t size, Input *input)
{
    if (size < 2)
        return false;
    input->bytes
        = QByteArray(reinterpret_cast<const char *>(data + 2), static_cast<qsizetype>(size - 2));
    input->cut
        = input->bytes.isEmpty() ? 0 : qsizetype(data[0] << 8 | data[1]) % input->bytes.size();
    return true;
}

// The end of a target that makes objects: nothing that `check` made stays in the pool.
template <class Check> int leavingNothing(Check check)
{
    const std::uint64_t before = davit::priv::poolStats().liveBlocks;
    check();
    require(davit::priv::poolStats().liveBlocks == before);
    return 0;
}

} // namespace fuzzing
