#include "logtext.h"

#include "redaction.h"

#include <davit/error.h>
#include <davit/object.h>

#include <QtCore/qdatetime.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <QtCore/qjsonvalue.h>
#include <algorithm>
#include <support/rfc3339.h>

namespace davit::observability {

namespace {

using namespace std::chrono;

constexpr qsizetype kTextLimit = 1024; // bytes of one text
constexpr qsizetype kItemLimit = 64; // texts of a list

bool isOverwritten(const LogRecord &record, qsizetype i)
{
    for (qsizetype later = i + 1; later < record.count; ++later)
        if (qstrcmp(record.fields[later].key, record.fields[i].key) == 0)
            return true;
    return false;
}

void appendQuoted(QByteArray &out, const QByteArray &text)
{
    static constexpr char kHex[] = "0123456789abcdef";
    out += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else if (c == '\r') {
            out += "\\r";
        } else if (byte < 0x20 || byte == 0x7f) {
            out += "\\u00";
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
        } else {
            out += c;
        }
    }
    out += '"';
}

// The one place that everything on its way to the log goes through. Secrets first: half of one is
// not known as a secret any more.
QByteArray shownText(const QString &text)
{
    QByteArray bytes = redacted(text).toUtf8(); // toUtf8 replaces what is no valid text
    const qsizetype size = bytes.size();
    if (size <= kTextLimit)
        return bytes;
    qsizetype end = kTextLimit;
    while ((static_cast<unsigned char>(bytes[end]) & 0xc0) == 0x80) // within a letter
        --end;
    bytes.truncate(end);
    return bytes + "… (" + QByteArray::number(size) + " bytes)";
}

// What only helps to find lines that belong together; people see that by themselves.
bool isForMachines(const LogField &field)
{
    return qstrcmp(field.key, "reconcileID") == 0;
}

// Objects print as kind and key alone: their content may be a Secret.
QString objectText(const Object &object)
{
    return object.isNull() ? QStringLiteral("null")
                           : toString(object.gvk()) + QLatin1Char(' ') + toString(object.key());
}

QString plainText(const QVariant &value)
{
    const int type = value.typeId();
    if (type == qMetaTypeId<Object>())
        return objectText(value.value<Object>());
    if (type == qMetaTypeId<ObjectKey>())
        return toString(value.value<ObjectKey>());
    if (type == qMetaTypeId<Gvk>())
        return toString(value.value<Gvk>());
    if (type == QMetaType::QStringList)
        return value.toStringList().join(QLatin1String(", "));
    if (type == QMetaType::QByteArray)
        return QString::fromUtf8(value.toByteArray());
    if (value.canConvert<QString>())
        return value.toString();
    return QString::fromUtf8(
        QJsonDocument(QJsonObject{{QStringLiteral("value"), QJsonValue::fromVariant(value)}})
            .toJson(QJsonDocument::Compact));
}

void appendJsonValue(QByteArray &out, const LogField &field)
{
    if (isSecretName(QLatin1StringView(field.key))) {
        appendJsonString(out, u"<redacted>");
        return;
    }
    const QVariant &value = field.value;
    switch (value.typeId()) {
    case QMetaType::UnknownType:
    case QMetaType::Nullptr:
        out += "null";
        return;
    case QMetaType::Bool:
        out += value.toBool() ? "true" : "false";
        return;
    case QMetaType::Int:
    case QMetaType::Long:
    case QMetaType::LongLong:
    case QMetaType::Short:
    case QMetaType::SChar:
        out += QByteArray::number(value.toLongLong());
        return;
    case QMetaType::UInt:
    case QMetaType::ULong:
    case QMetaType::ULongLong:
    case QMetaType::UShort:
    case QMetaType::UChar:
        out += QByteArray::number(value.toULongLong());
        return;
    case QMetaType::Double:
    case QMetaType::Float: {
        const double number = value.toDouble();
        if (qIsFinite(number))
            out += QByteArray::number(number, 'g', 12);
        else
            appendJsonString(out, QString::number(number));
        return;
    }
    case QMetaType::QStringList: {
        out += '[';
        const QStringList items = value.toStringList();
        for (qsizetype i = 0; i < std::min(items.size(), kItemLimit); ++i) {
            if (i > 0)
                out += ',';
            appendQuoted(out, shownText(items[i]));
        }
        if (items.size() > kItemLimit)
            out += ",\"… (" + QByteArray::number(items.size()) + " items)\"";
        out += ']';
        return;
    }
    default:
        appendQuoted(out, shownText(plainText(value)));
    }
}

void appendTime(QByteArray &out, nanoseconds utc, TimeEncoding encoding)
{
    switch (encoding) {
    case TimeEncoding::Epoch:
        out += QByteArray::number(duration<double>(utc).count(), 'f', 6);
        return;
    case TimeEncoding::Millis:
        out += QByteArray::number(duration<double, std::milli>(utc).count(), 'f', 3);
        return;
    case TimeEncoding::Nanos:
        out += QByteArray::number(qint64(utc.count()));
        return;
    case TimeEncoding::Rfc3339Nano:
        appendJsonString(out, support::rfc3339(utc, 9));
        return;
    case TimeEncoding::Unset:
    case TimeEncoding::Rfc3339:
        appendJsonString(out, support::rfc3339(utc, 3));
        return;
    }
}

void appendConsoleValue(QByteArray &out, const LogField &field)
{
    const QByteArray text = isSecretName(QLatin1StringView(field.key))
        ? QByteArray("<redacted>")
        : shownText(plainText(field.value));
    bool isPlain = !text.isEmpty();
    for (const QChar c : QString::fromUtf8(text))
        isPlain = isPlain && c.isPrint() && c != QLatin1Char(' ') && c != QLatin1Char('"');
    if (isPlain)
        out += text;
    else
        appendQuoted(out, text);
}

const char *colourOf(LogLevel level)
{
    switch (level) {
    case LogLevel::Error:
        return "\033[31m";
    case LogLevel::Warning:
        return "\033[33m";
    case LogLevel::Debug:
        return "\033[2m";
    default:
        return "\033[32m";
    }
}

} // namespace

