// Keeps a ReflectorStore equal to a collection of the server: fills it, then follows the watch, and
// begins again when the watch cannot be followed. A state machine on one executor. Contract:
//   - A round = fill (streaming list first, else LIST) and watch. After each round, failed or not,
//   a back-off delay passes. Only failed rounds reach onRoundError.
//   - A watch that ends is opened again from the last version, without a relist.
//   - The server's Retry-After is honoured: no wait is shorter (B14, B25), up to
//   kLongestAskedWait. What is waited for stands in the log and in ReflectorState::lastError.
// Davit decides otherwise:
//   - Nothing that goes wrong in a round ends the process. A failure that lasts is a warning
//   at first and once a minute, not an error line each time; Expired is a debug line, as there. The
//   end of an open stream has no line, whether it was cut or not: it is resumed.
//   - A watch that is refused with 503 waits as one refused with 429 does, and does not relist
//   (B25).
//   - ERROR events but Expired end the watch, back off and resume from the last version; only after
//   kMaxFruitless of them without an event between it relists (B12).
//   - A watch that was opened again asks for the server's newest version: a server that was
//   restored from a backup takes a version that it has not reached and stays silent until it has,
//   so what happens till then would be missed. When it is behind, the reflector relists (B14). So
//   does a bookmark below the version that was reached: it is no version to go on from.
//   - A streaming list that hears nothing warns after 10 s and then once a minute, as every failure
//   that lasts does, not each 10 s.
// Source: BEHAVIOURS.md. Tests: tst_reflector, tst_reflectorwatch,
// tst_badserver, tst_restoredserver.
#pragma once

#include "consistencycheck.h"
#include "objecttrie.h"
#include "reflectorstate.h"

#include <davit/logging.h>
#include <support/backoff.h>
#include <support/timesource.h>

#include <mutex>

namespace davit::cache {

// How the cache of a kind is filled.
enum class InitialSync : quint8 {
    Unset = 0, // Auto
    Auto, // WatchList, with LIST as the fall-back
    List, // LIST only: faster on the wire
    WatchList // WatchList only: kindest to the server
};

struct ReflectorOptions
{
    QString name; // "v1 ConfigMap", for messages; empty: the kind, or "<unspecified>"
    Gvk expectedGvk; // events of another kind are skipped; an empty kind takes any
    InitialSync initialSync = InitialSync::Auto;
    qint64 pageSize = 0; // 0: as R-13 says
    support::BackoffSettings backoff;
    std::function<double()> random; // numbers in [0, 1); empty: the system's
    std::chrono::seconds minWatchTimeout{300}; // less is ignored
    // Internal errors in a stream are retried at once for this long.
    std::chrono::nanoseconds internalErrorWindow{0};
    std::chrono::nanoseconds resyncPeriod{0}; // zero: no resync
    std::function<bool()> shouldResync; // empty: yes
    std::function<void(const Error &)> onRoundError; // beside the log
    bool checksConsistency = false; // after each fill (1.8)
    // What is stored under a key: a hint for the source; may be empty. [cache-thread]
    std::function<Object(const ObjectKey &)> known;
    Logger log; // each line gets the field "resource"; without: silent
    // Of one fill, whichever way; more is a failed round. All pages of a list count.
    qint64 maxFillBytes = qint64(16) << 30;
};

class Reflector
{
public:
    static constexpr int kMaxFruitless = 5; // watches in a row

    // Everything borrowed outlives the reflector.
    Reflector(ListerWatcher &source, ReflectorStore &store, support::Executor &executor,
        support::TimeSource &time, ReflectorOptions options);
    ~Reflector(); // stops; on the executor, or when the executor runs nothing any more
    Q_DISABLE_COPY_MOVE(Reflector)

    // Begins the first round; a second call does nothing. [cache-thread]
    void start();
    // Nothing reaches the store afterwards. [cache-thread]
    void stop();
    // From now on; zero: no resync. [cache-thread]
    void setResyncPeriod(std::chrono::nanoseconds period);
    // [thread-safe]
    ReflectorState state() const;
    // The version that the next watch starts from; empty before the first list. [thread-safe]
    QString lastSyncResourceVersion() const;

private:
    class Attempt;
    class VersionQuestion;
    enum class Fill : quint8 { Unset = 0, List, WatchList };
    using Nanoseconds = std::chrono::nanoseconds;

    void runRound();
    void endRound(const Error &error);
    // Told at the first failure, once a minute while it lasts, and when it is over.
    void attemptFailed(const Error &error);
    void attemptWorked();
    bool isTimeToTell(); // of a failure that lasts
    QString versionToAsk(Fill fill) const;
    Nanoseconds nextDelay(const Error &error);
    static Nanoseconds toldWait(const Error &error); // zero: the server did not ask for any
    void waitAsTold(const Error &error, void (Reflector::*next)());
    int watchTimeoutSeconds();
    bool usesWatchList() const;
    void waitThen(Nanoseconds delay, void (Reflector::*next)());
    template <typename Request> void cut(std::shared_ptr<Request> &request);
    void setPhase(ReflectorPhase phase);
    void beginProgress();
    Nanoseconds fillTime() const;

