// What the process says with its exit code. Documented in the README of the project and of this
// folder; tested by tst_davit, tst_run, tst_election and tst_check.
#pragma once

namespace davit::host {

// Of "davit run".
enum class ExitCode : int {
    Done = 0, // it was asked to stop, and every reconcile ended
    Failure = 1, // it could not go on, or a second signal ended it at once
    Configuration = 2, // a flag, file, directory, address or credential is wrong: change it
    Abandoned = 3, // it was asked to stop, and reconciles or plugins ran beyond the graceful time
    LeaseLost = 4 // with --leader-elect: it led and could not renew the lease in time
};

// Of "davit check" and "davit get".
enum class QueryExit : int {
    Done = 0,
    Failure = 1, // the server answered, and it was none of the others; standard output is full
    Configuration = 2, // a flag or a file is wrong, or what answers is no API server
    NoConnection = 3, // also when TLS fails; of "davit check" also when the server answers 5xx
    RefusedCredentials = 4,
    MissingRights = 5
};

} // namespace davit::host