QLatin1StringView levelName(LogLevel level) noexcept
{
    switch (level) {
    case LogLevel::Error:
        return QLatin1StringView("error");
    case LogLevel::Warning:
        return QLatin1StringView("warn");
    case LogLevel::Debug:
        return QLatin1StringView("debug");
    case LogLevel::Unset:
    case LogLevel::Info:
        break;
    }
    return QLatin1StringView("info");
}

void appendJsonString(QByteArray &out, QStringView text)
{
    appendQuoted(out, text.toUtf8()); // toUtf8 replaces what is no valid text
}

QByteArray jsonLine(const LogRecord &record, TimeEncoding time)
{
    QByteArray out;
    out.reserve(256);
    out += "{\"level\":\"";
    out += QByteArray(levelName(record.level).data(), levelName(record.level).size());
    out += "\",\"ts\":";
    appendTime(out, record.utc, time);
    if (!record.logger->isEmpty()) {
        out += ",\"logger\":";
        appendJsonString(out, *record.logger);
    }
    out += ",\"msg\":";
    appendQuoted(out, shownText(QString::fromUtf8(record.message)));
    for (qsizetype i = 0; i < record.count; ++i) {
        if (isOverwritten(record, i))
            continue;
        out += ',';
        appendJsonString(out, QString::fromUtf8(record.fields[i].key));
        out += ':';
        appendJsonValue(out, record.fields[i]);
    }
    out += "}\n";
    return out;
}

QByteArray consoleLine(const LogRecord &record, Colour colour)
{
    const bool isColoured = colour == Colour::On;
    QByteArray out;
    out.reserve(256);
    out += QDateTime::fromMSecsSinceEpoch(floor<milliseconds>(record.utc).count())
               .toString(QStringLiteral("HH:mm:ss.zzz"))
               .toUtf8();
    out += ' ';
    if (isColoured)
        out += colourOf(record.level);
    const QLatin1StringView name = levelName(record.level);
    out += QByteArray(name.data(), name.size()).toUpper().leftJustified(5);
    if (isColoured)
        out += "\033[0m";
    out += ' ';
    out += record.logger->toUtf8().leftJustified(18);
    out += ' ';
    out += shownText(QString::fromUtf8(record.message)).replace('\n', "\\n");
    for (qsizetype i = 0; i < record.count; ++i) {
        if (isOverwritten(record, i) || isForMachines(record.fields[i]))
            continue;
        out += "  ";
        if (isColoured)
            out += "\033[36m";
        out += record.fields[i].key;
        out += '=';
        if (isColoured)
            out += "\033[0m";
        appendConsoleValue(out, record.fields[i]);
    }
    out += '\n';
    return out;
}

} // namespace davit::observability
