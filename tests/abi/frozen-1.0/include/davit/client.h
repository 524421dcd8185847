// Requests to the API server, under the plugin's own name and rights. Contract:
//   - Each verb is checked against the plugin's Rbac before anything is sent; MissingRbac names the
//   missing rule.
//   - Nothing here reads the cache: for that there is the Lister, which can wait for what was
//   written here (consistency.h). Every call goes to the server.
//   - A write is sent at most once. When the connection breaks after that, the answer is
//   OutcomeUnknown: read before you try again.
//   - Futures finish on a runtime thread that all plugins share. Wait for them on a worker thread
//   only, or use .then(context, …). What .then(function) runs there must not block: answers of all
//   plugins wait behind it, and after 60 s the plugin is Faulted. What it throws is in the future
//   that .then() returned.
//   - cancel() on a future that a verb returned ends its request; it is noticed within 50 ms. What
//   still waits then (for its kind, a rate limit, a connection, another try) is never sent. A read
//   is broken off. A write that is on the wire may have been done, and nobody hears of it: read
//   before you try again. The future finishes without a result, so ask isCanceled() before
//   result(). cancel() on what .then() returned does not reach the request (Qt 6.4).
// Source: Kubernetes API concepts. Tests: tst_pluginclient, tst_cancellation, tst_clientreal.
#pragma once

#include <QtCore/qfuture.h>
#include <davit/clienttypes.h>
#include <davit/object.h>
#include <davit/result.h>
#include <davit/table.h>

DAVIT_BEGIN_NAMESPACE
class DAVIT_EXPORT Client
{
public:
    // Every call fails with Unsupported.
    Client();
    Client(const Client &other);
    Client &operator=(const Client &other);
    ~Client();
    explicit Client(priv::ClientBackend &backend); // host only; takes a reference of its own

    // One object, or NotFound. [thread-safe]
    QFuture<ObjectReply> get(
        const Gvk &gvk, const ObjectKey &key, const RequestOptions &options = {}) const;
    // One page: options narrow by namespace, labelSelector, fieldSelector, limit, continueToken.
    // [thread-safe]
    QFuture<ListReply> list(const Gvk &gvk, const RequestOptions &options = {}) const;
    // The same page as the server shows it to people: an object of kind Table, for class Table.
    // [thread-safe]
    QFuture<ObjectReply> table(const Gvk &gvk, const RequestOptions &options = {}) const;
    // Whatever lies under a path of the server: "/version", "/apis?x=y", percent-encoded. Paths of
    // resources need the Rbac of a get or list, all others a rule with nonResourceURLs. A watch is
    // refused. [thread-safe]
    QFuture<BodyReply> getRaw(const QByteArray &target, const RequestOptions &options = {}) const;
    // The object names its kind and key; generateName is allowed. AlreadyExists when it is there.
    // [thread-safe]
    QFuture<ObjectReply> create(const Object &object, const RequestOptions &options = {}) const;
    // Replaces the whole object. Conflict when the object's resourceVersion is not the newest.
    // [thread-safe]
    QFuture<ObjectReply> update(const Object &object, const RequestOptions &options = {}) const;
    // Replaces the status only, through the status subresource. [thread-safe]
    QFuture<ObjectReply> updateStatus(
        const Object &object, const RequestOptions &options = {}) const;
    // Posts `body` to a subresource of the object: ("eviction", an Eviction) of a Pod, ("token", a
    // TokenRequest) of a ServiceAccount, ("binding", …). The answer is what the server says: a
    // Status, or the body filled in. TooManyRequests with the cause DisruptionBudget when a budget
    // forbids an eviction now. [thread-safe]
    QFuture<ObjectReply> createSubresource(const Gvk &gvk, const ObjectKey &key,
        const QString &subresource, const Object &body, const RequestOptions &options = {}) const;
    // The autoscaling/v1 Scale of any kind that has one, whatever the kind calls its replicas.
    // [thread-safe]
    QFuture<ObjectReply> getScale(
        const Gvk &gvk, const ObjectKey &key, const RequestOptions &options = {}) const;
    QFuture<ObjectReply> updateScale(const Gvk &gvk, const ObjectKey &key, const Object &scale,
        const RequestOptions &options = {}) const;
    QFuture<ObjectReply> patchScale(const Gvk &gvk, const ObjectKey &key, const Patch &patch,
        const RequestOptions &options = {}) const;
    // Options: subresource, fieldManager, force (apply). [thread-safe]
    QFuture<ObjectReply> patch(const Gvk &gvk, const ObjectKey &key, const Patch &patch,
        const RequestOptions &options = {}) const;
    // Server-side apply of what the object says, under the plugin's field manager: say no more than
    // what you want, since you become the owner of every field. What only the server writes
    // (managedFields, uid, resourceVersion, …), the status (but through the subresource) and
    // kubectl's last-applied annotation are left out. The server wants the right to create beside
    // patch where the object may not be there yet. [thread-safe]
    QFuture<ObjectReply> apply(const Object &object, const RequestOptions &options = {}) const;
    // The answer holds the object when finalizers keep it, else the server's Status object.
    // Options: propagation, preconditions, gracePeriod. [thread-safe]
    QFuture<ObjectReply> remove(
        const Gvk &gvk, const ObjectKey &key, const RequestOptions &options = {}) const;
    // Deletes every object of one namespace (or of a kind without namespaces) that labelSelector
    // and fieldSelector take; InvalidArgument without a namespace where the kind has them. The
    // answer is the list of what was deleted, as one object. Not atomic. [thread-safe]
    QFuture<ObjectReply> removeCollection(const Gvk &gvk, const RequestOptions &options = {}) const;

