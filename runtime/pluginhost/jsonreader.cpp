#include "jsonreader.h"

#include <support/nearestname.h>

#include <algorithm>
#include <cmath>

namespace davit::pluginhost {

JsonReader::JsonReader(
    const QString &file, const QString &path, const QJsonObject &object, Status *fault)
    : m_file(file), m_path(path), m_object(object), m_fault(fault)
{ }

QString JsonReader::string(const QString &name, Need need)
{
    const QJsonValue value = take(name, need);
    if (!value.isUndefined() && !value.isString())
        fail(name, QStringLiteral("must be a string"));
    else if (need == Need::Required && value.isString() && value.toString().isEmpty())
        fail(name, QStringLiteral("must not be empty"));
    return value.toString();
}

int JsonReader::integer(const QString &name, Need need)
{
    const QJsonValue value = take(name, need);
    const double number = value.toDouble();
    if (value.isUndefined())
        return 0;
    if (!value.isDouble() || number != std::floor(number) || std::abs(number) > 1e9) {
        fail(name, QStringLiteral("must be a whole number"));
        return 0;
    }
    return int(number);
}

bool JsonReader::boolean(const QString &name, bool fallback)
{
    const QJsonValue value = take(name, Need::Optional);
    if (!value.isUndefined() && !value.isBool())
        fail(name, QStringLiteral("must be true or false"));
    return value.toBool(fallback);
}

QStringList JsonReader::strings(const QString &name, Need need)
{
    const QJsonValue value = take(name, need);
    QStringList texts;
    if (value.isUndefined())
        return texts;
    if (!value.isArray()) {
        fail(name, QStringLiteral("must be a list of strings"));
        return texts;
    }
    const QJsonArray array = value.toArray();
    for (const QJsonValue &text : array) {
        if (!text.isString())
            fail(name, QStringLiteral("must be a list of strings"));
        texts.append(text.toString());
    }
    if (need == Need::Required && texts.isEmpty())
        fail(name, QStringLiteral("must not be empty"));
    return texts;
}

QList<QJsonObject> JsonReader::objects(const QString &name)
{
    const QJsonValue value = take(name, Need::Optional);
    QList<QJsonObject> objects;
    if (value.isUndefined())
        return objects;
    if (!value.isArray()) {
        fail(name, QStringLiteral("must be a list of objects"));
        return objects;
    }
    const QJsonArray array = value.toArray();
    for (const QJsonValue &object : array) {
        if (!object.isObject())
            fail(name, QStringLiteral("must be a list of objects"));
        objects.append(object.toObject());
    }
    return objects;
}

QJsonObject JsonReader::object(const QString &name)
{
    const QJsonValue value = take(name, Need::Optional);
    if (!value.isUndefined() && !value.isObject())
        fail(name, QStringLiteral("must be an object"));
    return value.toObject();
}

JsonReader JsonReader::element(const QString &name, qsizetype i, const QJsonObject &object) const
{
    return JsonReader(m_file, QStringLiteral("%1[%2]").arg(pathOf(name)).arg(i), object, m_fault);
}

void JsonReader::finish()
{
    for (auto it = m_object.begin(); it != m_object.end(); ++it) {
        if (m_asked.contains(it.key()))
            continue;
        QStringList free = m_asked.values(); // a field that is there was meant by itself
        free.removeIf([this](const QString &name) { return m_object.contains(name); });
        std::sort(free.begin(), free.end());
        const QString nearest = support::nearestName(it.key(), free);
        fail(it.key(),
            QStringLiteral("is not a known field")
                + (nearest.isEmpty() ? QStringLiteral("; remove it")
                                     : QStringLiteral("; did you mean %1?").arg(nearest)));
    }
}

void JsonReader::fail(const QString &name, const QString &what)
{
    if (m_fault->isOk())
        *m_fault = Status(ErrorCode::InvalidConfiguration,
            QStringLiteral("%1: metadata field %2 %3").arg(m_file, pathOf(name), what));
}

QJsonValue JsonReader::take(const QString &name, Need need)
{
    m_asked.insert(name);
    const auto found = m_object.constFind(name);
    if (found != m_object.constEnd())
        return *found;
    if (need == Need::Required)
        fail(name, QStringLiteral("is missing"));
    return QJsonValue(QJsonValue::Undefined);
}

QString JsonReader::pathOf(const QString &name) const
{
    return m_path.isEmpty() ? name : m_path + u'.' + name;
}

} // namespace davit::pluginhost
