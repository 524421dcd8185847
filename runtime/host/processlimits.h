// What the system must grant before anything begins: later a thread or a file that cannot be had
// would end the process, or leave it hanging. Test: tst_davit, tooLittle.
#pragma once

#include <davit/result.h>

namespace davit::host {

// Raises the limit of open files when it is low, and looks whether there can be threads.
// InvalidConfiguration says which limit is too low. [host-thread]
Status checkProcessLimits();
// What is in this process's memory (credentials, Secrets) reaches no file when it crashes, also by
// a kernel.core_pattern with a pipe, and no debugger or /proc/PID/mem of the same user; programs
// that it starts have no core dumps either. [host-thread]
void forbidCoreDumps();

} // namespace davit::host
