// "davit get --raw PATH": prints what the API server says. Test: tst_check.
#pragma once

#include "commandline.h"
#include "exitcodes.h"

namespace davit::host {

// The body goes to standard output as it comes; that of a refusal too, but for what looks like a
// credential of ours. `sentence` is set when the answer is a refusal or did not come whole. It ends
// early where standard output takes no more, which is the caller's to tell (ferror). [host-thread]
QueryExit rawGet(const GetOptions &options, QString *sentence);

} // namespace davit::host
