#include <davit/client.h>
#include <davit/objectbuilder.h>
#include <davit/priv/backends.h>

#include <QtCore/qpromise.h>

DAVIT_BEGIN_NAMESPACE

using priv::ClientBackend;

namespace {

template <typename Reply> QFuture<Reply> answered(const Error &error)
{
    QPromise<Reply> promise;
    promise.start();
    promise.addResult(Reply(error));
    promise.finish();
    return promise.future();
}

template <typename Reply> QFuture<Reply> unsupported()
{
    return answered<Reply>(Error(ErrorCode::Unsupported,
        QStringLiteral("this client belongs to no plugin; take one from HostContext::client()")));
}

QFuture<ObjectReply> called(ClientBackend *d, ClientBackend::Verb verb, const Gvk &gvk,
    const ObjectKey &key, const Object &object, const Patch *patch, const RequestOptions &options)
{
    return d ? d->call(verb, gvk, key, object, patch, options) : unsupported<ObjectReply>();
}

// What an apply may send (B55): the server's own members, the status and copies of the object in
// annotations would make the sender their owner, or be refused.
Object intentOf(const Object &object, bool isStatus)
{
    const QString metadata = QStringLiteral("metadata");
    ObjectBuilder builder(object);
    for (const char *name : {"managedFields", "uid", "resourceVersion", "creationTimestamp",
             "generation", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"})
        builder.remove({metadata, QString::fromLatin1(name)});
    const QLatin1StringView copy("kubectl.kubernetes.io/last-applied-configuration");
    if (object.hasAnnotation(copy)) {
        const Value all = object[QLatin1StringView("metadata")][QLatin1StringView("annotations")];
        QStringList path{metadata, QStringLiteral("annotations")};
        if (all.size() > 1)
            path.append(copy);
        builder.remove(path);
    }
    if (!isStatus)
        builder.remove({QStringLiteral("status")});
    return builder.build();
}

RequestOptions onSubresource(const RequestOptions &options, const QString &name)
{
    return RequestOptions(options).subresource(name);
}

const QString kScale = QStringLiteral("scale");

} // namespace

Client::Client() : d(nullptr) { }

Client::Client(priv::ClientBackend &backend) : d(priv::retained(&backend)) { }

Client::Client(const Client &other) : d(priv::retained(other.d)) { }

Client &Client::operator=(const Client &other)
{
    priv::holdInstead(d, other.d);
    return *this;
}

Client::~Client()
{
    priv::released(d);
}

QFuture<ObjectReply> Client::get(
    const Gvk &gvk, const ObjectKey &key, const RequestOptions &options) const
{
    return called(d, ClientBackend::Verb::Get, gvk, key, {}, nullptr, options);
}

QFuture<ListReply> Client::list(const Gvk &gvk, const RequestOptions &options) const
{
    return d ? d->list(gvk, options) : unsupported<ListReply>();
}

QFuture<ObjectReply> Client::create(const Object &object, const RequestOptions &options) const
{
    return called(
        d, ClientBackend::Verb::Create, object.gvk(), object.key(), object, nullptr, options);
}

QFuture<ObjectReply> Client::update(const Object &object, const RequestOptions &options) const
{
    return called(
        d, ClientBackend::Verb::Update, object.gvk(), object.key(), object, nullptr, options);
}

QFuture<ObjectReply> Client::updateStatus(const Object &object, const RequestOptions &options) const
{
    return update(object, onSubresource(options, QStringLiteral("status")));
}

QFuture<ObjectReply> Client::patch(
    const Gvk &gvk, const ObjectKey &key, const Patch &patch, const RequestOptions &options) const
{
    if (d && patch.type() == PatchType::Unset)
        return answered<ObjectReply>(Error(ErrorCode::InvalidArgument,
            QStringLiteral("patch %1 %2: the patch could not be made; its base is null or has no "
                           "resourceVersion")
                .arg(toString(gvk), toString(key))));
    return called(d, ClientBackend::Verb::Patch, gvk, key, {}, &patch, options);
}

QFuture<ObjectReply> Client::apply(const Object &object, const RequestOptions &options) const
{
    const bool isStatus = options.subresource() == QLatin1StringView("status");
    const Patch body = Patch::apply(intentOf(object, isStatus).toJson());
    return patch(object.gvk(), object.key(), body, options);
}

QFuture<ObjectReply> Client::table(const Gvk &gvk, const RequestOptions &options) const
{
    return called(d, ClientBackend::Verb::List, gvk, {}, {}, nullptr, options);
}

QFuture<BodyReply> Client::getRaw(const QByteArray &target, const RequestOptions &options) const
{
    return d ? d->getRaw(target, options) : unsupported<BodyReply>();
}

QFuture<ObjectReply> Client::createSubresource(const Gvk &gvk, const ObjectKey &key,
    const QString &subresource, const Object &body, const RequestOptions &options) const
{
    if (subresource.isEmpty())
        return answered<ObjectReply>(Error(ErrorCode::InvalidArgument,
            QStringLiteral("create a subresource of %1 %2: its name is empty")
                .arg(toString(gvk), toString(key))));
    return called(d, ClientBackend::Verb::Create, gvk, key, body, nullptr,
        onSubresource(options, subresource));
}

QFuture<ObjectReply> Client::getScale(
    const Gvk &gvk, const ObjectKey &key, const RequestOptions &options) const
{
    return get(gvk, key, onSubresource(options, kScale));
}

QFuture<ObjectReply> Client::updateScale(
    const Gvk &gvk, const ObjectKey &key, const Object &scale, const RequestOptions &options) const
{
    return called(
        d, ClientBackend::Verb::Update, gvk, key, scale, nullptr, onSubresource(options, kScale));
}

QFuture<ObjectReply> Client::patchScale(
    const Gvk &gvk, const ObjectKey &key, const Patch &body, const RequestOptions &options) const
{
    return patch(gvk, key, body, onSubresource(options, kScale));
}

QFuture<ObjectReply> Client::removeCollection(const Gvk &gvk, const RequestOptions &options) const
{
    return called(d, ClientBackend::Verb::DeleteCollection, gvk, {}, {}, nullptr, options);
}

QFuture<ObjectReply> Client::remove(
    const Gvk &gvk, const ObjectKey &key, const RequestOptions &options) const
{
    return called(d, ClientBackend::Verb::Delete, gvk, key, {}, nullptr, options);
}

DAVIT_END_NAMESPACE
