// A LoadWriter in a thread of its own, and how its work ended. Contract: the writer is taken, and
// dies with its thread. Lives in the test's thread, whose event loop has to run.
#pragma once

#include "loadwriter.h"

#include <QtCore/qthread.h>

class LoadThread final : public QObject
{
    Q_OBJECT
public:
    explicit LoadThread(LoadWriter *writer);
    ~LoadThread() override; // waits for the thread

    LoadWriter &writer() const { return *m_writer; }
    // Forgets how the work before this ended.
    void begin(LoadWriter::Work work, int writes, int ratePerSecond);
    // Finished or failed.
    bool isOver() const { return m_isFinished || !m_failure.isEmpty(); }
    QString failure() const { return m_failure; } // empty: none

private:
    QThread m_thread;
    LoadWriter *const m_writer; // lives in m_thread
    bool m_isFinished = false;
    QString m_failure;
};
