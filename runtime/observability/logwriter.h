// Writes log lines to a file descriptor, and Qt's own messages with them. Contract:
//   - Lines of several threads never mix, and nothing is held back from a reader that reads, so
//   that a process that leaves by _exit has lost none.
//   - A reader that does not read is waited for once, for 200 ms. From then on lines are dropped
//   and counted, without waiting, until the descriptor is writable again; then a line says how
//   many.
//   - A line that was begun is finished before the next one.
// Shapes of the lines: logtext.h. Test: tst_logwriter.
#pragma once

#include "logtext.h"

#include <davit/priv/backends.h>

#include <atomic>
#include <mutex>

namespace davit::support {
class TimeSource;
}

namespace davit::observability {

struct LogSettings
{
    LogLevel level = LogLevel::Info; // the least important one that is written
    LogEncoding encoding = LogEncoding::Json;
    TimeEncoding time = TimeEncoding::Rfc3339;
    Colour colour = Colour::Off; // Console only
};

class LogWriter final : public priv::LogBackend
{
public:
    // `time` and the descriptor are borrowed and outlive the writer.
    LogWriter(const support::TimeSource &time, int fileDescriptor, const LogSettings &settings);
    // Gives Qt its own handler back when this writer had taken it.
    ~LogWriter() override;
    Q_DISABLE_COPY_MOVE(LogWriter)

    bool isEnabled(LogLevel level) const noexcept override;
    void write(LogLevel level, const QString &logger, const char *message, const LogField *fields,
        qsizetype count) noexcept override;

    // From now on qWarning() and its like become lines of logger "qt" ("qt.<category>"); at most
    // one writer a process does that. [host-thread]
    void takeQtMessages();
    // Returns when every line so far is with the kernel, which each write() sees to. [thread-safe]
    void flush() noexcept;
    // Lines that no one would read. [thread-safe]
    quint64 droppedLines() const noexcept { return m_dropped.load(); }
    // How often a line waited for the reader. [thread-safe]
    quint64 waits() const noexcept { return m_waits.load(); }

private:
    QByteArray line(const LogRecord &record) const;
    bool put(const QByteArray &line) noexcept;
    bool putRest() noexcept;
    bool waitWritable() noexcept;

    const support::TimeSource &m_time;
    const int m_fileDescriptor;
    const LogSettings m_settings;
    std::mutex m_mutex; // one line at a time
    std::atomic<quint64> m_dropped{0};
    std::atomic<quint64> m_waits{0};
    quint64 m_droppedTold = 0; // GUARDED_BY(m_mutex)
    QByteArray m_rest; // GUARDED_BY(m_mutex); of a line that was begun
    bool m_isStalled = false; // GUARDED_BY(m_mutex); nobody reads
};

} // namespace davit::observability
