#include "eventform.h"

#include <QtCore/qjsondocument.h>

namespace davit::client {

EventForm::~EventForm() = default;

QString shortenedNote(const QString &note)
{
    constexpr qsizetype kMaxBytes = 1024;
    static const QByteArray ellipsis("\xe2\x80\xa6");
    QByteArray text = note.toUtf8();
    if (text.size() <= kMaxBytes)
        return note;
    qsizetype end = kMaxBytes - ellipsis.size();
    while ((uchar(text[end]) & 0xc0) == 0x80) // within a character
        --end;
    text.truncate(end);
    return QString::fromUtf8(text + ellipsis);
}

QString identityOf(const QJsonObject &reference)
{
    QJsonObject withoutVersion(reference);
    withoutVersion.remove(QLatin1StringView("resourceVersion"));
    return QString::fromUtf8(QJsonDocument(withoutVersion).toJson(QJsonDocument::Compact));
}

} // namespace davit::client
