// The last sentence of a process that ends without being asked to: how, and in whose code.
// Contract:
//   - exit(), std::terminate, qFatal, abort and fatal signals are told, on one line of plain text
//   that names the plugin and its call, or says that the thread ran no plugin's code.
//   - exit() and quick_exit() give exit code 1, whatever was asked for, and run no destructor:
//   other threads are in the middle of their code. The other ways end as they would without this.
//   - A thread that a plugin made for itself is not known as the plugin's.
// Where a sanitizer has taken a signal it stays the sanitizer's. Test: tst_run, lastWords.
#pragma once

namespace davit::pluginhost {

// Once a process, which leaves by _exit from then on. The descriptor stays open. [host-thread]
void installLastWords(int fileDescriptor);

} // namespace davit::pluginhost
