// One watched collection, its store, and everybody who listens to it. Contract:
//   - Store and indexes change first, then listeners hear of it; per listener in order; per object
//   in the order of its versions.
//   - A listener that comes late hears what is stored as added(isInInitialList), then what happens:
//   nothing twice, nothing left out (I-11).
//   - Listeners never wait for each other: hearing an event means queueing it.
// Davit decides otherwise: another uid under the same name is deleted (final state unknown), then
// added (Q-25, B16); a relist never replaces an object by an older state of the same uid where
// versions can be compared, unless the server's own history went back (B14); for the same reason a
// live event with an older or equal version of a known uid is left out.
// Source: BEHAVIOURS.md. Test: tst_sharedinformer, tst_narrowing.
#pragma once

#include "mutationcheck.h"
#include "realfifo.h"
#include "reflector.h"
#include "threadsafestore.h"

#include <atomic>
#include <optional>

namespace davit::cache {

struct InformerEvent
{
    enum class Kind : quint8 { Added, Updated, Deleted };
    Kind kind = Kind::Added;
    bool isInInitialList = false; // Added
    bool isFinalStateUnknown = false; // Deleted
    bool isSync = false; // Updated: the same version again, from a relist or resync (I-7)
    Object before; // Updated; Deleted: what the store held, or null
    Object object;
    bool isBeforeShown = false; // the listener has `before`, whatever its filter says of it
};

class InformerListener
{
public:
    virtual ~InformerListener() = default;
    // Equal-version updates count only when `wantsSync`. [cache-thread]
    virtual void onEvents(const std::vector<InformerEvent> &events, bool wantsSync) = 0;
    // Once, after the events of the first full list. [cache-thread]
    virtual void onSynced() = 0;
    // The store shows something new, a version alone maybe. [thread-safe]
    virtual void onPublished() { }
    // Nothing is told any more: the informer has stopped. [thread-safe]
    virtual void onStopped() { }
};

struct SharedInformerOptions
{
    ReflectorOptions reflector; // its resync members are set by the informer
    std::chrono::nanoseconds resyncPeriod{0}; // default of listeners
    // How often it is looked who is due; zero: no resync ever. Negative: as often as the default.
    std::chrono::nanoseconds resyncCheckPeriod{-1};
    Transform transform;
    std::function<void()> onSynced; // [cache-thread]
    // How long a batch of changes took to store; empty: nobody asks. Let go by stop().
    // [cache-thread]
    std::function<void(std::chrono::nanoseconds)> onProcessed;
    std::chrono::nanoseconds mutationCheckPeriod{0}; // zero: not looked at (mutationcheck.h)
};

class SharedInformer
{
public:
    // Borrowed things outlive the informer.
    SharedInformer(std::unique_ptr<ListerWatcher> source, support::Executor &executor,
        support::TimeSource &time, SharedInformerOptions options);
    // After stop(); on the executor, or when it runs nothing any more.
    ~SharedInformer();
    Q_DISABLE_COPY_MOVE(SharedInformer)

    // Once; a stopped informer cannot be started again (I-4). [cache-thread]
    void start();
    // Drops the listeners; the store stays readable. [cache-thread]
    void stop();
    bool isStopped() const { return m_isStopped; }

    // Canceled after stop(). The period is what the listener asks for; see I-5 for what it gets. A
    // warning says when that is less. [cache-thread]
    Status addListener(std::shared_ptr<InformerListener> listener,
        std::optional<std::chrono::nanoseconds> resyncPeriod = std::nullopt);
    // No effect when it does not listen. [cache-thread]
    void removeListener(const InformerListener *listener);
    // What a listener gets of what it asked for; zero for a stranger. [cache-thread]
    std::chrono::nanoseconds effectiveResync(const InformerListener *listener) const;
    std::chrono::nanoseconds resyncCheckPeriod() const { return m_resyncCheckPeriod; }
    // Canceled after stop(), AlreadyExists for a name that is taken. [cache-thread]
    Status addIndexers(std::vector<std::pair<QString, IndexValues>> indexers);
    void removeIndexer(const QString &name);

    // What is kept of an object; a null one: nothing of it.
    using Keep = std::function<Object(const Object &)>;
    // From now on, and of what is stored: nobody who listens has asked for the rest, and nobody
    // hears of it. [cache-thread]
    void keepOnly(Keep keep);
    // Those who listen, and those who wait to be adopted. [cache-thread]
    std::vector<std::shared_ptr<InformerListener>> listeners() const;

