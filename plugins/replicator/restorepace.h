// How soon a copy that someone keeps changing is put right again. Contract:
//   - New content of the source is written at once, and so is the first restoration.
//   - Each further restoration of the same content waits twice as long as the one before: 1 s, 2 s,
//   4 s … 5 min. Ten quiet minutes, or new content, begin anew.
//   - A place is a namespace by its uid: one that is made anew under the old name is another one.
//   - There is an entry for each place that keepOnly() named last and that was written to; no more.
// Thread-safe. Test: tst_replicatorrules, pace…; tst_replicator, fightOverCopy.
#pragma once

#include <davit/clock.h>
#include <davit/objectkey.h>

#include <QtCore/qhash.h>
#include <QtCore/qset.h>
#include <mutex>

namespace replicator {

class RestorePace
{
public:
    explicit RestorePace(const davit::Clock &clock);

    // `source` is copied to these namespaces alone; the others are forgotten. [thread-safe]
    void keepOnly(const davit::ObjectKey &source, const QSet<QString> &namespaceUids);
    // How long to wait until `digest` may be written there; zero: now. [thread-safe]
    std::chrono::milliseconds remaining(const davit::ObjectKey &source, const QString &namespaceUid,
        const QByteArray &digest) const;
    // Whether `digest` was written there: what is written now is a restoration. [thread-safe]
    bool isKnown(const davit::ObjectKey &source, const QString &namespaceUid,
        const QByteArray &digest) const;
    // It was written. Returns the wait before the next restoration. [thread-safe]
    std::chrono::milliseconds written(
        const davit::ObjectKey &source, const QString &namespaceUid, const QByteArray &digest);
    // [thread-safe]
    qsizetype entryCount() const;

private:
    struct Entry
    {
        QByteArray digest;
        std::chrono::nanoseconds lastWrite{0};
        std::chrono::milliseconds delay{0}; // before the next restoration
    };
    using Places = QHash<QString, Entry>; // by the namespace's uid

    const davit::Clock m_clock;
    mutable std::mutex m_mutex;
    QHash<davit::ObjectKey, Places> m_sources; // GUARDED_BY(m_mutex)
};

} // namespace replicator
