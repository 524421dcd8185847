// The production queue: every change in the order it happened, nothing merged. Contract:
//   - Each call of the producer makes one entry; each pop gives one, or one batch.
//   - Atomic mode: a relist or a resync is one entry. Item by item: one entry an object, tombstones
//   included, computed from what is queued and what the consumer's store knows.
//   - hasSynced(): populated, and the entries of the first list were processed, not only taken.
// Davit decides otherwise:
//   - An item of an atomic list that has no key is logged and left out, the others come through
//   (Q-26a).
//   - The lock is never held while entries are processed, however many wait: producer and
//   consumer share a strand, so the queue holds no more than one piece of the stream.
// Source: BEHAVIOURS.md. Test: tst_realfifo.
#pragma once

#include "deltaqueue.h"

#include <davit/logging.h>

#include <QtCore/qhash.h>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>

namespace davit::cache {

// What the consumer's store holds; item by item mode only.
class KnownObjects
{
public:
    virtual ~KnownObjects() = default;
    virtual std::vector<ObjectKey> keys() const = 0;
    // Null when it cannot be had.
    virtual Object find(const ObjectKey &key) const = 0;
};

struct RealFifoOptions
{
    bool isAtomic = true;
    bool emitsBookmarks = true; // atomic only
    const KnownObjects *known = nullptr; // item by item only; outlives the queue
    std::size_t maxBatch = 1000;
    Transform transform;
    KeyFunction keyFunction; // empty: namespace and name of the object
    // Called outside the lock when the queue turns from empty to not empty.
    std::function<void()> onReadable;
    Logger log; // of items that are left out; without: silent
};

class RealFifo final : public DeltaQueue
{
public:
    // Entries of one batch; `isInInitialList`: they belong to the first list.
    using Process = std::function<Status(std::span<const Delta> deltas, bool isInInitialList)>;

    // InvalidArgument for options that exclude each other.
    static Status check(const RealFifoOptions &options);
    // Options that check() refuses are a programming error.
    explicit RealFifo(RealFifoOptions options);

    // [thread-safe]
    Status add(const Object &object) override;
    Status update(const Object &object) override;
    Status remove(const Object &object) override;
    // A deletion that was inferred; `lastKnown` may be null.
    Status removeUnseen(const ObjectKey &key, const Object &lastKnown);
    Status replace(
        std::vector<Object> objects, const QString &resourceVersion, ListOrigin origin) override;
    Status resync() override;
    void bookmark(const QString &resourceVersion) override;
    const Transform *transform() const override
    {
        return m_options.transform ? &m_options.transform : nullptr;
    }
    bool hasSynced() const override;
    void close() override;
    // Entries that wait. [thread-safe]
    qsizetype depth() const;

    // Waits for an entry, or close(): then Canceled, once the queue is empty. The answer of
    // `process` is handed on; nothing is queued again. One consumer. [thread-safe]
    Status pop(const Process &process);
    // As pop(), with as many entries as may be processed together: different keys, all of the first
    // list or none of it, relists, resyncs and bookmarks alone.
    Status popBatch(const Process &process);
    // As popBatch() without waiting: false when nothing waited. [thread-safe]
    bool tryPopBatch(const Process &process, Status *status);

private:
    Status enqueue(DeltaType type, const Object &object);
    Status keyOf(const Object &object, ObjectKey *key) const;
    Status replaceAtomically(
        std::vector<Object> objects, const QString &resourceVersion, ListOrigin origin);
    Status replaceItemByItem(std::vector<Object> objects);
    void markPopulated();
    void finishPopulation(bool wasPopulated);
    void announce(bool wasEmpty);
    std::vector<Delta> take(std::size_t limit, bool *isInInitialList);
    Status run(std::unique_lock<std::mutex> &lock, std::size_t limit, const Process &process);

    const RealFifoOptions m_options;
    mutable std::mutex m_mutex;
    std::condition_variable m_readable;
    std::deque<Delta> m_entries; // GUARDED_BY(m_mutex)
    std::size_t m_initialCount = 0; // GUARDED_BY(m_mutex)
    bool m_isPopulated = false; // GUARDED_BY(m_mutex)
    bool m_isClosed = false; // GUARDED_BY(m_mutex)
};

} // namespace davit::cache
