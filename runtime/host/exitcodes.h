// What the process says with its exit code. Documented in the README; tested by tst_davit.
#pragma once

namespace davit::host {

enum class ExitCode : int {
    Done = 0, // it was asked to stop, and every reconcile ended
    Failure = 1, // it could not go on, or a second signal ended it at once
    Configuration = 2, // a flag, file, directory, address or credential is wrong: change it
    Abandoned
    = 3 // it was asked to stop, and reconciles or plugins ran beyond the graceful time-out
};

} // namespace davit::host