    // The same verbs, waited for: reply = client.blocking().get(…). Each blocks until the answer is
    // there or the deadline passed (RequestOptions::timeout, 30 s by default). [worker-thread]
    class Blocking;
    Blocking blocking() const;

private:
    priv::ClientBackend *d; // shared
};

// All methods: [worker-thread].
class Client::Blocking
{
public:
    explicit Blocking(const Client &client) : m_client(client) { }
    Result<Object> get(
        const Gvk &gvk, const ObjectKey &key, const RequestOptions &options = {}) const
    {
        return wait(m_client.get(gvk, key, options));
    }
    Result<Object> create(const Object &object, const RequestOptions &options = {}) const
    {
        return wait(m_client.create(object, options));
    }
    Result<Object> update(const Object &object, const RequestOptions &options = {}) const
    {
        return wait(m_client.update(object, options));
    }
    Result<Object> updateStatus(const Object &object, const RequestOptions &options = {}) const
    {
        return wait(m_client.updateStatus(object, options));
    }
    Result<Object> patch(const Gvk &gvk, const ObjectKey &key, const Patch &patch,
        const RequestOptions &options = {}) const
    {
        return wait(m_client.patch(gvk, key, patch, options));
    }
    Result<Object> apply(const Object &object, const RequestOptions &options = {}) const
    {
        return wait(m_client.apply(object, options));
    }
    Result<Object> remove(
        const Gvk &gvk, const ObjectKey &key, const RequestOptions &options = {}) const
    {
        return wait(m_client.remove(gvk, key, options));
    }
    Status removeCollection(const Gvk &gvk, const RequestOptions &options = {}) const
    {
        return wait(m_client.removeCollection(gvk, options)).status();
    }
    Result<Object> createSubresource(const Gvk &gvk, const ObjectKey &key,
        const QString &subresource, const Object &body, const RequestOptions &options = {}) const
    {
        return wait(m_client.createSubresource(gvk, key, subresource, body, options));
    }
    Result<Object> getScale(
        const Gvk &gvk, const ObjectKey &key, const RequestOptions &options = {}) const
    {
        return wait(m_client.getScale(gvk, key, options));
    }
    Result<Object> updateScale(const Gvk &gvk, const ObjectKey &key, const Object &scale,
        const RequestOptions &options = {}) const
    {
        return wait(m_client.updateScale(gvk, key, scale, options));
    }
    Result<Object> patchScale(const Gvk &gvk, const ObjectKey &key, const Patch &patch,
        const RequestOptions &options = {}) const
    {
        return wait(m_client.patchScale(gvk, key, patch, options));
    }
    Result<Table> table(const Gvk &gvk, const RequestOptions &options = {}) const
    {
        const Result<Object> reply = wait(m_client.table(gvk, options));
        return reply.isOk() ? Result<Table>(Table(reply.value())) : Result<Table>(reply.error());
    }
    Result<QByteArray> getRaw(const QByteArray &target, const RequestOptions &options = {}) const
    {
        const BodyReply reply = m_client.getRaw(target, options).result();
        return reply.isOk() ? Result<QByteArray>(reply.body()) : Result<QByteArray>(reply.error());
    }
    Result<ListReply> list(const Gvk &gvk, const RequestOptions &options = {}) const
    {
        ListReply reply = m_client.list(gvk, options).result();
        return reply.error().isError() ? Result<ListReply>(reply.error())
                                       : Result<ListReply>(reply);
    }

private:
    static Result<Object> wait(const QFuture<ObjectReply> &future)
    {
        const ObjectReply reply = future.result();
        return reply.error().isError() ? Result<Object>(reply.error())
                                       : Result<Object>(reply.object());
    }
    Client m_client;
};

inline Client::Blocking Client::blocking() const
{
    return Blocking(*this);
}
DAVIT_END_NAMESPACE
