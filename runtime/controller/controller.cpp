#include "controller.h"

#include "reconcilescope.h"
#include <support/keepforever.h>

#include <QtConcurrent/qtconcurrentrun.h>

namespace davit::controller {
namespace {

using std::chrono::nanoseconds;

// Milliseconds as nanoseconds, without leaving the range.
nanoseconds bounded(std::chrono::milliseconds time)
{
    constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365 * 100);
    return std::min(time, kLongest);
}

} // namespace

Controller::Controller(const priv::ControllerSpec &spec, const Surroundings &surroundings)
    : m_name(spec.name)
    , m_workers(spec.workers)
    , m_timeout(bounded(spec.reconcileTimeout))
    , m_around(surroundings)
    , m_consumer(surroundings.queue->attach())
    , m_reconciler(spec.reconciler)
    , m_awaited(
          int(spec.sources.size()) + (surroundings.start == Surroundings::Start::WithLead ? 1 : 0))
    , m_pool(std::make_unique<QThreadPool>())
{
    m_around.client->retain();
    m_pool->setMaxThreadCount(m_workers);
    m_pool->setObjectName(m_around.pluginId + QLatin1Char('/') + m_name);
}

Controller::~Controller()
{
    m_around.queue->detach(m_consumer);
    m_pool.reset(); // waits for its threads
    m_around.client->release();
}

void Controller::sourceSynced()
{
    oneLessAwaited();
}

void Controller::lead()
{
    oneLessAwaited();
}

void Controller::oneLessAwaited()
{
    const std::lock_guard lock(m_mutex);
    if (--m_awaited != 0 || m_isStopping)
        return;
    m_hasBegun = true;
    m_running = m_workers;
    if (m_around.observer)
        m_around.observer->started(m_workers);
    m_around.log.info("workers begin", {{"controller", m_name}, {"workers", m_workers}});
    for (int i = 0; i < m_workers; ++i)
        (void)QtConcurrent::run(m_pool.get(), [this] { work(); });
}

void Controller::stop(std::function<void()> onIdle)
{
    {
        const std::lock_guard lock(m_mutex);
        if (m_isStopping.exchange(true))
            return;
        if (m_running > 0)
            m_onIdle = std::exchange(onIdle, nullptr);
    }
    m_around.queue->detach(m_consumer);
    if (onIdle)
        onIdle();
}

std::vector<workqueue::WorkKey> Controller::inFlight() const
{
    return m_around.queue->processing(m_consumer);
}

void Controller::abandon()
{
    const std::lock_guard lock(m_mutex);
    // A worker is inside.
    support::keepForever(std::shared_ptr<QThreadPool>(std::move(m_pool)));
    support::keepForever(m_reconciler);
}

void Controller::releaseReconciler()
{
    std::shared_ptr<Reconciler> last;
    {
        const std::lock_guard lock(m_mutex);
        if (m_running > 0)
            return;
        last.swap(m_reconciler);
    }
    priv::pluginCall(
        *m_around.faults, "destructor of the reconciler", m_name, [&] { last.reset(); });
}

void Controller::work()
{
    while (const std::optional<workqueue::WorkItem> item = m_around.queue->get(m_consumer)) {
        // Before the permit is asked: what began after its end by this time was never let.
        const nanoseconds start = m_around.time->monotonic();
        if (m_around.permit && !m_around.permit->isValid()) {
            // Not ours any more; the queue gets the key back, as it was.
            workqueue::AddOptions options;
            options.priority = item->priority;
            m_around.queue->add(item->key, options);
            (void)m_around.queue->done(item->key);
            break;
        }
        reconcile(*item, start);
    }
    workerEnded();
}

void Controller::workerEnded()
{
    std::function<void()> onIdle;
    {
        const std::lock_guard lock(m_mutex);
        if (--m_running == 0)
            onIdle.swap(m_onIdle);
    }
    if (onIdle)
        onIdle();
}

