// The watching half of the reflector: ordinary watches, and the streaming list that becomes one.
#include "reflector.h"
#include "reflectorattempt.h"
#include "resourceversion.h"

namespace davit::cache {

using namespace std::chrono_literals;

namespace {

// What ends a stream without being anybody's fault: end of body, reset, silence.
bool isPlainEnd(const Error &error)
{
    return !error.isError() || error.code() == ErrorCode::ConnectionLost
        || error.code() == ErrorCode::Timeout || error.code() == ErrorCode::Canceled;
}

bool isWorthWaiting(const Error &error)
{
    return error.code() == ErrorCode::ConnectionRefused
        || error.code() == ErrorCode::TooManyRequests;
}

// A server that cannot answer now is no reason to relist what is known (B25).
bool isWatchWorthWaiting(const Error &error)
{
    return isWorthWaiting(error) || error.code() == ErrorCode::ServiceUnavailable;
}

} // namespace

bool isVersionTooLarge(const Error &error)
{
    return error.code() == ErrorCode::ResourceVersionTooLarge
        || (error.code() == ErrorCode::Timeout
            && error.message().contains(QLatin1StringView("Too large resource version")));
}

void Reflector::openStreamingList()
{
    m_fill = Fill::WatchList;
    setPhase(ReflectorPhase::StreamingList);
    m_temporary = {};
    m_askedVersion = versionToAsk(Fill::WatchList);
    beginProgress();
    armProgressLog();
    transport::ListOptions options;
    options.isWatch = true;
    options.resourceVersion = m_askedVersion;
    options.resourceVersionMatch = QStringLiteral("NotOlderThan");
    options.sendInitialEvents = true;
    options.allowWatchBookmarks = true;
    options.timeoutSeconds = watchTimeoutSeconds();
    m_isVersionHeldBack = false;
    startWatching(options);
}

void Reflector::openWatch()
{
    m_fill = Fill::Unset;
    setPhase(ReflectorPhase::Watching);
    transport::ListOptions options;
    options.isWatch = true;
    options.resourceVersion = lastSyncResourceVersion();
    options.allowWatchBookmarks = true;
    options.timeoutSeconds = watchTimeoutSeconds();
    m_isVersionHeldBack
        = options.resourceVersion.isEmpty() || options.resourceVersion == QLatin1StringView("0");
    startWatching(options);
}

void Reflector::startWatching(const transport::ListOptions &options)
{
    {
        const std::lock_guard lock(m_mutex);
        ++m_state.watchRequests;
    }
    m_isOpened = false;
    m_events = m_eventsOfFill = 0;
    m_openedAt = m_followedAt = m_lastEventAt = m_time.monotonic();
    cut(m_attempt);
    m_attempt = std::make_shared<Attempt>(*this);
    m_attempt->operation = m_source.watch(options, m_executor, *m_attempt);
}

void Reflector::onWatchOpened()
{
    m_isOpened = true;
    if (m_fill != Fill::Unset)
        return;
    attemptWorked();
    if (!m_doubtedVersion.isEmpty() && !m_question && !m_questionTimer)
        askVersion();
}

void Reflector::onWatchEvents(std::vector<codec::WatchEvent> events, qint64 bytes)
{
    m_lastEventAt = m_time.monotonic();
    if (m_fill == Fill::WatchList && isFillTooLarge(0, bytes))
        return;
    const std::shared_ptr<Attempt> attempt = m_attempt; // its end, when it comes to that, is ours
    for (const codec::WatchEvent &event : events) {
        if (event.type == codec::WatchEvent::Type::Error) {
            errorEvent(event.error);
            return;
        }
        if (m_fill != Fill::WatchList)
            applyToStore(event);
        else if (event.isInitialEventsEnd)
            finishStreamingList(event);
        else
            applyToTemporary(event);
        if (!attempt->owner) // the store refused the list, or somebody stopped us
            return;
    }
}

void Reflector::onWatchFinished(const Error &error)
{
    cut(m_attempt);
    if (m_fill == Fill::WatchList)
        streamingListEnded(error);
    else
        watchEnded(error);
}

//
void Reflector::streamingListEnded(const Error &error)
{
    const bool isShort = m_events == 0 && m_time.monotonic() - m_openedAt < 1s;
    const bool isBehind = error.code() == ErrorCode::Expired || isVersionTooLarge(error);
    if (isWorthWaiting(error)) {
        attemptFailed(error);
        m_time.cancel(std::exchange(m_progressTimer, 0));
        waitThen(nextDelay(error), &Reflector::openStreamingList);
    } else if (isBehind && !m_askedVersion.isEmpty()) {
        m_isVersionUnavailable = true;
        waitAsTold(error, &Reflector::openStreamingList);
    } else if (m_isOpened && isPlainEnd(error) && !isShort) {
        openStreamingList();
    } else if (m_options.initialSync == InitialSync::WatchList) {
        endRound(error.isError()
                ? error
                : Error(ErrorCode::ConnectionLost,
                    QStringLiteral("streaming list of %1: the server ended it at once")
                        .arg(m_options.name)));
    } else {
        m_log.debug("falls back to LIST", {{"error", error.message()}});
        m_temporary = {};
        waitAsTold(error, &Reflector::beginList);
    }
}

// Whoever answers next may be a server that was restored from a backup. What was asked before does
// not count: it told of less than what is known now.
void Reflector::doubtVersion()
{
    m_doubtedVersion = lastSyncResourceVersion();
    cut(m_question);
    m_time.cancel(std::exchange(m_questionTimer, 0));
}

// It tells where the server is, and is no version to go on from: what lies above it was shown.
void Reflector::doubtBookmark()
{
    if (m_question || m_questionTimer)
        return;
    doubtVersion();
    askVersion();
}

void Reflector::askVersion()
{
    m_question = std::make_shared<VersionQuestion>(*this);
    m_question->operation = m_source.askVersion(m_executor, *m_question);
    if (m_question->operation)
        return;
    cut(m_question);
    m_doubtedVersion.clear();
}

void Reflector::onVersionTold(const Error &error, const QString &newest)
{
    cut(m_question);
    if (error.isError()) {
        m_questionTimer
            = m_time.callAfter(5s, m_executor, [this, alive = std::weak_ptr<bool>(m_isAlive)] {
                  if (alive.lock() && std::exchange(m_questionTimer, 0) && !m_question)
                      askVersion();
              });
        return;
    }
    const QString doubted = std::exchange(m_doubtedVersion, {});
    if (!(compareVersions(newest, doubted) < 0))
        return;
    m_log.warning("the server's history went back, it is listed anew",
        {{"version", newest}, {"shownBefore", doubted}});
    m_isVersionUnavailable = true;
    endRound({});
}

// R-28 before the watch was opened, R-29 afterwards.
void Reflector::watchEnded(const Error &error)
{
    doubtVersion();
    if (!m_isOpened && isWatchWorthWaiting(error)) {
        attemptFailed(error);
        setPhase(ReflectorPhase::BackingOff);
        waitThen(nextDelay(error), &Reflector::openWatch);
        return;
    }
    if (!m_isOpened && error.isError()) {
        if (error.code() == ErrorCode::Expired)
            noteFruitless(error);
        endRound(error);
        return;
    }
    const bool isShort = m_events == 0 && m_time.monotonic() - m_openedAt < 1s;
    if (isPlainEnd(error) && !isShort) {
        m_fruitlessRounds = 0;
        openWatch();
        return;
    }
    if (m_fruitlessRounds == 0)
        m_log.info("a watch ended after less than a second without an event",
            {{"error", error.isError() ? error.message() : QStringLiteral("none")}});
    noteFruitless(error);
    endRound({});
}

// A watch that brought nothing is nobody's fault; many in a row are a failure that lasts.
void Reflector::noteFruitless(const Error &error)
{
    const bool isFruitless = m_events == m_eventsOfFill && m_time.monotonic() - m_followedAt < 1s;
    if (!isFruitless) {
        m_fruitlessRounds = 0;
    } else if (++m_fruitlessRounds > kMaxFruitless) {
        attemptFailed(Error(ErrorCode::ConnectionLost,
            QStringLiteral("watch %1: the last %2 ended at once without an event%3; the collection "
                           "is listed again each time, look at the API server")
                .arg(m_options.name)
                .arg(m_fruitlessRounds)
                .arg(error.isError() ? QStringLiteral(" (%1)").arg(error.message()) : QString())));
    }
}

void Reflector::errorEvent(const Error &error)
{
    cut(m_attempt);
    if (m_fill == Fill::WatchList) {
        m_isOpened = true;
        streamingListEnded(error);
        return;
    }
    doubtVersion();
    if (error.code() == ErrorCode::Expired) {
        m_log.debug("a watch expired", {{"error", error.message()}});
        noteFruitless(error);
        endRound({});
        return;
    }
    if (error.code() == ErrorCode::InternalError && isInternalErrorRetried()) {
        openWatch();
        return;
    }
    if (error.code() != ErrorCode::TooManyRequests) {
        m_log.warning("a watch sent an error, it is resumed", {{"error", error.message()}});
        if (m_events > 0)
            m_fruitlessResumes = 0;
        if (++m_fruitlessResumes > kMaxFruitless) {
            m_fruitlessResumes = 0;
            endRound({});
            return;
        }
    }
    setPhase(ReflectorPhase::BackingOff);
    waitThen(nextDelay(error), &Reflector::openWatch);
}

//
bool Reflector::isInternalErrorRetried()
{
    if (m_options.internalErrorWindow <= 0ns)
        return false;
    const Nanoseconds now = m_time.monotonic();
    if (!m_hadInternalError || now - m_lastInternalError >= 60s)
        m_firstInternalError = now;
    m_hadInternalError = true;
    m_lastInternalError = now;
    return now - m_firstInternalError <= m_options.internalErrorWindow;
}

bool Reflector::isExpectedKind(const Object &object) const
{
    return m_expectedKind.isEmpty()
        || (object[QLatin1StringView("kind")].equals(QLatin1StringView(m_expectedKind))
            && object[QLatin1StringView("apiVersion")].equals(
                QLatin1StringView(m_expectedApiVersion)));
}

// A server that mixes kinds up does so at each event: one line a minute.
void Reflector::skipOtherKind(const Object &object)
{
    quint64 skipped = 0;
    {
        const std::lock_guard lock(m_mutex);
        skipped = ++m_state.skippedEvents;
    }
    const Nanoseconds now = m_time.monotonic();
    if (m_hasSkippedKind && now - m_skipToldAt < 1min)
        return;
    m_hasSkippedKind = true;
    m_skipToldAt = now;
    m_log.warning("an event of another kind is skipped",
        {{"kind", toString(object.gvk())}, {"object", toString(object.key())},
            {"skippedSoFar", skipped}});
}

void Reflector::applyToTemporary(const codec::WatchEvent &event)
{
    using Type = codec::WatchEvent::Type;
    if (event.type != Type::Bookmark && !isExpectedKind(event.object)) {
        skipOtherKind(event.object);
        return;
    }
    ++m_events;
    if (event.type == Type::Bookmark)
        return;
    Object object = event.object;
    if (const Transform *const transform = m_store.transform()) {
        if (const Status status = (*transform)(&object); !status.isOk()) {
            m_log.warning(
                "an item could not be transformed", {{"error", status.error().message()}});
            return;
        }
    }
    if (event.type == Type::Deleted)
        m_temporary.remove(object.key());
    else
        m_temporary.put(object.key(), object);
    const std::lock_guard lock(m_mutex);
    m_state.progress.objects = m_temporary.size();
}

void Reflector::finishStreamingList(const codec::WatchEvent &end)
{
    ++m_events;
    std::vector<Object> items;
    items.reserve(std::size_t(m_temporary.size()));
    m_temporary.forEach([&](const Object &object) { items.push_back(object); });
    m_temporary = {};
    acceptList(std::move(items), end.resourceVersion, m_askedVersion);
}

void Reflector::applyToStore(const codec::WatchEvent &event)
{
    using Type = codec::WatchEvent::Type;
    if (event.type != Type::Bookmark && !isExpectedKind(event.object)) {
        skipOtherKind(event.object);
        return;
    }
    if (std::exchange(m_fruitlessRounds, 0) > kMaxFruitless)
        attemptWorked();
    Status status;
    switch (event.type) {
    case Type::Added:
        status = m_store.add(event.object);
        break;
    case Type::Modified:
        status = m_store.update(event.object);
        break;
    case Type::Deleted:
        status = m_store.remove(event.object);
        break;
    case Type::Bookmark:
        if (compareVersions(event.resourceVersion, lastSyncResourceVersion()) < 0) {
            doubtBookmark();
            return;
        }
        m_store.bookmark(event.resourceVersion);
        break;
    case Type::Error:
        return;
    }
    if (!status.isOk())
        m_log.warning("an event could not be queued", {{"error", status.error().message()}});
    if (event.type != Type::Added)
        m_isVersionHeldBack = false;
    ++m_events;
    const std::lock_guard lock(m_mutex);
    ++m_state.events;
    if (!status.isOk())
        ++m_state.skippedEvents;
    if (!m_isVersionHeldBack && !event.resourceVersion.isEmpty())
        m_state.resourceVersion = event.resourceVersion; // also past what the store refused: R-32
}

} // namespace davit::cache
