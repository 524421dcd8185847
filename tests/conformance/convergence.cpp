#include "convergence.h"

#include <QtCore/qcryptographichash.h>
#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>

namespace convergence {

static QString text(const Version &version)
{
    const QString name = version.uid + QLatin1Char('@') + version.resourceVersion;
    return version.content.isEmpty() ? name
                                     : name + QLatin1Char('#') + QLatin1String(version.content);
}

QByteArray digestOf(QJsonObject object)
{
    object.remove(QLatin1String("kind"));
    object.remove(QLatin1String("apiVersion"));
    QJsonObject metadata = object.value(QLatin1String("metadata")).toObject();
    metadata.remove(QLatin1String("managedFields"));
    object.insert(QLatin1String("metadata"), metadata);
    const QByteArray text = QJsonDocument(object).toJson(QJsonDocument::Compact); // keys sorted
    return QCryptographicHash::hash(text, QCryptographicHash::Sha1).toHex().left(8);
}

// Only between versions of one uid of one resource, where the API promises that they grow.
static bool goesBack(const Version &from, const Version &to)
{
    return from.uid == to.uid
        && to.resourceVersion.toULongLong() < from.resourceVersion.toULongLong();
}

static QString faultOf(const World &world, const Heard &event, History history)
{
    const auto known = world.constFind(event.key);
    const bool isKnown = known != world.constEnd();
    switch (event.kind) {
    case Heard::Kind::Added:
        if (isKnown)
            return QStringLiteral("%1 was added as %2 while %3 was there")
                .arg(event.key, text(event.object), text(*known));
        return {};
    case Heard::Kind::Updated:
        if (!isKnown)
            return QStringLiteral("%1 was updated and had never been added").arg(event.key);
        if (!(event.before == *known))
            return QStringLiteral("%1 was updated from %2, but the last that was told is %3")
                .arg(event.key, text(event.before), text(*known));
        if (history == History::Grows && goesBack(event.before, event.object))
            return QStringLiteral("%1 went back from %2 to %3")
                .arg(event.key, text(event.before), text(event.object));
        if (event.before.uid != event.object.uid)
            return QStringLiteral("%1 was updated from one uid to another").arg(event.key);
        return {};
    case Heard::Kind::Deleted:
        if (!isKnown)
            return QStringLiteral("%1 was deleted and had never been added").arg(event.key);
        if (event.before.uid != known->uid)
            return QStringLiteral("%1 was deleted as %2, but %3 was there")
                .arg(event.key, text(event.before), text(*known));
        return {};
    }
    return {};
}

World replay(const std::vector<Heard> &heard, QStringList *faults, History history)
{
    World world;
    for (const Heard &event : heard) {
        const QString fault = faultOf(world, event, history);
        if (!fault.isEmpty() && faults->size() < 20)
            faults->append(fault);
        if (event.kind == Heard::Kind::Deleted)
            world.remove(event.key);
        else
            world.insert(event.key, event.object);
    }
    return world;
}

QStringList differences(const World &want, const World &got)
{
    QStringList found;
    for (auto it = want.cbegin(); it != want.cend() && found.size() < 20; ++it) {
        const auto other = got.constFind(it.key());
        if (other == got.constEnd())
            found.append(QStringLiteral("%1 is missing").arg(it.key()));
        else if (!(*other == *it))
            found.append(QStringLiteral("%1 is %2, not %3").arg(it.key(), text(*other), text(*it)));
    }
    for (auto it = got.cbegin(); it != got.cend() && found.size() < 20; ++it) {
        if (!want.contains(it.key()))
            found.append(QStringLiteral("%1 is there and should not be").arg(it.key()));
    }
    return found;
}

World worldOfList(const QByteArray &json, bool *ok)
{
    World world;
    const QJsonValue items = QJsonDocument::fromJson(json).object().value(QLatin1String("items"));
    *ok = items.isArray();
    const QJsonArray array = items.toArray();
    for (const QJsonValue &item : array) {
        const QJsonObject metadata = item.toObject().value(QLatin1String("metadata")).toObject();
        const auto member = [&metadata](const char *name) {
            return metadata.value(QLatin1String(name)).toString();
        };
        world.insert(member("namespace") + QLatin1Char('/') + member("name"),
            {member("uid"), member("resourceVersion"), digestOf(item.toObject())});
    }
    return world;
}

} // namespace convergence
