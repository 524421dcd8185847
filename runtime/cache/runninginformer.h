// A shared informer with the strand that it runs on. Held by shared pointer by everybody who uses
// it; the last one out stops the watch. Made by SharedInformerFactory only. Contract:
//   - It holds what its users ask for: when one leaves, what nobody of the others shows is dropped,
//   and whole objects become metadata where no more is asked for. The watch stays as it is. Who
//   asks for what was dropped gets another informer.
// Test: tst_sharedinformerfactory, tst_narrowing.
#pragma once

#include "sharedinformer.h"
#include "viewfilter.h"

#include <support/strand.h>

namespace davit::cache {

class RunningInformer
{
public:
    // Runs on a strand of its own.
    RunningInformer(const WatchScope &scope, QThreadPool &pool);
    // Runs on an executor that outlives it; tests.
    RunningInformer(const WatchScope &scope, support::Executor &executor);
    // After endStrand().
    ~RunningInformer();
    // Once, before anything else.
    void setUp(std::unique_ptr<ListerWatcher> source, support::TimeSource &time,
        SharedInformerOptions options);

    // [thread-safe]
    const WatchScope &scope() const { return m_filter->scope(); }
    // What its watch selects.
    const std::shared_ptr<const ViewFilter> &filter() const { return m_filter; }
    SharedInformer &informer() const { return *m_informer; }
    support::Executor &executor() const { return m_executor; }
    // Runs the work on the strand and waits for it; not at all after endStrand(). On a borrowed
    // executor it is only posted. [thread-safe]
    void runAndWait(support::Executor::Work work);
    // A place for a user of `scope` until it listens; null when what is kept does not cover that.
    // Let go without a lock held. [thread-safe]
    static std::shared_ptr<void> expect(
        const std::shared_ptr<RunningInformer> &informer, const WatchScope &scope);
    // Drops what nobody asks for any more. On the strand. [cache-thread]
    void recount();
    // Gives its listeners, and those that come later, to a wider informer. On the strand.
    // [cache-thread]
    void setSuccessor(const std::shared_ptr<RunningInformer> &wider);
    void followSuccessor();
    // Waits for the work that runs; no other runs afterwards. Not from the strand itself.
    void endStrand();

private:
    const std::shared_ptr<const ViewFilter> m_filter;
    std::unique_ptr<support::Strand> m_strand; // null on a borrowed executor
    support::Executor &m_executor;
    std::unique_ptr<SharedInformer> m_informer;
    std::weak_ptr<RunningInformer> m_successor; // thread-confined: the strand
    std::mutex m_mutex;
    std::vector<WatchScope> m_kept; // GUARDED_BY(m_mutex)
    int m_expected = 0; // users that do not listen yet; GUARDED_BY(m_mutex)
};

} // namespace davit::cache
