// Who counts what a controller does; the controller_runtime_* metrics are made from it. All calls
// are [thread-safe] and return at once.
#pragma once

#include <QtCore/qstring.h>
#include <chrono>

namespace davit::controller {

enum class Outcome : quint8 { Unset = 0, Success, Error, RequeueAfter };

struct ReconcileReport
{
    Outcome outcome = Outcome::Unset;
    std::chrono::nanoseconds duration{0};
    bool isTerminal = false; // with Error
    bool hasThrown = false; // with Error
    bool hasTimedOut = false; // took longer than the controller's time-out
};

class ControllerObserver
{
public:
    virtual ~ControllerObserver();
    // The workers begin; every counter exists from now on.
    virtual void started(int workers) = 0;
    virtual void reconcileBegan() = 0;
    virtual void reconcileEnded(const ReconcileReport &report) = 0;
};

} // namespace davit::controller