    // A listener that leaves for a wider informer, with all it has heard so far.
    struct Handover
    {
        struct Leaving
        {
            std::shared_ptr<InformerListener> listener;
            std::chrono::nanoseconds resyncPeriod{0}; // what it asked for
        };
        std::vector<Leaving> listeners;
        std::shared_ptr<const StoreSnapshot> heard;
        bool hasSynced = false;
    };
    // Takes all listeners off and ends the watch: until they have moved they read what they heard,
    // so that no read goes back when the other informer has come no further. [cache-thread]
    Handover handOver();
    // Takes them in, as soon as this informer is not behind what they heard: then `moved` is asked
    // for each (false: it is gone), and it hears the differences. They keep their resync periods:
    // what is checked less often is from here on checked as often as they need. [cache-thread]
    void adopt(Handover handover, std::function<bool(InformerListener &)> moved);

    // [thread-safe]
    const std::shared_ptr<ThreadSafeStore> &store() const { return m_store; }
    bool hasSynced() const noexcept { return m_hasSynced.load(std::memory_order_acquire); }
    QString lastSyncResourceVersion() const;
    ReflectorState reflectorState() const;
    qsizetype queueDepth() const { return m_queue.depth(); }
    // Events that were left out because something newer is known. [thread-safe]
    quint64 staleEvents() const { return m_staleEvents.load(std::memory_order_relaxed); }
    // Cached objects whose memory somebody wrote to. [thread-safe]
    quint64 damagedObjects() const { return m_damagedObjects.load(std::memory_order_relaxed); }

private:
    using Nanoseconds = std::chrono::nanoseconds;
    struct Listening
    {
        std::shared_ptr<InformerListener> listener;
        Nanoseconds requested{0};
        Nanoseconds effective{0};
        Nanoseconds nextResync{0};
        bool isSyncing = true; // I-8
    };
    struct Adoption
    {
        Handover handover;
        std::function<bool(InformerListener &)> moved;
    };

    void drain();
    Status process(std::span<const Delta> deltas, bool isInInitialList);
    void traceSlow(Nanoseconds took, qsizetype changes, qsizetype waiting);
    Status apply(std::span<const Delta> deltas, bool isInInitialList);
    void upsert(const Delta &delta, bool isInInitialList);
    void drop(const ObjectKey &key, const Object &before, const Object &after);
    Object kept(const Object &object) const { return m_keep ? m_keep(object) : object; }
    void remove(const Delta &delta);
    void replaceAll(const Delta &delta, bool isInInitialList);
    void syncAll();
    void replaceOther(
        const ObjectKey &key, const Object &before, const Object &after, bool isInitial);
    void distribute();
    void tellPublished();
    void adoptThoseInTime();
    void tellDifferences(const Adoption &adoption);
    bool shouldResync();
    void onDamage(const Object &object);
    Nanoseconds effectivePeriod(Nanoseconds wanted) const;
    Nanoseconds possiblePeriod(Nanoseconds asked);
    void checkAsOftenAs(Nanoseconds period);

    std::unique_ptr<ListerWatcher> m_source;
    support::Executor &m_executor;
    support::TimeSource &m_time;
    std::function<void(Nanoseconds)> m_onProcessed;
    const SharedInformerOptions m_options; // but for onProcessed
    std::shared_ptr<ThreadSafeStore> m_store;
    RealFifo m_queue;
    std::shared_ptr<bool> m_isAlive; // posted drains look
    std::vector<Listening> m_listeners;
    std::vector<Adoption> m_adoptions; // waiting to be in time
    std::vector<InformerEvent> m_events; // of the drain under way
    Keep m_keep; // empty: all of everything
    Nanoseconds m_resyncCheckPeriod;
    bool m_isStopped = false;
    std::optional<Nanoseconds> m_slowToldAt;
    mutable std::mutex m_mutex;
    std::unique_ptr<Reflector> m_reflector; // set once by start(), GUARDED_BY(m_mutex) for others
    std::atomic<bool> m_hasSynced = false;
    std::atomic<quint64> m_staleEvents = 0;
    std::atomic<quint64> m_damagedObjects = 0;
    std::unique_ptr<MutationCheck> m_mutationCheck; // null: not wanted, or not running
};

} // namespace davit::cache
