#include "logwriter.h"

#include <support/timesource.h>

#include <QtCore/qlogging.h>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <poll.h>
#include <unistd.h>

namespace davit::observability {

namespace {

constexpr int kPatienceMs = 200;
constexpr qsizetype kPortion = PIPE_BUF; // what fits when poll() calls a pipe writable

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
    const quint64 dropped = m_dropped.load();
    if (dropped != m_droppedTold) {
        const LogField lost{"lines", QVariant::fromValue(dropped - m_droppedTold)};
        const QString source = QStringLiteral("log");
        if (put(line({LogLevel::Warning, m_time.utc(), &source,
                "lines were dropped: nobody read them", &lost, 1})))
            m_droppedTold = dropped;
    }
    if (!put(text))
        ++m_dropped;
}

QByteArray LogWriter::line(const LogRecord &record) const
{
    return m_settings.encoding == LogEncoding::Console ? consoleLine(record, m_settings.colour)
                                                       : jsonLine(record, m_settings.time);
}

bool LogWriter::put(const QByteArray &text) noexcept
{
    if (!m_rest.isEmpty() && !putRest())
        return false;
    m_rest = text;
    if (putRest() || m_rest.size() < text.size())
        return true; // what was begun is finished before the next line
    m_rest.clear();
    return false;
}

// In portions that a writable descriptor takes without blocking.
bool LogWriter::putRest() noexcept
{
    while (!m_rest.isEmpty()) {
        if (!waitWritable())
            return false;
        const ssize_t n = ::write(
            m_fileDescriptor, m_rest.constData(), size_t(std::min(m_rest.size(), kPortion)));
        if (n > 0)
            m_rest.remove(0, n);
        else if (n < 0 && errno != EINTR && errno != EAGAIN)
            return false;
    }
    return true;
}

bool LogWriter::waitWritable() noexcept
{
    pollfd waiting{m_fileDescriptor, POLLOUT, 0};
    if (::poll(&waiting, 1, 0) == 0) {
        if (m_isStalled)
            return false;
        ++m_waits;
        m_isStalled = ::poll(&waiting, 1, kPatienceMs) == 0;
        return !m_isStalled;
    }
    m_isStalled = false;
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
