#include "rfc3339.h"

#include <QtCore/qdatetime.h>
#include <QtCore/qregularexpression.h>
#include <QtCore/qtimezone.h>
#include <algorithm>

namespace davit::support {

using std::chrono::nanoseconds;
using std::chrono::seconds;

QString rfc3339(nanoseconds utc, int digits)
{
    const auto whole = std::chrono::floor<seconds>(utc);
    QString text = QDateTime::fromSecsSinceEpoch(whole.count())
                       .toUTC()
                       .toString(QStringLiteral("yyyy-MM-ddTHH:mm:ss"));
    if (digits > 0)
        text += QLatin1Char('.')
            + QStringLiteral("%1").arg((utc - whole).count(), 9, 10, QLatin1Char('0')).left(digits);
    return text + QLatin1Char('Z');
}

std::optional<nanoseconds> parseRfc3339(QStringView text)
{
    static const QRegularExpression form(
        QStringLiteral("^(\\d{4}-\\d\\d-\\d\\d)[Tt](\\d\\d:\\d\\d:\\d\\d)(?:\\.(\\d{1,9}))?"
                       "(?:[Zz]|([+-])(\\d\\d):(\\d\\d))$"));
    const QRegularExpressionMatch match = form.match(text.toString());
    if (!match.hasMatch())
        return std::nullopt;
    const QDate date = QDate::fromString(match.captured(1), Qt::ISODate);
    const QTime time = QTime::fromString(match.captured(2), Qt::ISODate);
    if (!date.isValid() || !time.isValid())
        return std::nullopt;
    const auto offset = std::chrono::hours(match.captured(5).toInt())
        + std::chrono::minutes(match.captured(6).toInt());
    const seconds local(QDateTime(date, time, QTimeZone::utc()).toSecsSinceEpoch());
    constexpr seconds kLast = std::chrono::floor<seconds>(nanoseconds::max()) - seconds(1);
    const seconds utc
        = std::clamp(match.captured(4) == QLatin1StringView("-") ? local + offset : local - offset,
            -kLast, kLast);
    return utc + nanoseconds(match.captured(3).leftJustified(9, QLatin1Char('0')).toLongLong());
}

} // namespace davit::support
