// What the system must grant before anything begins: later a thread or a file that cannot be had
// would end the process, or leave it hanging. Test: tst_davit, tooLittle.
#pragma once

#include <davit/result.h>

namespace davit::host {

// Raises the limit of open files when it is low, and looks whether there can be threads.
// InvalidConfiguration says which limit is too low. [host-thread]
Status checkProcessLimits();

} // namespace davit::host
