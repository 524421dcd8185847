// A file that the configuration names, whole, so that a wrong name (a device, an endless pipe, a
// disk image) is a sentence and not a host that hangs or runs out of memory. Pipes are taken, as a
// shell's <(…) makes them, and /dev/null is an empty file. Test: tst_kubeconfig, tst_davit.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qstring.h>

namespace davit::transport {

// Bytes; a larger file is a fault.
inline constexpr qint64 kMaxInputFile = qint64(16) * 1024 * 1024;

// The contents. When there is a fault, it is told without the file's name ("it is a directory") and
// the contents are empty; else it is empty. [thread-safe]
QByteArray readInputFile(const QString &path, QString *fault);

} // namespace davit::transport
