// Structured logs: a constant message and key/value pairs, one JSON line each in the host.
// Contract:
//   - Never put tokens, certificates or Secret contents into a field; the host redacts what it
//   recognises, not what you hide.
//   - Logging never blocks for long and never throws.
// Use: log.info("copied", {{"namespace", ns}, {"name", name}});   Test: tst_hostcontext, logs.
#pragma once

#include <QtCore/qshareddata.h>
#include <QtCore/qstring.h>
#include <QtCore/qvariant.h>
#include <davit/fwd.h>
#include <initializer_list>

DAVIT_BEGIN_NAMESPACE
enum class LogLevel : quint8 { Unset = 0, Error, Warning, Info, Debug };

// ABI: frozen
struct LogField
{
    const char *key; // UTF-8, constant
    QVariant value;
};

class LoggerPrivate;
class DAVIT_EXPORT Logger
{
public:
    // Drops everything.
    Logger();
    Logger(const Logger &other);
    Logger &operator=(const Logger &other);
    ~Logger();
    Logger(priv::LogBackend &backend, const QString &name); // host only; the backend is borrowed

    using Fields = std::initializer_list<LogField>;
    // [thread-safe]
    void error(const char *message, Fields fields = {}) const
    {
        write(LogLevel::Error, message, fields.begin(), qsizetype(fields.size()));
    }
    void warning(const char *message, Fields fields = {}) const
    {
        write(LogLevel::Warning, message, fields.begin(), qsizetype(fields.size()));
    }
    void info(const char *message, Fields fields = {}) const
    {
        write(LogLevel::Info, message, fields.begin(), qsizetype(fields.size()));
    }
    void debug(const char *message, Fields fields = {}) const
    {
        write(LogLevel::Debug, message, fields.begin(), qsizetype(fields.size()));
    }
    // Whether a line of this level would be written: guards costly fields. [thread-safe]
    bool isEnabled(LogLevel level) const noexcept;
    // A logger that adds a field to each line. `key` is a constant. [thread-safe]
    Logger with(const char *key, const QVariant &value) const;
    // The first of `count` fields at `fields`. [thread-safe]
    void write(LogLevel level, const char *message, const LogField *fields, qsizetype count) const;

private:
    QExplicitlySharedDataPointer<LoggerPrivate> d;
};
DAVIT_END_NAMESPACE
