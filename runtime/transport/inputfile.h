// A file that the configuration names, whole, so that a wrong name (a device, an endless or silent
// pipe, a disk image) is a sentence and not a host that hangs or runs out of memory. Pipes are
// taken, as a shell's <(…) makes them, and /dev/null is an empty file. Test: tst_kubeconfig,
// tst_credential, tst_davit.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qstring.h>
#include <chrono>

namespace davit::transport {

// Bytes; a larger file is a fault.
inline constexpr qint64 kMaxInputFile = qint64(16) * 1024 * 1024;

// How long a pipe's writer may say nothing.
inline constexpr std::chrono::milliseconds kPipePatience{5000};

// The contents. When there is a fault, it is told without the file's name ("it is a directory") and
// the contents are empty; else it is empty. Blocks for `patience` at most while a pipe is silent.
// [thread-safe]
QByteArray readInputFile(
    const QString &path, QString *fault, std::chrono::milliseconds patience = kPipePatience);

} // namespace davit::transport
