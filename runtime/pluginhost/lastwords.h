// The last sentence of a process that ends without being asked to: how, and in whose code.
// Contract:
//   - exit(), std::terminate, qFatal, abort and fatal signals are told, on one line of plain text
//   that names the plugin, its call and what that is about, or says that the thread ran no plugin's
//   code.
//   - exit() and quick_exit() give exit code 1, whatever was asked for, and run no destructor:
//   other threads are in the middle of their code. The other ways end as they would without this.
//   - On a thread that the host does not know to be in a plugin's call, the plugin is the one whose
//   code stands nearest to the end on the stack; none, where the stack cannot be read.
// Where a sanitizer has taken a signal it stays the sanitizer's. Test: tst_run, lastWords.
#pragma once

#include <QtCore/qstring.h>

namespace davit::pluginhost {

// Once a process, which leaves by _exit from then on. The descriptor stays open. [host-thread]
void installLastWords(int fileDescriptor);
// Whose code the library is, which is loaded and stays so. Of the first 256; the others are not
// named. [thread-safe]
void addToLastWords(const QString &pluginId, const QString &library);

} // namespace davit::pluginhost
