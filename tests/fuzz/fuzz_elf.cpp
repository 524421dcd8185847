// A plugin file's dynamic symbols: any bytes are safe to read, and none of them is run.
#include "fuzzing.h"

#include "host/elfsymbols.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace davit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    static const int file = ::memfd_create("fuzzed", 0);
    fuzzing::require(
        file >= 0 && ::ftruncate(file, 0) == 0 && ::pwrite(file, data, size, 0) == ssize_t(size));
    const Result<host::ElfSymbols> symbols
        = host::readElfSymbols(QStringLiteral("/proc/self/fd/%1").arg(file));
    if (symbols.isOk())
        for (const QString &version : symbols.value().neededVersions)
            fuzzing::require(size_t(version.size()) < size);
    else
        fuzzing::require(!symbols.error().message().isEmpty());
    return 0;
}
