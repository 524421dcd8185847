// What waits for one plugin's informer: filled by strands, emptied by the plugin's thread.
// Contract:
//   - One wake-up event is posted when it turns from empty to not empty, and after a take that left
//   something; none after close().
//   - EveryEvent: all, in order. Latest: one entry a key, at most two notifications of it; `before`
//   is what this handler was given last; merging rules in mailbox.cpp. It is handed out
//   in small portions: what a slow handler has not taken goes on merging.
//   - priv::kLatestOfController: the same, but what came and went unseen is told as deleted.
//   - Synced comes once: every part has stored its first list, and each added(isInInitialList) that
//   was put in has been handled (I-23), those that merged into nothing included.
// Davit decides otherwise: there are not two threads a handler but the plugin's one, and Latest is
// bounded by the number of keys where client-go's buffers grow without a bound (I-15). A controller
// is told what has gone unseen, since its reconciler may have made it and must make it again. A
// handler that throws is its plugin's fault: the process goes on, the next notification follows at
// once, and what threw counts as handled, so that synced comes (I-21).
// Source: BEHAVIOURS.md. Case B33. Test: tst_mailbox.
#pragma once

#include <davit/objectkey.h>
#include <davit/priv/backends.h>

#include <QtCore/qhash.h>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

namespace davit::cache {

class Mailbox
{
public:
    // Entries that a take of Latest hands out.
    static constexpr qsizetype kPortion = 64;

    // `parts`: how many onPartSynced() make the whole.
    Mailbox(Delivery delivery, int parts);

    // [cache-thread]
    void put(std::vector<priv::Notification> notifications);
    void partSynced();

    // Wake-ups go to `receiver` from now on; one at once when something waits. Null: none any more.
    // [plugin-thread]
    void setReceiver(QObject *receiver);
    // In order: everything, or with Latest the first kPortion entries. [plugin-thread]
    std::vector<priv::Notification> take();
    void handled(const priv::Notification &notification);
    // Drops what waits; takes nothing in any more. [plugin-thread]
    void close();

    // [thread-safe]
    bool hasSynced() const;
    // Notifications that wait. [thread-safe]
    qsizetype pending() const;

private:
    // What waits for one key: at most a deletion, then an addition or update. With `isSynced` it is
    // the one that says so.
    struct Entry
    {
        ObjectKey key;
        std::optional<priv::Notification> deleted;
        std::optional<priv::Notification> state; // Added or Updated
        bool isSynced = false;
    };
    using Entries = std::list<Entry>;

    void merge(priv::Notification &&notification);
    void mergeInto(Entries::iterator entry, priv::Notification &&notification);
    void forget(Entries::iterator entry);
    void countInitial(const priv::Notification &notification, int by);
    void checkSynced();
    void wake(bool wasEmpty);
    bool isEmpty() const { return m_events.empty() && m_entries.empty(); }

    const bool m_isLatest;
    const bool m_tellsVanished;
    mutable std::mutex m_mutex;
    QObject *m_receiver = nullptr; // GUARDED_BY(m_mutex), as is all below
    std::vector<priv::Notification> m_events; // EveryEvent
    Entries m_entries; // Latest, in the order in which keys began to wait
    QHash<ObjectKey, Entries::iterator> m_byKey;
    qint64 m_initialUnhandled = 0;
    int m_partsLeft;
    bool m_hasSynced = false;
    bool m_isClosed = false;
};

} // namespace davit::cache
