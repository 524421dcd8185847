// What one plugin wrote, as far as its reads may be asked to wait for it: by kind, whatever the
// version of the kind. Contract:
//   - A write shows in a store when the store has come to its version, or holds that object in that
//   state or a later one. Where the store holds nothing and its watch does not select what was
//   written, the write shows, too: it may never come.
//   - What ended shows when, beside that, nothing is there, or another uid, or (GoneOrTerminating)
//   it is being deleted.
//   - Of a key the last kMaxStates states are kept: an earlier one may be selected where the last
//   is not. Of a kind the last kMaxKeys keys; what is older is one version a namespace, which the
//   store has to reach, and an end among it is forgotten.
// Source: BEHAVIOURS.md (M-39). Test: tst_ownwrites.
#pragma once

#include "storesnapshot.h"
#include "viewfilter.h"

#include <davit/priv/ownwrite.h>

#include <QtCore/qhash.h>
#include <list>
#include <mutex>

namespace davit::cache {

// What was written to one key; immutable.
struct KeyWrites
{
    struct State
    {
        QString version;
        Object object; // its metadata; null: that is not known
    };

    ObjectKey key;
    std::vector<State> states; // the newest last
    priv::OwnWrite::Outcome outcome = priv::OwnWrite::Outcome::Stands;
    QString uid; // of what ended

    // `watched` is what the store's watch selects. O(states). [thread-safe]
    bool isShown(const StoreSnapshot &store, const ViewFilter &watched) const;
    // "write of team-a/x at version 12", "deletion of team-a/x": for messages. [thread-safe]
    QString toText() const;
};

// All methods: [thread-safe].
class OwnWrites
{
public:
    static constexpr qsizetype kMaxKeys = 256;
    static constexpr std::size_t kMaxStates = 4;
    static constexpr qsizetype kMaxFloors = 64; // namespaces; more have one version together

    void note(const priv::OwnWrite &write);

    // What a reader of `scope` is concerned with.
    struct Noted
    {
        std::vector<std::shared_ptr<const KeyWrites>> writes; // the oldest first
        QString floor; // the version of what is not among them any more, or empty
    };
    Noted of(const WatchScope &scope) const;

private:
    using Order = std::list<std::shared_ptr<const KeyWrites>>; // the oldest first
    struct Kind
    {
        Order writes;
        QHash<ObjectKey, Order::iterator> byKey;
        QHash<QString, QString> floors; // by namespace
    };
    static void forgetOldest(Kind *kind);
    static void foldFloors(Kind *kind);

    mutable std::mutex m_mutex;
    QHash<QString, Kind> m_kinds; // by group/kind; GUARDED_BY(m_mutex)
};

} // namespace davit::cache
