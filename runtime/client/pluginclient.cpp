#include "pluginclient.h"

#include "writeanswer.h"

#include <codec/listdecoder.h>
#include <transport/httpheaders.h>

#include <QtCore/qpromise.h>
#include <set>

namespace davit::client {
namespace {

// A future's other end that always gives an answer: Canceled when it dies without one. What the
// plugin hung on the future with .then(function) runs inside give(), as code of the plugin.
template <typename Reply> class Answer
{
public:
    Answer(const QString &operation, std::weak_ptr<priv::FaultSink> faults)
        : m_operation(operation), m_faults(std::move(faults))
    {
        m_promise.start();
    }
    ~Answer()
    {
        if (!m_isGiven)
            give(Reply(Error(ErrorCode::Canceled,
                m_operation + QStringLiteral(": the client was stopped before an answer came"))));
    }
    Q_DISABLE_COPY_MOVE(Answer)

    QFuture<Reply> future() { return m_promise.future(); }
    // The plugin wants it no more. give() finishes such a future all the same.
    bool isCanceled() const { return m_promise.isCanceled(); }
    void give(const Reply &reply)
    {
        m_isGiven = true;
        m_promise.addResult(reply);
        if (const auto faults = m_faults.lock())
            priv::pluginCall(*faults, "answer", m_operation, [this] { m_promise.finish(); });
        else
            m_promise.finish();
    }

private:
    const QString m_operation;
    const std::weak_ptr<priv::FaultSink> m_faults;
    QPromise<Reply> m_promise;
    bool m_isGiven = false;
};

// `metadataOf` is set when no more than the metadata of such an object was asked for.
ObjectReply objectFrom(const QString &operation, const RawReply &reply, const Gvk *metadataOf)
{
    if (reply.error.isError())
        return ObjectReply(reply.error);
    Object object;
    Error error;
    if (metadataOf) {
        const priv::DecodeOptions options{
            priv::ManagedFields::Keep, priv::Depth::MetadataOnly, metadataOf, {}};
        error = priv::ObjectDecoder().decode(reply.body, options, &object);
    } else {
        error = Object::fromJson(reply.body, &object).error();
    }
    if (error.isError())
        return ObjectReply(Error(ErrorCode::MalformedReply,
            QStringLiteral("%1: the answer is no object: %2").arg(operation, error.message()))
                               .withHttpStatus(reply.httpStatus));
    return ObjectReply(object);
}

// The server does not know the resource any more: its CRD went, or got another scope or name. The
// 404 for an object names the object, in a Status of the server's own.
bool isForWholeResource(const Error &error)
{
    if (!isNotFound(error))
        return false;
    Object status;
    if (!Object::fromJson(error.statusJson(), &status).isOk())
        return false;
    const Value details = status[QLatin1StringView("details")];
    const Value cause = details[QLatin1StringView("causes")].at(0);
    return details[QLatin1StringView("name")].toText().isEmpty()
        || cause[QLatin1StringView("reason")].equals(QLatin1StringView("UnexpectedServerResponse"));
}

Error checkTimeout(const QString &operation, const RequestOptions &options)
{
    if (options.timeout().count() <= 0)
        return Error(ErrorCode::InvalidArgument,
            QStringLiteral("%1: a time-out of %2 ms")
                .arg(operation)
                .arg(options.timeout().count()));
    return Error();
}

Error checkOptions(const QString &operation, const Gvk &gvk, const RequestOptions &options)
{
    if (gvk.kind.isEmpty() || gvk.version.isEmpty())
        return Error(ErrorCode::InvalidArgument,
            QStringLiteral("%1: apiVersion and kind are needed").arg(operation));
    return checkTimeout(operation, options);
}

} // namespace

CallObserver::~CallObserver() = default;

QByteArray ClientIdentity::userAgent() const
{
    return transport::hostUserAgent(pluginId.toLatin1() + '/' + pluginVersion.toLatin1());
}

class PluginClient::Core : public std::enable_shared_from_this<Core>
{
public:
    Core(ClientIdentity identity, RestClient &rest, RestMapper &mapper)
        : m_identity(std::move(identity)), m_rest(rest), m_mapper(mapper)
    { }

    template <typename Reply>
    using Begin = std::function<void(const transport::Resource &, std::shared_ptr<Answer<Reply>>)>;

