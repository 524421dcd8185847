// "davit get --raw PATH": prints what the API server says. Test: tst_check.
#pragma once

#include "commandline.h"
#include "exitcodes.h"

namespace davit::host {

// The body goes to standard output as it comes; `sentence` is set when it did not come whole.
// [host-thread]
QueryExit rawGet(const GetOptions &options, QString *sentence);

} // namespace davit::host
