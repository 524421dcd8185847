// A reader's wait for a cache that is fresh enough: one lister's parts, one choice, one deadline in
// real time. What it waits for is settled when it is made. Source: BEHAVIOURS.md (M-39). Test:
// tst_consistencywait.
#pragma once

#include "ownwrites.h"
#include "viewpart.h"

#include <davit/consistency.h>

namespace davit::cache {

// A wait has ended; `operation`: "own_writes", "not_older_than"; `result`: "success", "timeout",
// "error". [worker-thread]
using WaitObserver = std::function<void(
    QLatin1StringView operation, QLatin1StringView result, std::chrono::nanoseconds waited)>;

class ConsistencyWait
{
public:
    // `ownWrites` may be null: nothing was written.
    ConsistencyWait(const Consistency &asked, std::vector<std::shared_ptr<ViewPart>> parts,
        const OwnWrites *ownWrites);
    // Once. Ok, StaleCache, Canceled; see Lister::waitFor(). [worker-thread]
    Status run();

private:
    // What one part has to show, and what it showed last.
    struct Wanted
    {
        std::shared_ptr<ViewPart> part;
        OwnWrites::Noted own; // what does not show yet
        QString version; // NotOlderThan
        bool hasSynced = false;
        QString shownVersion;
    };
    static bool isShown(Wanted *wanted, const ViewPart::Feed &feed);
    Error failure(const Wanted &wanted, ErrorCode code) const;

    const Consistency m_asked;
    const std::chrono::steady_clock::time_point m_until;
    std::vector<Wanted> m_wanted;
};

} // namespace davit::cache
