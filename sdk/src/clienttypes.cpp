#include <davit/clienttypes.h>

#include <support/patchtree.h>

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

class BodyReplyPrivate : public QSharedData
{
public:
    QByteArray body;
    Error error;
};

BodyReply::BodyReply() = default;

BodyReply::BodyReply(const QByteArray &body) : d(new BodyReplyPrivate)
{
    d->body = body;
}

BodyReply::BodyReply(const Error &error) : d(new BodyReplyPrivate)
{
    d->error = error;
}

BodyReply::BodyReply(const BodyReply &other) = default;
BodyReply &BodyReply::operator=(const BodyReply &other) = default;
BodyReply::~BodyReply() = default;

bool BodyReply::isOk() const noexcept
{
    return d && !d->error.isError();
}

QByteArray BodyReply::body() const
{
    return d ? d->body : QByteArray();
}

Error BodyReply::error() const
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

using support::Json;

Json parsed(const QByteArray &text)
{
    return Json::parse(text.begin(), text.end(), nullptr, false);
}

} // namespace

Patch Patch::difference(const Object &before, const Object &after, bool withOptimisticLock)
{
    const Json from = parsed(before.toJson());
    const Json to = parsed(after.toJson());
    if (!from.is_object() || !to.is_object())
        return Patch(PatchType::Unset, {});
    Json patch = support::mergePatchTreeBetween(from, to);
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
