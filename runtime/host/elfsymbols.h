// What the dynamic symbol table of a shared library says about how it can be hosted; read from the
// file, without loading it. Source: System V ABI, "Symbol Table"; GNU's STB_GNU_UNIQUE and symbol
// versioning. Any file is safe to read: it ends, within the memory of a few copies of the file.
// What is no regular file, or larger than 1 GiB, is refused unread. Test: tst_elfsymbols; fuzzed by
// fuzz_elf.
#pragma once

#include <davit/result.h>

#include <QtCore/qstringlist.h>

namespace davit::host {

struct ElfSymbols
{
    QStringList unique; // defined with GNU-unique binding: a second copy would share them
    QStringList neededVersions; // "DAVIT_SDK_1.0": of libDavitSdk alone, sorted
};

// InvalidArgument for what is no 64-bit ELF of this machine's byte order, or is cut. [thread-safe]
Result<ElfSymbols> readElfSymbols(const QString &path);

} // namespace davit::host
