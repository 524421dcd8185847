// The one guard around plugin code: what it throws becomes that plugin's fault and never leaves the
// call. Test: tst_plugincall.
#pragma once

#include <davit/error.h>
#include <exception>
#include <utility>

namespace davit::priv {

// Who hears of a plugin's faults, and who watches how long its code runs. Implemented by the plugin
// host; outlives the plugin's calls.
class DAVIT_EXPORT FaultSink
{
public:
    virtual ~FaultSink();
    // Plugin code threw. `entry` is a constant ("slot added", "reconcile"), `subject` the kind or
    // key, `what` the exception's text. [thread-safe]
    virtual void fault(const char *entry, const QString &subject, const QString &what) noexcept = 0;
    // Around each call, on its thread; they nest, left() ends the innermost one. [thread-safe]
    virtual void entered(const char *entry, const QString &subject) noexcept = 0;
    virtual void left() noexcept = 0;
};

// Runs `function` and reports what it throws. True when it returned normally. `entry` is a
// constant.
template <typename F>
bool pluginCall(FaultSink &faults, const char *entry, const QString &subject, F &&function) noexcept
{
    faults.entered(entry, subject);
    bool isGood = false;
    try {
        std::forward<F>(function)();
        isGood = true;
    } catch (const std::exception &e) {
        faults.fault(entry, subject, QString::fromUtf8(e.what()));
    } catch (...) {
        faults.fault(entry, subject, QStringLiteral("something that is no std::exception"));
    }
    faults.left();
    return isGood;
}

} // namespace davit::priv
