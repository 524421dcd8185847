#include "runninginformer.h"

#include "viewpart.h"

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

} // namespace

RunningInformer::RunningInformer(const WatchScope &scope, QThreadPool &pool)
    : m_scope(scope), m_strand(std::make_unique<support::Strand>(pool)), m_executor(*m_strand)
{ }

RunningInformer::RunningInformer(const WatchScope &scope, support::Executor &executor)
    : m_scope(scope), m_executor(executor)
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
    wider->executor().post([wider, handover = m_informer->handOver()] {
        wider->informer().adopt(handover, [wider](InformerListener &listener) {
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
