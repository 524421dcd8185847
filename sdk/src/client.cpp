#include <davit/client.h>
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
    RequestOptions status(options);
    status.subresource(QStringLiteral("status"));
    return update(object, status);
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
    const Patch body = Patch::apply(object.toJson());
    return patch(object.gvk(), object.key(), body, options);
}

QFuture<ObjectReply> Client::remove(
    const Gvk &gvk, const ObjectKey &key, const RequestOptions &options) const
{
    return called(d, ClientBackend::Verb::Delete, gvk, key, {}, nullptr, options);
}

DAVIT_END_NAMESPACE
