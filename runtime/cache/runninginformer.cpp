#include "runninginformer.h"

#include "viewpart.h"

#include <davit/priv/poolaccess.h>

#include <algorithm>
#include <condition_variable>

namespace davit::cache {
namespace {

// Opens when it is done with, also when the work that holds it is dropped.
class Gate
{
public:
    void wait()
    {
        std::unique_lock lock(m_mutex);
        m_opened.wait(lock, [this] { return m_isOpen; });
    }
    void open()
    {
        const std::lock_guard lock(m_mutex);
        m_isOpen = true;
        m_opened.notify_all();
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_opened;
    bool m_isOpen = false; // GUARDED_BY(m_mutex)
};

// Of several scopes those that no other one covers.
std::vector<WatchScope> widest(const std::vector<WatchScope> &scopes)
{
    std::vector<WatchScope> widest;
    for (const WatchScope &scope : scopes) {
        const auto covers = [&](const WatchScope &other) { return other.covers(scope); };
        if (std::any_of(widest.begin(), widest.end(), covers))
            continue;
        std::erase_if(widest, [&](const WatchScope &other) { return scope.covers(other); });
        widest.push_back(scope);
    }
    return widest;
}

bool isCovered(const WatchScope &scope, const std::vector<WatchScope> &by)
{
    return std::any_of(
        by.begin(), by.end(), [&](const WatchScope &other) { return other.covers(scope); });
}

// Whole where a scope shows it so, or judges it by more than metadata; else metadata, else nothing.
SharedInformer::Keep keeperOf(const std::vector<WatchScope> &scopes)
{
    std::vector<std::pair<ViewFilter, bool>> filters; // and whether metadata is enough
    for (const WatchScope &scope : scopes)
        filters.emplace_back(ViewFilter(scope), scope.isMetadataOnly && scope.selectsByMetadata());
    return [filters](const Object &object) {
        bool isWanted = false;
        for (const auto &[filter, isMetadataEnough] : filters) {
            if (!filter.passes(object))
                continue;
            if (!isMetadataEnough)
                return object;
            isWanted = true;
        }
        if (!isWanted)
            return Object();
        return object.isMetadataOnly() ? object : priv::metadataOnly(object);
    };
}

} // namespace

RunningInformer::RunningInformer(const WatchScope &scope, QThreadPool &pool)
    : m_filter(std::make_shared<const ViewFilter>(scope))
    , m_strand(std::make_unique<support::Strand>(pool))
    , m_executor(*m_strand)
    , m_kept{scope}
{ }

RunningInformer::RunningInformer(const WatchScope &scope, support::Executor &executor)
    : m_filter(std::make_shared<const ViewFilter>(scope)), m_executor(executor), m_kept{scope}
{ }

RunningInformer::~RunningInformer() = default;

void RunningInformer::setUp(
    std::unique_ptr<ListerWatcher> source, support::TimeSource &time, SharedInformerOptions options)
{
    m_informer
        = std::make_unique<SharedInformer>(std::move(source), m_executor, time, std::move(options));
}

void RunningInformer::runAndWait(support::Executor::Work work)
{
    if (!m_strand) {
        m_executor.post(std::move(work));
        return;
    }
    if (m_strand->isCurrent()) {
        work();
        return;
    }
    const auto gate = std::make_shared<Gate>();
    // The opener's last copy dies with the work, run or dropped.
    std::shared_ptr<void> opener(nullptr, [gate](void *) { gate->open(); });
    m_executor.post([work = std::move(work), opener = std::move(opener)] { work(); });
    gate->wait();
}

std::shared_ptr<void> RunningInformer::expect(
    const std::shared_ptr<RunningInformer> &informer, const WatchScope &scope)
{
    {
        const std::lock_guard lock(informer->m_mutex);
        if (!isCovered(scope, informer->m_kept))
            return nullptr;
        ++informer->m_expected;
    }
    return {informer.get(), [informer](void *) {
                {
                    const std::lock_guard lock(informer->m_mutex);
                    --informer->m_expected;
                }
                informer->executor().post([informer] { informer->recount(); });
            }};
}

void RunningInformer::recount()
{
    followSuccessor();
    std::vector<WatchScope> scopes;
    for (const std::shared_ptr<InformerListener> &listener : m_informer->listeners())
        scopes.push_back(static_cast<ViewPart &>(*listener).filter().scope());
    const std::vector<WatchScope> wanted = widest(scopes);
    {
        const std::lock_guard lock(m_mutex);
        const bool isAllWanted = std::all_of(m_kept.begin(), m_kept.end(),
            [&](const WatchScope &kept) { return isCovered(kept, wanted); });
        if (m_expected > 0 || wanted.empty() || isAllWanted)
            return;
        m_kept = wanted;
    }
    m_informer->keepOnly(keeperOf(wanted));
}

void RunningInformer::setSuccessor(const std::shared_ptr<RunningInformer> &wider)
{
    m_successor = wider;
    followSuccessor();
}

void RunningInformer::followSuccessor()
{
    const std::shared_ptr<RunningInformer> wider = m_successor.lock();
    if (!wider)
        return;
    const std::shared_ptr<void> place = expect(wider, scope());
    if (!place) // it was narrowed meanwhile
        return;
    {
        const std::lock_guard lock(m_mutex);
        if (m_expected > 0) // with them; recount() follows
            return;
        m_kept.clear(); // who comes from here on gets another one
    }
    m_successor.reset();
    wider->executor().post([wider, place, handover = m_informer->handOver()] {
        wider->informer().adopt(handover, [wider, place](InformerListener &listener) {
            return static_cast<ViewPart &>(listener).moveTo(wider);
        });
    });
}

void RunningInformer::endStrand()
{
    if (m_strand)
        m_strand->stop();
}

} // namespace davit::cache
