// Writes log lines to a file descriptor, and Qt's own messages with them. Contract:
//   - One write(2) a line: lines of several threads never mix, and nothing is held back, so that a
//   process that leaves by _exit has lost none.
//   - A reader that does not read blocks the writer for at most 200 ms a line; then the line is
//   dropped and counted, and the next line that gets through says how many.
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

private:
    QByteArray line(const LogRecord &record) const;
    bool put(const QByteArray &line) noexcept;

    const support::TimeSource &m_time;
    const int m_fileDescriptor;
    const LogSettings m_settings;
    std::mutex m_mutex; // one line at a time
    std::atomic<quint64> m_dropped{0};
    quint64 m_droppedTold = 0; // GUARDED_BY(m_mutex)
};

} // namespace davit::observability
