// What was logged, a text a line: "2|logger|message|key=value|key=value", the level as its number.
#pragma once

#include <davit/priv/backends.h>

#include <QtCore/qbytearraylist.h>
#include <QtCore/qstringlist.h>

namespace davit::fake {

class Lines final : public priv::LogBackend
{
public:
    bool isEnabled(LogLevel level) const noexcept override { return level <= most; }
    void write(LogLevel level, const QString &logger, const char *message, const LogField *fields,
        qsizetype count) noexcept override
    {
        QString line
            = QStringLiteral("%1|%2|%3").arg(int(level)).arg(logger, QLatin1StringView(message));
        for (qsizetype i = 0; i < count; ++i)
            if (!leftOut.contains(fields[i].key))
                line += QStringLiteral("|%1=%2").arg(
                    QLatin1StringView(fields[i].key), fields[i].value.toString());
        seen.append(line);
    }
    LogLevel most = LogLevel::Info;
    QByteArrayList leftOut; // keys of values that differ from run to run
    QStringList seen;
};

} // namespace davit::fake