void Controller::reconcile(const workqueue::WorkItem &item, nanoseconds start)
{
    Reconciler *reconciler = nullptr;
    {
        const std::lock_guard lock(m_mutex);
        reconciler = m_reconciler.get();
    }
    const nanoseconds deadline
        = m_timeout > nanoseconds::zero() ? start + m_timeout : nanoseconds(-1);
    ReconcileScope scope(item, m_name, m_around.log, *m_around.client, deadline, m_isStopping);
    ReconcileContext context(scope);
    const ReconcileRequest request(item.key.object, item.key.clusterName, item.priority);
    if (m_around.observer)
        m_around.observer->reconcileBegan();
    ++m_active;

    const QString subject = m_name + QLatin1Char(' ') + workqueue::toString(item.key);
    ReconcileReport report;
    // The result is read inside the guard too, as its destructor may be the plugin's last word.
    const bool hasReturned = priv::pluginCall(*m_around.faults, "reconcile", subject,
        [&] { report = settle(item, reconciler->reconcile(request, context), scope.log()); });
    if (!hasReturned) {
        report.outcome = Outcome::Error;
        report.hasThrown = true;
        // What it threw is told by the plugin's faults; here, of which object and attempt.
        scope.log().error("reconcile failed", {{"error", QStringLiteral("the reconciler threw")}});
        retry(item, ReconcileResult());
    }
    report.duration = m_around.time->monotonic() - start;
    report.hasTimedOut = deadline >= nanoseconds::zero() && report.duration > m_timeout;
    --m_active;
    ++m_reconciles;
    if (report.outcome == Outcome::Error)
        ++m_failures;
    if (m_around.observer)
        m_around.observer->reconcileEnded(report);
    const Status status = m_around.queue->done(item.key);
    Q_ASSERT(status.isOk());
}

ReconcileReport Controller::settle(
    const workqueue::WorkItem &item, const ReconcileResult &result, const Logger &log)
{
    ReconcileReport report;
    switch (result.kind()) {
    case ReconcileResult::Kind::Terminal:
        report.outcome = Outcome::Error;
        report.isTerminal = true;
        log.error("reconcile failed for good", {{"error", result.error().message()}});
        break; // not queued again; its history stays
    case ReconcileResult::Kind::Failed:
        report.outcome = Outcome::Error;
        log.error("reconcile failed", {{"error", result.error().message()}});
        retry(item, result);
        break;
    case ReconcileResult::Kind::RequeueAfter: {
        report.outcome = Outcome::RequeueAfter;
        m_around.queue->forget(item.key);
        workqueue::AddOptions options;
        options.after = bounded(result.delay());
        options.priority = result.hasPriority() ? result.priority() : item.priority;
        options.cause.type = workqueue::Cause::Type::Requeued;
        m_around.queue->add(item.key, options);
        break;
    }
    case ReconcileResult::Kind::Done:
    case ReconcileResult::Kind::Unset:
        report.outcome = Outcome::Success;
        m_around.queue->forget(item.key);
        break;
    }
    return report;
}

void Controller::retry(const workqueue::WorkItem &item, const ReconcileResult &result)
{
    workqueue::AddOptions options;
    options.isRateLimited = true;
    if (result.kind() == ReconcileResult::Kind::Failed) // negative: the server named no time
        options.atLeast = bounded(result.error().retryAfter());
    options.priority = result.hasPriority() ? result.priority() : item.priority;
    options.cause.type = workqueue::Cause::Type::Retry;
    options.cause.attempt = m_around.queue->requeues(item.key) + 1;
    m_around.queue->add(item.key, options);
}

ControllerStats Controller::stats() const
{
    ControllerStats stats;
    stats.pluginId = m_around.pluginId;
    stats.controller = m_name;
    stats.workers = m_workers;
    stats.activeWorkers = m_active;
    stats.reconciles = m_reconciles;
    stats.failures = m_failures;
    stats.queue = m_around.queue->stats();
    const std::lock_guard lock(m_mutex);
    stats.isRunning = m_hasBegun && !m_isStopping;
    return stats;
}

} // namespace davit::controller
