#include "reflector.h"

#include "reflectorattempt.h"
#include "resourceversion.h"

#include <QtCore/qrandom.h>
#include <algorithm>

namespace davit::cache {

using namespace std::chrono_literals;

namespace {

ReflectorOptions withName(ReflectorOptions options)
{
    if (options.name.isEmpty())
        options.name = options.expectedGvk.kind.isEmpty() ? QStringLiteral("<unspecified>")
                                                          : toString(options.expectedGvk);
    return options;
}

} // namespace

Reflector::Reflector(ListerWatcher &source, ReflectorStore &store, support::Executor &executor,
    support::TimeSource &time, ReflectorOptions options)
    : m_source(source)
    , m_store(store)
    , m_executor(executor)
    , m_time(time)
    , m_options(withName(std::move(options)))
    , m_log(m_options.log.with("resource", m_options.name))
    , m_expectedKind(m_options.expectedGvk.kind.toLatin1())
    , m_expectedApiVersion(apiVersion(m_options.expectedGvk).toLatin1())
    , m_backoff(time, m_options.backoff, m_options.random)
    , m_resyncPeriod(m_options.resyncPeriod)
    , m_isAlive(std::make_shared<bool>(true))
{
    if (m_options.checksConsistency)
        m_consistency = std::make_unique<ConsistencyCheck>(m_source, m_executor, m_time,
            [this](const QStringList &differences) { onCompared(differences); });
}

Reflector::~Reflector()
{
    stop();
}

void Reflector::start()
{
    if (std::exchange(m_isStarted, true) || m_isStopped)
        return;
    {
        const std::lock_guard lock(m_mutex);
        m_firstFillStartedAt = m_fillStartedAt = m_time.monotonic();
        m_isFirstFill = true;
    }
    runRound();
}

void Reflector::stop()
{
    if (std::exchange(m_isStopped, true))
        return;
    m_isAlive.reset();
    for (support::TimeSource::TimerId *timer :
        {&m_waitTimer, &m_resyncTimer, &m_progressTimer, &m_questionTimer})
        m_time.cancel(std::exchange(*timer, 0));
    cut(m_attempt);
    m_consistency.reset();
    cut(m_question);
    setPhase(ReflectorPhase::Stopped);
}

ReflectorState Reflector::state() const
{
    const std::lock_guard lock(m_mutex);
    ReflectorState state = m_state;
    if (m_isFirstFill || state.phase == ReflectorPhase::Listing
        || state.phase == ReflectorPhase::StreamingList)
        state.progress.elapsed = fillTime();
    return state;
}

QString Reflector::lastSyncResourceVersion() const
{
    const std::lock_guard lock(m_mutex);
    return m_state.resourceVersion;
}

// The first fill is one, whatever attempts it takes: people wait for its end. GUARDED_BY(m_mutex)
std::chrono::nanoseconds Reflector::fillTime() const
{
    return m_time.monotonic() - (m_isFirstFill ? m_firstFillStartedAt : m_fillStartedAt);
}

void Reflector::setPhase(ReflectorPhase phase)
{
    const std::lock_guard lock(m_mutex);
    m_state.phase = phase;
}

bool Reflector::usesWatchList() const
{
    return m_options.initialSync != InitialSync::List && m_source.supportsWatchList();
}

void Reflector::runRound()
{
    m_isListRetry = false;
    m_isFullListRetry = false;
    if (usesWatchList())
        openStreamingList();
    else
        beginList();
}

void Reflector::endRound(const Error &error)
{
    cut(m_attempt);
    cut(m_question);
    m_doubtedVersion.clear(); // the round's fill tells
    for (support::TimeSource::TimerId *timer : {&m_resyncTimer, &m_progressTimer, &m_questionTimer})
        m_time.cancel(std::exchange(*timer, 0));
    m_items = {};
    m_temporary = {};
    if (error.isError()) {
        {
            const std::lock_guard lock(m_mutex);
            ++m_state.failedRounds;
        }
        attemptFailed(error);
        if (m_options.onRoundError)
            m_options.onRoundError(error);
    }
    if (m_isStopped) // the handler may have stopped us
        return;
    setPhase(ReflectorPhase::BackingOff);
    waitThen(nextDelay(error), &Reflector::runRound);
}

void Reflector::attemptFailed(const Error &error)
{
    const auto wait = std::chrono::duration_cast<std::chrono::seconds>(error.retryAfter()).count();
    const QString sentence = wait > 0
        ? QStringLiteral("%1; it asks to wait for %2 s").arg(error.message()).arg(wait)
        : error.message();
    {
        const std::lock_guard lock(m_mutex);
        m_state.lastError = wait > 0 ? Error(error.code(), sentence) : error;
    }
    if (error.code() == ErrorCode::Expired) { // the next list cures it
        m_log.debug("the version is too old, it is listed anew", {{"error", error.message()}});
        return;
    }
    if (isTimeToTell())
        m_log.warning("a resource cannot be followed, it is tried again", {{"error", sentence}});
}

bool Reflector::isTimeToTell()
{
    const Nanoseconds now = m_time.monotonic();
    if (std::exchange(m_isFailing, true) && now - m_failureToldAt < 1min)
        return false;
    m_failureToldAt = now;
    return true;
}

void Reflector::attemptWorked()
{
    if (m_fruitlessRounds > kMaxFruitless) // what is open now will end at once, too
        return;
    {
        const std::lock_guard lock(m_mutex);
        m_state.lastError = {};
    }
    if (std::exchange(m_isFailing, false))
        m_log.info("a resource is followed again");
}

// R-12 and its table.
QString Reflector::versionToAsk(Fill fill) const
{
    if (m_isVersionUnavailable)
        return {};
    const QString last = lastSyncResourceVersion();
    return last.isEmpty() && fill == Fill::List ? QStringLiteral("0") : last;
}

std::chrono::nanoseconds Reflector::nextDelay(const Error &error)
{
    return std::max(m_backoff.next(), toldWait(error));
}

std::chrono::nanoseconds Reflector::toldWait(const Error &error)
{
    return std::min<Nanoseconds>(error.retryAfter(), support::kLongestAskedWait);
}

int Reflector::watchTimeoutSeconds()
{
    const double least = double(std::max(m_options.minWatchTimeout, 300s).count());
    const double share
        = m_options.random ? m_options.random() : QRandomGenerator::global()->generateDouble();
    return int(least + share * least);
}

void Reflector::waitThen(Nanoseconds delay, void (Reflector::*next)())
{
    m_waitTimer
        = m_time.callAfter(delay, m_executor, [this, next, alive = std::weak_ptr<bool>(m_isAlive)] {
              if (!alive.lock())
                  return;
              m_waitTimer = 0;
              (this->*next)();
          });
}

// In the middle of a round; without Retry-After at once.
void Reflector::waitAsTold(const Error &error, void (Reflector::*next)())
{
    if (error.retryAfter() <= 0ms)
        return (this->*next)();
    attemptFailed(error);
    m_time.cancel(std::exchange(m_progressTimer, 0)); // it would say that the server is silent
    setPhase(ReflectorPhase::BackingOff);
    waitThen(toldWait(error), next);
}

void Reflector::beginProgress()
{
    const std::lock_guard lock(m_mutex);
    m_state.progress = {};
    m_progressTold = {};
    m_fillStartedAt = m_time.monotonic();
}

// LIST ------------------------------------------------------------------------------------------

void Reflector::beginList()
{
    m_fill = Fill::List;
    setPhase(ReflectorPhase::Listing);
    m_askedVersion = versionToAsk(Fill::List);
    const bool isAnyVersion = m_askedVersion.isEmpty() || m_askedVersion == QLatin1StringView("0");
    m_limit = m_options.pageSize > 0       ? m_options.pageSize
        : m_isPagingUseful || isAnyVersion ? 500
                                           : 0;
    m_items.clear();
    m_pages = 0;
    m_isPaged = false;
    m_continueToken.clear();
    beginProgress();
    armProgressLog();
    requestPage();
}

void Reflector::requestPage()
{
    transport::ListOptions options;
    options.limit = m_limit;
    options.continueToken = m_continueToken;
    if (m_continueToken.isEmpty())
        options.resourceVersion = m_askedVersion;
    {
        const std::lock_guard lock(m_mutex);
        ++m_state.listRequests;
    }
    cut(m_attempt);
    m_attempt = std::make_shared<Attempt>(*this);
    m_attempt->operation = m_source.list(options, m_executor, *m_attempt);
}

void Reflector::onListItems(std::vector<Object> items, qint64 bytes)
{
    if (isFillTooLarge(qint64(items.size()), bytes))
        return;
    if (m_items.empty())
        m_items = std::move(items);
    else
        std::move(items.begin(), items.end(), std::back_inserter(m_items));
}

void Reflector::onListFinished(const Error &error, const ListPage &page)
{
    cut(m_attempt);
    if (error.isError()) {
        const bool isExpired = error.code() == ErrorCode::Expired;
        if (isExpired && m_pages > 0 && !m_isFullListRetry) {
            m_isFullListRetry = true;
            m_items.clear();
            m_pages = 0;
            m_continueToken.clear();
            m_limit = 0;
            beginProgress();
            requestPage();
        } else if ((isExpired || isVersionTooLarge(error)) && !m_isListRetry) {
            m_isListRetry = true;
            m_isVersionUnavailable = true;
            waitAsTold(error, &Reflector::retryListFromLatest);
        } else {
            endRound(error);
        }
        return;
    }
    if (m_pages++ == 0)
        m_listVersion = page.resourceVersion;
    {
        const std::lock_guard lock(m_mutex);
        m_state.progress.remainingItemCount
            = page.continueToken.isEmpty() ? 0 : page.remainingItemCount;
    }
    m_continueToken = page.continueToken;
    if (!m_continueToken.isEmpty()) {
        m_isPaged = true;
        requestPage();
        return;
    }
    if (m_isPaged && m_askedVersion == QLatin1StringView("0"))
        m_isPagingUseful = true;
    acceptList(std::exchange(m_items, {}), m_listVersion, m_askedVersion);
}

// Adds to the progress; ends the round when that is too much.
bool Reflector::isFillTooLarge(qint64 objects, qint64 bytes)
{
    {
        const std::lock_guard lock(m_mutex);
        m_state.progress.objects += objects;
        m_state.progress.bytes += bytes;
        if (m_state.progress.bytes <= m_options.maxFillBytes)
            return false;
    }
    endRound(Error(ErrorCode::Unsupported,
        QStringLiteral("list %1: it is larger than the limit of %2 bytes, watch a namespace or a "
                       "selector of it")
            .arg(m_options.name)
            .arg(m_options.maxFillBytes)));
    return true;
}

// The page size of the first try stays.
void Reflector::retryListFromLatest()
{
    m_askedVersion.clear();
    m_items.clear();
    m_pages = 0;
    m_isPaged = false;
    m_continueToken.clear();
    setPhase(ReflectorPhase::Listing);
    beginProgress();
    armProgressLog();
    requestPage();
}

void Reflector::acceptList(std::vector<Object> items, const QString &version, const QString &asked)
{
    m_isVersionUnavailable = false;
    if (m_consistency)
        m_consistency->begin(items, version, m_store.transform());
    // "0" is any version; and a server may answer with an older one than was asked for.
    const bool mayBeBehind = asked == QLatin1StringView("0")
        || (!asked.isEmpty() && compareVersions(version, lastSyncResourceVersion()) < 0);
    const Status stored = m_store.replace(
        std::move(items), version, mayBeBehind ? ListOrigin::Ordinary : ListOrigin::Consistent);
    if (!stored.isOk()) {
        endRound(stored.error().withContext(QStringLiteral("store the list of ") + m_options.name));
        return;
    }
    {
        const std::lock_guard lock(m_mutex);
        m_state.resourceVersion = version;
        m_state.progress.elapsed = fillTime();
        m_isFirstFill = false;
        m_state.lastFill = m_state.progress;
        ++m_state.fills;
    }
    attemptWorked();
    m_time.cancel(std::exchange(m_progressTimer, 0));
    m_fruitlessResumes = 0;
    armResync();
    if (m_fill == Fill::WatchList) {
        m_fill = Fill::Unset; // the same stream goes on as the watch
        m_followedAt = m_time.monotonic();
        m_eventsOfFill = m_events;
        setPhase(ReflectorPhase::Watching);
    } else {
        openWatch();
    }
}

void Reflector::onCompared(const QStringList &differences)
{
    if (!differences.isEmpty())
        m_log.error("a fill is not what the server lists",
            {{"differences", differences.size()},
                {"first", differences.mid(0, 10).join(QStringLiteral(", "))}});
    const std::lock_guard lock(m_mutex);
    ++m_state.comparisons;
    m_state.differences += quint64(differences.size());
}

// Timers ----------------------------------------------------------------------------------------

void Reflector::armResync()
{
    if (m_resyncPeriod <= 0ns || m_resyncTimer)
        return;
    m_resyncTimer = m_time.callAfter(
        m_resyncPeriod, m_executor, [this, alive = std::weak_ptr<bool>(m_isAlive)] {
            if (alive.lock())
                resyncFired();
        });
}

void Reflector::setResyncPeriod(Nanoseconds period)
{
    m_resyncPeriod = period;
    m_time.cancel(std::exchange(m_resyncTimer, 0));
    if (!m_isStopped && state().fills > 0)
        armResync();
}

void Reflector::resyncFired()
{
    if (!std::exchange(m_resyncTimer, 0)) // the round ended meanwhile
        return;
    if (!m_options.shouldResync || m_options.shouldResync()) {
        if (const Status status = m_store.resync(); !status.isOk()) {
            m_log.warning("a resync failed", {{"error", status.error().message()}});
            m_time.cancel(std::exchange(m_waitTimer, 0));
            endRound({});
            return;
        }
    }
    armResync();
}

// A fill that takes its time says so; one that hears nothing warns.
void Reflector::armProgressLog()
{
    m_time.cancel(m_progressTimer);
    m_progressTimer
        = m_time.callAfter(10s, m_executor, [this, alive = std::weak_ptr<bool>(m_isAlive)] {
              if (!alive.lock() || !std::exchange(m_progressTimer, 0))
                  return;
              logProgress();
              armProgressLog();
          });
}

// One line or none. How the first fill gets on is told by those who show it to people.
void Reflector::logProgress()
{
    const ReflectorState now = state();
    const auto seconds = [](Nanoseconds ns) { return double(ns.count()) / 1e9; };
    const Logger log
        = m_log.with("objects", now.progress.objects).with("receivedBytes", now.progress.bytes);
    const bool hasMoved = now.progress.bytes != m_progressTold.bytes;
    m_progressTold = now.progress;
    if (hasMoved) {
        if (now.fills > 0)
            log.info("a cache is filled anew", {{"elapsedSeconds", seconds(now.progress.elapsed)}});
        return;
    }
    if (!isTimeToTell())
        return;
    Nanoseconds waiting{0}; // for this attempt
    {
        const std::lock_guard lock(m_mutex);
        waiting = m_time.monotonic() - m_fillStartedAt;
    }
    const char *const message = m_fill == Fill::WatchList
        ? "the end of a streaming list has not come"
        : "the answer to a list has not come";
    if (m_fill == Fill::WatchList && m_lastEventAt > m_openedAt)
        log.warning(
            message, {{"lastEventSecondsAgo", seconds(m_time.monotonic() - m_lastEventAt)}});
    else
        log.warning(message, {{"waitingSeconds", seconds(waiting)}});
}

} // namespace davit::cache
