// "davit check": can Davit work with this cluster, and if not, why. One finding a line, told as
// soon as it is known, each with what to do. Contract: nothing is changed in the cluster, no code
// of a plugin runs, and no secret is printed. Test: tst_check, on the
// embedded server and on kube-apiserver.
#pragma once

#include "commandline.h"
#include "exitcodes.h"

#include <functional>

namespace davit::host {

struct Finding
{
    enum class Grade : quint8 {
        Good,
        Odd, // Davit works, but somebody should look at it
        Bad
    };
    Grade grade;
    QString topic; // "clock"
    QString text; // what was found; and, unless it is good, what to do
};

using TellFinding = std::function<void(const Finding &)>;

// The more basic one of two faults: the smaller, unless it is none. [thread-safe]
QueryExit worse(QueryExit one, QueryExit other);
// The exit code is the smallest one of all that is bad. A file that is no good plugin counts as
// configuration. [host-thread]
QueryExit check(const CheckOptions &options, const TellFinding &tell);
// "FAIL  clock        text". [thread-safe]
QString toLine(const Finding &finding);

} // namespace davit::host
