// The messages that a runtime in the process of the test has logged, at Info and above.
#pragma once

#include <davit/priv/backends.h>

#include <QtCore/qbytearraylist.h>
#include <algorithm>
#include <mutex>

namespace davit {

struct LogLines final : priv::LogBackend
{
    bool isEnabled(LogLevel level) const noexcept override { return level <= LogLevel::Info; }
    void write(LogLevel, const QString &, const char *message, const LogField *,
        qsizetype) noexcept override
    {
        const std::lock_guard lock(mutex);
        seen << message;
    }
    qsizetype count(const char *beginning)
    {
        const std::lock_guard lock(mutex);
        return std::count_if(seen.begin(), seen.end(),
            [&](const QByteArray &line) { return line.startsWith(beginning); });
    }
    std::mutex mutex;
    QByteArrayList seen; // GUARDED_BY(mutex)
};

} // namespace davit