    // Resolves the kind, then begins.
    template <typename Reply>
    QFuture<Reply> run(
        const QString &operation, const Gvk &gvk, const RequestOptions &options, Begin<Reply> begin)
    {
        auto answer = std::make_shared<Answer<Reply>>(operation, m_identity.faults);
        QFuture<Reply> future = answer->future();
        const Error wrong = checkOptions(operation, gvk, options);
        if (wrong.isError()) {
            answer->give(Reply(wrong));
            return future;
        }
        m_mapper.resolve(gvk,
            [answer, begin = std::move(begin), operation](
                const Result<transport::Resource> &resource) {
                if (answer->isCanceled())
                    answer->give(Reply(Error(ErrorCode::Canceled,
                        operation + QStringLiteral(": the caller ended the request"))));
                else if (resource.isOk())
                    begin(resource.value(), answer);
                else
                    answer->give(Reply(resource.error().withContext(operation)));
            });
        return future;
    }

    // Checks the right, then sends; [executor].
    void send(const Call &call, const AccessRequest &access, RestClient::Done done);
    Call prepare(const QString &operation, const RequestOptions &options) const;
    void close();
    // What an answer tells of the kinds that the server has.
    void noteKinds(const Gvk &gvk, const Error &error, const Object &object);
    // Tells what a write has written.
    void noteWrites(
        const Gvk &gvk, const VerbCall &call, const ObjectReply &reply, const QByteArray &body);

