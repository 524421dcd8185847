// Turns one log record into one line. Shapes:
//   - Json: one JSON object, UTF-8, members level, ts, logger, msg, then the fields in their order;
//   no newline inside.
//   - Console: "16:35:01.123 INFO  plugin.replicator  copied  namespace=ops name=key", for people;
//   without reconcileID.
//   - A text is cut after 1 KiB and a list after 64 texts, and then says how long it was: what
//   comes from a server or a plugin may be of any size.
// Source: ecosystem conventions of zap's production and development encoders. Test: tst_logwriter.
#pragma once

#include <chrono>
#include <davit/logging.h>

#include <QtCore/qbytearray.h>

namespace davit::observability {

enum class LogEncoding : quint8 { Unset = 0, Json, Console };
enum class TimeEncoding : quint8 { Unset = 0, Rfc3339, Rfc3339Nano, Epoch, Millis, Nanos };
enum class Colour : quint8 { Unset = 0, Off, On };

struct LogRecord
{
    LogLevel level = LogLevel::Unset;
    std::chrono::nanoseconds utc{0};
    const QString *logger = nullptr; // borrowed
    const char *message = nullptr; // UTF-8, constant
    const LogField *fields = nullptr;
    qsizetype count = 0;
};

// One line with its newline. Secrets are replaced (redaction.h). A repeated field name keeps its
// last value. [thread-safe]
QByteArray jsonLine(const LogRecord &record, TimeEncoding time);
QByteArray consoleLine(const LogRecord &record, Colour colour);

// "error", "info" …; what zap calls them. [thread-safe]
QLatin1StringView levelName(LogLevel level) noexcept;
// Appends `text` as a JSON string with its quotes; lone surrogates become '?'. [thread-safe]
void appendJsonString(QByteArray &out, QStringView text);

} // namespace davit::observability
