#include "logwriter.h"

#include <support/timesource.h>

#include <QtCore/qlogging.h>
#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace davit::observability {

namespace {

std::atomic<LogWriter *> g_qtWriter{nullptr};

LogLevel levelOf(QtMsgType type)
{
    switch (type) {
    case QtDebugMsg:
        return LogLevel::Debug;
    case QtInfoMsg:
        return LogLevel::Info;
    case QtWarningMsg:
        return LogLevel::Warning;
    case QtCriticalMsg:
    case QtFatalMsg:
        break;
    }
    return LogLevel::Error;
}

void onQtMessage(QtMsgType type, const QMessageLogContext &context, const QString &text)
{
    LogWriter *writer = g_qtWriter.load();
    if (!writer)
        return;
    const bool isDefault = !context.category || qstrcmp(context.category, "default") == 0;
    const QString logger = isDefault ? QStringLiteral("qt") : QString::fromUtf8(context.category);
    const QByteArray message = text.toUtf8();
    writer->write(levelOf(type), logger, message.constData(), nullptr, 0);
}

} // namespace

LogWriter::LogWriter(
    const support::TimeSource &time, int fileDescriptor, const LogSettings &settings)
    : m_time(time), m_fileDescriptor(fileDescriptor), m_settings(settings)
{ }

LogWriter::~LogWriter()
{
    LogWriter *self = this;
    if (g_qtWriter.compare_exchange_strong(self, nullptr))
        qInstallMessageHandler(nullptr);
}

bool LogWriter::isEnabled(LogLevel level) const noexcept
{
    return level != LogLevel::Unset && level <= m_settings.level;
}

void LogWriter::write(LogLevel level, const QString &logger, const char *message,
    const LogField *fields, qsizetype count) noexcept
{
    if (!isEnabled(level))
        return;
    const QByteArray text = line({level, m_time.utc(), &logger, message, fields, count});
    const std::lock_guard lock(m_mutex);
    if (!put(text)) {
        ++m_dropped;
        return;
    }
    const quint64 dropped = m_dropped.load();
    if (dropped == m_droppedTold)
        return;
    const LogField lost{"lines", QVariant::fromValue(dropped - m_droppedTold)};
    const QString source = QStringLiteral("log");
    if (put(line({LogLevel::Warning, m_time.utc(), &source, "lines were dropped: nobody read them",
            &lost, 1})))
        m_droppedTold = dropped;
}

QByteArray LogWriter::line(const LogRecord &record) const
{
    return m_settings.encoding == LogEncoding::Console ? consoleLine(record, m_settings.colour)
                                                       : jsonLine(record, m_settings.time);
}

bool LogWriter::put(const QByteArray &text) noexcept
{
    constexpr int kPatienceMs = 200;
    qsizetype done = 0;
    while (done < text.size()) {
        // A line that was begun is finished however long it takes: half of one would spoil two.
        pollfd waiting{m_fileDescriptor, POLLOUT, 0};
        if (done == 0 && ::poll(&waiting, 1, kPatienceMs) == 0)
            return false;
        const ssize_t n
            = ::write(m_fileDescriptor, text.constData() + done, size_t(text.size() - done));
        if (n > 0)
            done += n;
        else if (n < 0 && errno == EAGAIN)
            ::poll(&waiting, 1, kPatienceMs);
        else if (n < 0 && errno != EINTR)
            return false;
    }
    return true;
}

void LogWriter::takeQtMessages()
{
    LogWriter *none = nullptr;
    if (g_qtWriter.compare_exchange_strong(none, this))
        qInstallMessageHandler(onQtMessage);
}

void LogWriter::flush() noexcept
{
    const std::lock_guard lock(m_mutex);
}

} // namespace davit::observability
