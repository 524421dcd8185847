// The classic queue of older client-go releases: a list of deltas per key, keys in the order in
// which they began to wait. For those who want it or learn from it; informers use RealFifo.
// Contract:
//   - pop() hands out everything that waits for one key, oldest first, under the queue's lock: the
//   process function must not call the queue.
//   - Two deletions in a row become one; nothing else is ever merged.
//   - A process function may ask for the deltas to be queued again; newer ones of the key win.
// Source: BEHAVIOURS.md. Test: tst_deltafifo.
#pragma once

#include "realfifo.h"

namespace davit::cache {

struct DeltaFifoOptions
{
    const KnownObjects *known
        = nullptr; // what the consumer's store holds; may be null; outlives it
    bool emitsReplaced = true; // false: a list's items come as Sync, as before that kind existed
    Transform transform; // not for tombstones and Sync
    KeyFunction keyFunction; // empty: namespace and name of the object
};

class DeltaFifo final : public DeltaQueue
{
public:
    enum class Outcome : quint8 { Unset = 0, Done, Requeue };
    // `deltas` of one key, never empty; a failed status is handed on to the caller of pop().
    using Process = std::function<Outcome(
        const std::vector<Delta> &deltas, bool isInInitialList, Status *status)>;

    explicit DeltaFifo(DeltaFifoOptions options);

    // [thread-safe]
    Status add(const Object &object) override;
    Status update(const Object &object) override;
    // Nothing happens when the key is neither queued nor known.
    Status remove(const Object &object) override;
    Status removeUnseen(const ObjectKey &key, const Object &lastKnown);
    // The version and origin of the list do not pass through this queue.
    Status replace(
        std::vector<Object> objects, const QString &resourceVersion, ListOrigin origin) override;
    // A Sync for each known key for which nothing waits.
    Status resync() override;
    // This queue has no bookmarks.
    void bookmark(const QString &) override { }
    // Queues deltas again, unless newer ones of that key wait.
    void addIfNotPresent(const ObjectKey &key, std::vector<Delta> deltas);
    const Transform *transform() const override
    {
        return m_options.transform ? &m_options.transform : nullptr;
    }
    // True once every key of the first list was handed out (before it is processed: Q-31).
    bool hasSynced() const override;
    void close() override;

    // Waits for a key, or close(): then Canceled, once nothing waits. [thread-safe]
    Status pop(const Process &process);
    // Keys that wait, oldest first; the deltas of one. Copies. [thread-safe]
    std::vector<ObjectKey> keys() const;
    std::vector<Delta> deltas(const ObjectKey &key) const;

private:
    Status keyOf(const Object &object, ObjectKey *key) const;
    Status queue(DeltaType type, const ObjectKey &key, const Object &object, bool isTombstone);
    Status queueObject(DeltaType type, const Object &object);
    bool isKnown(const ObjectKey &key) const;
    bool isSynced() const { return m_isPopulated && m_initialCount == 0; }

    const DeltaFifoOptions m_options;
    mutable std::mutex m_mutex;
    std::condition_variable m_readable;
    QHash<ObjectKey, std::vector<Delta>> m_items; // GUARDED_BY(m_mutex)
    std::deque<ObjectKey> m_order; // GUARDED_BY(m_mutex)
    qsizetype m_initialCount = 0; // GUARDED_BY(m_mutex)
    bool m_isPopulated = false; // GUARDED_BY(m_mutex)
    bool m_isClosed = false; // GUARDED_BY(m_mutex)
};

} // namespace davit::cache
