#include <davit/clienttypes.h>

#include <nlohmann/json.hpp>

DAVIT_BEGIN_NAMESPACE

class ObjectReplyPrivate : public QSharedData
{
public:
    Object object;
    Error error;
};

ObjectReply::ObjectReply() = default;

ObjectReply::ObjectReply(const Object &object) : d(new ObjectReplyPrivate)
{
    d->object = object;
}

ObjectReply::ObjectReply(const Error &error) : d(new ObjectReplyPrivate)
{
    d->error = error;
}

ObjectReply::ObjectReply(const ObjectReply &other) = default;
ObjectReply &ObjectReply::operator=(const ObjectReply &other) = default;
ObjectReply::~ObjectReply() = default;

bool ObjectReply::isOk() const noexcept
{
    return d && !d->error.isError();
}

Object ObjectReply::object() const
{
    return isOk() ? d->object : Object();
}

Error ObjectReply::error() const
{
    return d ? d->error : Error();
}

class ListReplyPrivate : public QSharedData
{
public:
    QList<Object> objects;
    QString resourceVersion;
    QString continueToken;
    qint64 remainingItemCount = -1;
    Error error;
};

ListReply::ListReply() = default;

ListReply::ListReply(const Error &error) : d(new ListReplyPrivate)
{
    d->error = error;
}

ListReply::ListReply(const QList<Object> &objects, const QString &resourceVersion,
    const QString &continueToken, qint64 remainingItemCount)
    : d(new ListReplyPrivate)
{
    d->objects = objects;
    d->resourceVersion = resourceVersion;
    d->continueToken = continueToken;
    d->remainingItemCount = remainingItemCount;
}

ListReply::ListReply(const ListReply &other) = default;
ListReply &ListReply::operator=(const ListReply &other) = default;
ListReply::~ListReply() = default;

bool ListReply::isOk() const noexcept
{
    return d && !d->error.isError();
}

QList<Object> ListReply::objects() const
{
    return d ? d->objects : QList<Object>();
}

QString ListReply::resourceVersion() const
{
    return d ? d->resourceVersion : QString();
}

QString ListReply::continueToken() const
{
    return d ? d->continueToken : QString();
}

qint64 ListReply::remainingItemCount() const
{
    return d ? d->remainingItemCount : -1;
}

Error ListReply::error() const
{
    return d ? d->error : Error();
}

class PatchPrivate : public QSharedData
{
public:
    PatchType type = PatchType::Unset;
    QByteArray body;
};

Patch::Patch(PatchType type, const QByteArray &body) : d(new PatchPrivate)
{
    d->type = type;
    d->body = body;
}

Patch::Patch(const Patch &other) = default;
Patch &Patch::operator=(const Patch &other) = default;
Patch::~Patch() = default;

Patch Patch::merge(const QByteArray &json)
{
    return Patch(PatchType::Merge, json);
}

Patch Patch::json(const QByteArray &json)
{
    return Patch(PatchType::Json, json);
}

Patch Patch::apply(const QByteArray &json)
{
    return Patch(PatchType::Apply, json);
}

Patch Patch::strategicMerge(const QByteArray &json)
{
    return Patch(PatchType::StrategicMerge, json);
}

namespace {

using Json = nlohmann::ordered_json;

Json parsed(const QByteArray &text)
{
    return Json::parse(text.begin(), text.end(), nullptr, false);
}

// RFC 7386 turned round: what merged into `before` gives `after`. Lists are replaced whole.
Json mergeDifference(const Json &before, const Json &after)
{
    Json patch = Json::object();
    for (const auto &member : before.items())
        if (!after.contains(member.key()))
            patch[member.key()] = nullptr;
    for (const auto &member : after.items()) {
        const auto old = before.find(member.key());
        if (old == before.end()) {
            patch[member.key()] = member.value();
        } else if (*old != member.value()) {
            patch[member.key()] = old->is_object() && member.value().is_object()
                ? mergeDifference(*old, member.value())
                : member.value();
        }
    }
    return patch;
}

} // namespace

Patch Patch::difference(const Object &before, const Object &after, bool withOptimisticLock)
{
    const Json from = parsed(before.toJson());
    const Json to = parsed(after.toJson());
    if (!from.is_object() || !to.is_object())
        return Patch(PatchType::Unset, {});
    Json patch = mergeDifference(from, to);
    if (withOptimisticLock) {
        const QByteArray version = before.resourceVersion().toUtf8();
        if (version.isEmpty())
            return Patch(PatchType::Unset, {});
        patch["metadata"]["resourceVersion"] = version.toStdString();
    }
    return Patch(PatchType::Merge, QByteArray::fromStdString(patch.dump()));
}

PatchType Patch::type() const noexcept
{
    return d->type;
}

QByteArray Patch::body() const
{
    return d->body;
}

DAVIT_END_NAMESPACE
