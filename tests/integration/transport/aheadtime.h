// A clock for tests that look at what is done again after a while.
#pragma once

#include <support/timesource.h>

#include <QtCore/qglobal.h>

#include <atomic>

// Runs ahead of the real clock when told to.
class AheadTime final : public davit::support::TimeSource
{
public:
    Nanoseconds monotonic() const override
    {
        return davit::support::systemTimeSource().monotonic() + Nanoseconds(ahead.load());
    }
    Nanoseconds utc() const override { return davit::support::systemTimeSource().utc(); }
    TimerId callAfter(Nanoseconds delay, davit::support::Executor &executor,
        davit::support::Executor::Work work) override
    {
        return davit::support::systemTimeSource().callAfter(delay, executor, std::move(work));
    }
    void cancel(TimerId id) override { davit::support::systemTimeSource().cancel(id); }
    void advance(Nanoseconds by) { ahead += by.count(); }

private:
    std::atomic<qint64> ahead{0};
};
