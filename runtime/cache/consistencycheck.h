// A test aid: after a fill the server is asked for a list of exactly that version, and its answer
// is compared with what came. Contract:
//   - Transformed on both sides, matched by uid, compared whole.
//   - Asked again each second until the server answers; a newer fill replaces an older question.
//   - The versions "" and "0" cannot be asked for exactly: nothing happens.
// Davit decides otherwise: a difference is told, where client-go ends the process (1.8). Source:
// BEHAVIOURS.md. Test: tst_cachechecks.
#pragma once

#include "deltaqueue.h"
#include "listerwatcher.h"

#include <support/timesource.h>

namespace davit::cache {

class ConsistencyCheck
{
public:
    // Called once a comparison: a sentence a difference, sorted; none when all is well.
    // [cache-thread]
    using Report = std::function<void(const QStringList &differences)>;

    // Everything borrowed outlives the check.
    ConsistencyCheck(ListerWatcher &source, support::Executor &executor, support::TimeSource &time,
        Report report);
    ~ConsistencyCheck(); // on the executor, or when it runs nothing any more
    Q_DISABLE_COPY_MOVE(ConsistencyCheck)

    // `transform` may be null; borrowed until the report. [cache-thread]
    void begin(std::vector<Object> items, const QString &version, const Transform *transform);
    void stop();

private:
    class Question;
    void ask();
    void answered(const Error &error, std::vector<Object> listed);
    QStringList differences(std::vector<Object> listed) const;

    ListerWatcher &m_source;
    support::Executor &m_executor;
    support::TimeSource &m_time;
    const Report m_report;
    std::shared_ptr<bool> m_isAlive; // timers look
    std::shared_ptr<Question> m_question; // under way
    support::TimeSource::TimerId m_timer = 0;
    std::vector<Object> m_items;
    QString m_version;
    const Transform *m_transform = nullptr;
};

} // namespace davit::cache