    const ClientIdentity &identity() const { return m_identity; }

private:
    const ClientIdentity m_identity;
    RestClient &m_rest;
    RestMapper &m_mapper;
    std::mutex m_mutex;
    std::set<RestClient::CallId> m_running; // GUARDED_BY(m_mutex)
    bool m_isClosed = false; // GUARDED_BY(m_mutex)
};

Call PluginClient::Core::prepare(const QString &operation, const RequestOptions &options) const
{
    Call call;
    call.operation = operation;
    call.timeout = options.timeout();
    call.request.userAgent = m_identity.userAgent();
    // The call's own deadline comes first; these only free the connection.
    const std::chrono::milliseconds spare = call.timeout + std::chrono::seconds(1);
    call.request.headDeadline = spare;
    call.request.silenceLimit = spare;
    return call;
}

void PluginClient::Core::send(const Call &call, const AccessRequest &access, RestClient::Done done)
{
    RawReply refused;
    refused.error = m_identity.rbac.check(call.operation, access).error();
    if (!refused.error.isError() && call.request.permit && !call.request.permit->isValid())
        refused.error = Error(ErrorCode::Canceled,
            QStringLiteral("%1: it was not sent: %2")
                .arg(call.operation, call.request.permit->refusal()));
    const std::lock_guard lock(m_mutex);
    if (m_isClosed)
        refused.error = Error(
            ErrorCode::Canceled, call.operation + QStringLiteral(": the plugin was stopped"));
    if (refused.error.isError()) {
        m_rest.executor().post([done = std::move(done), refused] { done(refused); });
        return;
    }
    // The id is known only after send(): done cannot run before, it waits for m_mutex.
    const auto id = std::make_shared<RestClient::CallId>(0);
    *id = m_rest.send(call,
        [self = shared_from_this(), id, verb = access.verb, done = std::move(done)](
            const RawReply &reply) {
            {
                const std::lock_guard lock(self->m_mutex);
                self->m_running.erase(*id);
            }
            if (self->m_identity.observer)
                self->m_identity.observer->called(
                    self->m_identity.pluginId, verb, reply.httpStatus);
            done(reply);
        });
    m_running.insert(*id);
}

void PluginClient::Core::noteKinds(const Gvk &gvk, const Error &error, const Object &object)
{
    if (isForWholeResource(error))
        m_mapper.forget(gvk);
    const QString group = object[QLatin1StringView("spec")][QLatin1StringView("group")].toString();
    if (gvk.group == QLatin1StringView("apiextensions.k8s.io") && !group.isEmpty())
        m_mapper.forgetGroup(group);
}

void PluginClient::Core::noteWrites(
    const Gvk &gvk, const VerbCall &call, const ObjectReply &reply, const QByteArray &body)
{
    if (!m_identity.onWritten || !reply.isOk())
        return;
    for (const priv::OwnWrite &write : writesOf(gvk, call, reply.object(), body))
        m_identity.onWritten(write);
}

void PluginClient::Core::close()
{
    const std::lock_guard lock(m_mutex);
    m_isClosed = true;
    for (const RestClient::CallId id : m_running)
        m_rest.cancel(id);
}

PluginClient::PluginClient(ClientIdentity identity, RestClient &rest, RestMapper &mapper)
    : m_core(std::make_shared<Core>(std::move(identity), rest, mapper))
{ }

PluginClient::~PluginClient() = default;

void PluginClient::close()
{
    m_core->close();
}

QFuture<ObjectReply> PluginClient::call(Verb verb, const Gvk &gvk, const ObjectKey &key,
    const Object &object, const Patch *patch, const RequestOptions &options)
{
    ObjectKey address = key;
    const bool isOfCollection = verb == Verb::List || verb == Verb::DeleteCollection;
    if ((verb == Verb::Create || isOfCollection) && address.namespaceName.isEmpty())
        address.namespaceName = options.namespaceName();
    const QString operation = operationName(verb, gvk, address);
    std::shared_ptr<const Patch> change = patch ? std::make_shared<const Patch>(*patch) : nullptr;
    const auto begin = [core = m_core, verb, address, object, change, options, operation](
                           const transport::Resource &resource,
                           const std::shared_ptr<Answer<ObjectReply>> &answer) {
        Call call = core->prepare(operation, options);
        call.isCanceled = [answer] { return answer->isCanceled(); };
        const VerbCall asked{verb, address, object, change.get(), options};
        const Status status
            = buildRequest(resource, asked, core->identity().fieldManager(), &call.request);
        if (!status.isOk()) {
            answer->give(ObjectReply(status.error()));
            return;
        }
        if (call.request.method != "GET")
            call.request.permit = core->identity().permit;
        const bool isMetadata = verb == Verb::Get && options.payload() == Payload::Metadata;
        core->send(call, accessOf(resource, asked),
            [core, answer, operation, gvk = resource.gvk, asked, change, isMetadata](
                const RawReply &raw) {
                const bool isRead = asked.verb == Verb::Get;
                const ObjectReply reply = objectFrom(operation, raw, isMetadata ? &gvk : nullptr);
                core->noteKinds(gvk, reply.error(), isRead ? Object() : reply.object());
                core->noteWrites(gvk, asked, reply, raw.body);
                answer->give(reply);
            });
    };
    return m_core->run<ObjectReply>(operation, gvk, options, begin);
}

QFuture<ListReply> PluginClient::list(const Gvk &gvk, const RequestOptions &options)
{
    const QString operation = operationName(Verb::List, gvk, {options.namespaceName(), QString()});
    const auto begin = [core = m_core, options, operation](const transport::Resource &resource,
                           const std::shared_ptr<Answer<ListReply>> &answer) {
        Call call = core->prepare(operation, options);
        call.isCanceled = [answer] { return answer->isCanceled(); };
        const Status status = buildListRequest(resource, options, &call.request);
        if (!status.isOk()) {
            answer->give(ListReply(status.error()));
            return;
        }
        priv::DecodeOptions decoding;
        if (options.payload() == Payload::Metadata)
            decoding.depth = priv::Depth::MetadataOnly;
        auto decoder = std::make_shared<codec::ListDecoder>(resource.gvk, decoding);
        auto objects = std::make_shared<QList<Object>>();
        call.onBody = [decoder, objects](const QByteArray &bytes) {
            for (Object &object : decoder->feed(bytes))
                objects->append(std::move(object));
        };
        core->send(call, accessOf(resource, {Verb::List, {}, {}, nullptr, options}),
            [core, answer, decoder, objects, operation, gvk = resource.gvk](const RawReply &reply) {
                Error error = reply.error;
                core->noteKinds(gvk, error, Object());
                if (!error.isError()) {
                    error = decoder->finish();
                    if (error.isError())
                        error = error.withContext(operation);
                }
                const codec::ListMeta &meta = decoder->meta();
                answer->give(error.isError() ? ListReply(error)
                                             : ListReply(*objects, meta.resourceVersion,
                                                 meta.continueToken, meta.remainingItemCount));
            });
    };
    return m_core->run<ListReply>(operation, gvk, options, begin);
}

QFuture<BodyReply> PluginClient::getRaw(const QByteArray &target, const RequestOptions &options)
{
    const QString operation = QStringLiteral("get ") + QString::fromUtf8(target);
    const auto answer = std::make_shared<Answer<BodyReply>>(operation, m_core->identity().faults);
    AccessRequest access;
    Error wrong = accessOfTarget(target, &access).error();
    if (!wrong.isError())
        wrong = checkTimeout(operation, options);
    if (wrong.isError()) {
        answer->give(BodyReply(wrong));
        return answer->future();
    }
    Call call = m_core->prepare(operation, options);
    call.isCanceled = [answer] { return answer->isCanceled(); };
    call.request.target = target;
    call.request.accept = "application/json, */*";
    m_core->send(call, access, [answer](const RawReply &reply) {
        answer->give(reply.error.isError() ? BodyReply(reply.error) : BodyReply(reply.body));
    });
    return answer->future();
}

} // namespace davit::client
