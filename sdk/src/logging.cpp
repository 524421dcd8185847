#include <davit/logging.h>
#include <davit/priv/backends.h>

#include <vector>

DAVIT_BEGIN_NAMESPACE

class LoggerPrivate : public QSharedData
{
public:
    priv::LogBackend *backend = nullptr; // borrowed
    QString name;
    std::vector<LogField> fields; // of with(), in that order
};

Logger::Logger() = default;

Logger::Logger(priv::LogBackend &backend, const QString &name) : d(new LoggerPrivate)
{
    d->backend = &backend;
    d->name = name;
}

Logger::Logger(const Logger &other) = default;
Logger &Logger::operator=(const Logger &other) = default;
Logger::~Logger() = default;

bool Logger::isEnabled(LogLevel level) const noexcept
{
    return d && d->backend->isEnabled(level);
}

Logger Logger::with(const char *key, const QVariant &value) const
{
    if (!d)
        return *this;
    Logger copy;
    copy.d.reset(new LoggerPrivate(*d));
    copy.d->fields.push_back({key, value});
    return copy;
}

void Logger::write(
    LogLevel level, const char *message, const LogField *fields, qsizetype count) const
{
    if (!isEnabled(level))
        return;
    if (d->fields.empty()) {
        d->backend->write(level, d->name, message, fields, count);
        return;
    }
    std::vector<LogField> all(d->fields);
    all.insert(all.end(), fields, fields + count);
    d->backend->write(level, d->name, message, all.data(), qsizetype(all.size()));
}

DAVIT_END_NAMESPACE
