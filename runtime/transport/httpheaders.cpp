#include "httpheaders.h"

#include <davit/global.h>

#include <QtCore/qlibraryinfo.h>
#include <QtCore/qlocale.h>
#include <QtCore/qsysinfo.h>
#include <QtCore/qtimezone.h>
#include <QtCore/qversionnumber.h>
#include <algorithm>

namespace davit::transport {
namespace {

// One warn-text: from the opening quote on. Moves `at` behind the closing one; false when there is
// none.
bool readQuoted(const QByteArray &text, qsizetype &at, QByteArray &out)
{
    for (++at; at < text.size(); ++at) {
        if (text[at] == '"') {
            ++at;
            return true;
        }
        if (text[at] == '\\' && at + 1 < text.size())
            ++at;
        out += text[at];
    }
    return false;
}

} // namespace

QDateTime httpDate(const QByteArray &value)
{
    QDateTime date = QLocale::c().toDateTime(
        QString::fromLatin1(value.trimmed()), QStringLiteral("ddd, dd MMM yyyy hh:mm:ss 'GMT'"));
    if (!date.isValid())
        return {};
    date.setTimeZone(QTimeZone::utc());
    return date;
}

std::chrono::milliseconds retryAfter(const QByteArray &value, std::chrono::nanoseconds utcNow)
{
    using std::chrono::milliseconds;
    const QByteArray text = value.trimmed();
    bool isNumber = false;
    if (const int seconds = text.toInt(&isNumber); isNumber)
        return seconds < 0 ? milliseconds(-1) : std::chrono::seconds(seconds);
    const QDateTime date = httpDate(text);
    if (date.isNull())
        return milliseconds(-1);
    const milliseconds now = std::chrono::duration_cast<milliseconds>(utcNow);
    return std::max(milliseconds(0), milliseconds(date.toMSecsSinceEpoch()) - now);
}

QList<QByteArray> warningTexts(const QByteArray &value)
{
    QList<QByteArray> texts;
    qsizetype at = 0;
    while (at < value.size()) {
        const qsizetype quote = value.indexOf('"', at);
        if (quote < 0)
            break;
        const QByteArray codeAndAgent = value.mid(at, quote - at).trimmed();
        at = quote;
        QByteArray text;
        if (!readQuoted(value, at, text))
            break;
        if (codeAndAgent.startsWith("299 "))
            texts.append(text);
        while (at < value.size() && value[at] == ' ')
            ++at;
        QByteArray date; // may hold a comma
        if (at < value.size() && value[at] == '"' && !readQuoted(value, at, date))
            break;
        at = value.indexOf(',', at);
        if (at < 0)
            break;
        ++at;
    }
    return texts;
}

bool canRepeatHeaders()
{
    static const bool can = QLibraryInfo::version() < QVersionNumber(6, 8); // as it runs
    return can;
}

QByteArray hostUserAgent(const QByteArray &asker)
{
    QByteArray architecture = QSysInfo::buildCpuArchitecture().toLatin1();
    if (architecture == "x86_64")
        architecture = "amd64";
    else if (architecture == "i386")
        architecture = "386";
    const QByteArray host
        = "davit/" DAVIT_SDK_VERSION_STRING " (linux/" + architecture + QByteArrayLiteral(")");
    return asker.isEmpty() ? host : host + ' ' + asker;
}

} // namespace davit::transport
