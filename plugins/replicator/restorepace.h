// How soon a copy that someone keeps changing is put right again. Contract:
//   - New content of the source is written at once, and so is the first restoration.
//   - Each further restoration of the same content waits twice as long as the one before: 1 s, 2 s,
//   4 s … 5 min. Ten quiet minutes, or new content, begin anew.
// Thread-safe. Test: tst_replicator, fightOverCopy.
#pragma once

#include <davit/clock.h>
#include <davit/objectkey.h>

#include <QtCore/qhash.h>
#include <mutex>

namespace replicator {

class RestorePace
{
public:
    explicit RestorePace(const davit::Clock &clock);

    // How long to wait until `digest` may be written to `target`; zero: now. [thread-safe]
    std::chrono::milliseconds remaining(const davit::ObjectKey &target, const QByteArray &digest);
    // It was written. Returns the wait before the next restoration. [thread-safe]
    std::chrono::milliseconds written(const davit::ObjectKey &target, const QByteArray &digest);
    // There is no copy any more. [thread-safe]
    void forget(const davit::ObjectKey &target);

private:
    struct Entry
    {
        QByteArray digest;
        std::chrono::nanoseconds lastWrite{0};
        std::chrono::milliseconds delay{0}; // before the next restoration
    };

    const davit::Clock m_clock;
    std::mutex m_mutex;
    QHash<davit::ObjectKey, Entry> m_entries; // GUARDED_BY(m_mutex)
};

} // namespace replicator
