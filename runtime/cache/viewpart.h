// One scope's share of a view: the listener between a running informer and a plugin's mailbox, and
// the reader of that informer's store. It may move to a wider informer while it lives; what it
// shows stays the same. Contract:
//   - Filtering as client-go's filtering handler: an update into the view is added, one out of it
//   is deleted (I-22).
// Test: tst_sharedinformerfactory, tst_consistencywait.
#pragma once

#include "mailbox.h"
#include "sharedinformer.h"
#include "storenews.h"
#include "viewfilter.h"

#include <davit/informer.h>
#include <davit/priv/plugincall.h>

namespace davit::cache {

class RunningInformer;

// A plugin's index function, callable for as long as its view lives.
class GuardedIndex
{
public:
    // `faults` outlives the view. `key` tells this index from those of other plugins.
    GuardedIndex(const QString &key, const QString &name,
        std::shared_ptr<const IndexFunction> function, priv::FaultSink &faults);
    const QString &key() const { return m_key; }
    const QString &name() const { return m_name; }
    // Nothing when the function threw (B28). [cache-thread]
    std::optional<QStringList> values(const Object &object) const;
    // No call runs or comes after this. [plugin-thread]
    void end();

private:
    const QString m_key;
    const QString m_name;
    mutable std::mutex m_mutex;
    std::shared_ptr<const IndexFunction> m_function; // GUARDED_BY(m_mutex)
    priv::FaultSink &m_faults;
};

class ViewPart final : public InformerListener, public std::enable_shared_from_this<ViewPart>
{
public:
    // Without a mailbox it only reads.
    ViewPart(const WatchScope &scope, std::shared_ptr<Mailbox> mailbox);
    ~ViewPart() override;

    // Begins to listen. Once. `place` is let go then. A negative period is the informer's default.
    // [plugin-thread]
    void attach(std::shared_ptr<RunningInformer> informer, std::shared_ptr<void> place,
        std::chrono::nanoseconds resyncPeriod);
    // Stops listening and gives the informer up; reads go on with what is stored now.
    // [thread-safe]
    void close();
    // On the strand of the wider informer that takes this over; false after close().
    bool moveTo(std::shared_ptr<RunningInformer> wider);

    // Builds the index before it returns. [plugin-thread]
    void addIndex(std::shared_ptr<GuardedIndex> index);

    // [thread-safe]
    const ViewFilter &filter() const { return m_filter; }
    struct Reading
    {
        std::shared_ptr<const StoreSnapshot> snapshot;
        bool showsAll = false; // nothing in it is beyond this view
    };
    Reading read() const;
    // What it reads now, and whether there will be more.
    struct Feed
    {
        std::shared_ptr<const StoreSnapshot> snapshot;
        std::shared_ptr<const ViewFilter> watched; // what the informer behind it selects
        bool hasSynced = false;
        bool hasEnded = false;
    };
    // Looks now and after each change of what it reads, until `isShown`. [worker-thread]
    enum class Waited : quint8 { Shown, TimedOut, Ended };
    Waited waitUntil(const std::function<bool(const Feed &)> &isShown,
        std::chrono::steady_clock::time_point until) const;
    int waiters() const { return m_news.waiters(); } // for tests
    bool hasSynced() const noexcept { return m_hasSynced.load(std::memory_order_acquire); }
    void onEvents(const std::vector<InformerEvent> &events, bool wantsSync) override;
    void onSynced() override;
    void onPublished() override { m_news.tell(); }
    void onStopped() override;

private:
    Feed feed() const;
    void present(const InformerEvent &event, bool all, std::vector<priv::Notification> *out) const;
    std::pair<QString, IndexValues> indexer(
        const std::shared_ptr<GuardedIndex> &index, bool all) const;

    const ViewFilter m_filter;
    const std::shared_ptr<Mailbox> m_mailbox;
    std::atomic<bool> m_hasSynced = false;
    mutable std::mutex m_mutex;
    std::shared_ptr<RunningInformer> m_informer; // GUARDED_BY(m_mutex); null after close()
    std::shared_ptr<const ThreadSafeStore> m_store; // GUARDED_BY(m_mutex)
    std::shared_ptr<const ViewFilter> m_watched; // GUARDED_BY(m_mutex): the informer's
    bool m_isExact = false; // GUARDED_BY(m_mutex): the informer's scope is this one's
    bool m_wasExact = false; // thread-confined: the strand. On the informer before the last move
    bool m_isClosed = false; // GUARDED_BY(m_mutex)
    bool m_hasEnded = false; // GUARDED_BY(m_mutex): no news any more
    std::vector<std::shared_ptr<GuardedIndex>> m_indexes; // GUARDED_BY(m_mutex)
    StoreNews m_news; // rung after what feed() says has changed
};

} // namespace davit::cache
