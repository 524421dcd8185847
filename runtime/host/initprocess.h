// Davit as the first process of a container (PID 1). Contract:
//   - The first process starts a second one, which is davit, and does what only a first one can: it
//   reaps every orphan that the kernel hands to it, and none else is its child. So nobody can take
//   from QProcess the exit status of a program that it started.
//   - A signal that is sent to the first process reaches davit, once each time. One that a terminal
//   sends to all of its group has reached it already; its hang-up, which the first process of a
//   session alone is told, is passed on.
//   - When davit ends, the first process ends with its exit code, or 128 + the signal that ended
//   it, as a shell says it; the kernel then ends whatever is left in the container.
// Source: pid_namespaces(7); B63. Test: tst_firstprocess.
#pragma once

namespace davit::host {

// Returns in the process that is to be davit: this one, unless it is PID 1. Called before anything
// makes a thread. [host-thread]
void leaveFirstProcess();

} // namespace davit::host