    // LIST
    void beginList();
    void requestPage();
    void onListItems(std::vector<Object> items, qint64 bytes);
    void onListFinished(const Error &error, const ListPage &page);
    void retryListFromLatest();
    void acceptList(std::vector<Object> items, const QString &version, const QString &asked);

    // WATCH, and the streaming list, which becomes one
    void openStreamingList();
    void openWatch();
    void startWatching(const transport::ListOptions &options);
    void onWatchOpened();
    void onWatchEvents(std::vector<codec::WatchEvent> events, qint64 bytes);
    void onWatchFinished(const Error &error);
    void streamingListEnded(const Error &error);
    void watchEnded(const Error &error);
    void errorEvent(const Error &error);
    void noteFruitless(const Error &error);
    void skipOtherKind(const Object &object);
    bool isInternalErrorRetried();
    void applyToTemporary(const codec::WatchEvent &event);
    void applyToStore(const codec::WatchEvent &event);
    bool isExpectedKind(const Object &object) const;
    void doubtVersion();
    void doubtBookmark();
    void askVersion();
    void onVersionTold(const Error &error, const QString &newest);
    bool isFillTooLarge(qint64 objects, qint64 bytes);
    void finishStreamingList(const codec::WatchEvent &end);

    // Timers
    void armResync();
    void resyncFired();
    void onCompared(const QStringList &differences);
    void armProgressLog();
    void logProgress();

    ListerWatcher &m_source;
    ReflectorStore &m_store;
    support::Executor &m_executor;
    support::TimeSource &m_time;
    const ReflectorOptions m_options;
    const Logger m_log;
    const QByteArray m_expectedKind; // both ASCII
    const QByteArray m_expectedApiVersion;
    support::Backoff m_backoff;
    Nanoseconds m_resyncPeriod;
    std::shared_ptr<bool> m_isAlive; // timers look whether the reflector is still there
    support::TimeSource::TimerId m_waitTimer = 0;
    support::TimeSource::TimerId m_resyncTimer = 0;
    support::TimeSource::TimerId m_progressTimer = 0;
    support::TimeSource::TimerId m_questionTimer = 0;
    bool m_isStarted = false;
    bool m_isStopped = false;
    bool m_isFailing = false;
    Nanoseconds m_failureToldAt{0};
    SyncProgress m_progressTold; // by the last line

    std::shared_ptr<Attempt> m_attempt; // the request under way
    Fill m_fill = Fill::Unset; // what the request under way fills; Unset: an ordinary watch
    bool m_isVersionUnavailable = false; // the server does not have our version: ask for any
    bool m_isPagingUseful = false;

    // The LIST under way.
    std::vector<Object> m_items;
    QString m_askedVersion;
    QString m_listVersion; // of the first page
    QString m_continueToken;
    qint64 m_limit = 0;
    int m_pages = 0; // of this attempt
    bool m_isPaged = false; // a second page was requested, whatever came of it
    bool m_isListRetry = false;
    bool m_isFullListRetry = false;

    // The watch under way.
    ObjectTrie m_temporary;
    bool m_isOpened = false;
    bool m_isVersionHeldBack = false;
    QString m_doubtedVersion; // the server has yet to show that it has got so far
    std::shared_ptr<VersionQuestion> m_question; // under way
    Nanoseconds m_openedAt{0};
    Nanoseconds m_lastEventAt{0};
    qint64 m_events = 0;
    Nanoseconds m_followedAt{0}; // when the request became a watch
    qint64 m_eventsOfFill = 0; // of m_events, those before that
    int m_fruitlessResumes = 0;
    int m_fruitlessRounds = 0; // in a row, whose watch ended at once
    bool m_hasSkippedKind = false;
    Nanoseconds m_skipToldAt{0};
    Nanoseconds m_firstInternalError{0};
    Nanoseconds m_lastInternalError{0};
    bool m_hadInternalError = false;

    std::unique_ptr<ConsistencyCheck> m_consistency; // null: not wanted

    mutable std::mutex m_mutex;
    ReflectorState m_state; // GUARDED_BY(m_mutex)
    Nanoseconds m_firstFillStartedAt{0}; // GUARDED_BY(m_mutex)
    Nanoseconds m_fillStartedAt{0}; // of this attempt; GUARDED_BY(m_mutex)
    bool m_isFirstFill = false; // under way; GUARDED_BY(m_mutex)
};

} // namespace davit::cache
