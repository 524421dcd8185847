#include "restlisterwatcher.h"

#include <codec/kubernetesschema.h>
#include <codec/listdecoder.h>
#include <codec/protobufenvelope.h>
#include <codec/protobuflist.h>
#include <codec/protobufwatch.h>
#include <codec/statusdecoder.h>

namespace davit::cache {

using namespace std::chrono_literals;

namespace {

// Metadata alone, or whole objects from a server that cannot (some behind API aggregation).
constexpr char kPartialList[]
    = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
constexpr char kPartialObject[]
    = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf,application/json";
constexpr qsizetype kMaxErrorBody = qsizetype(1) << 20;

template <typename Sink>
priv::DecodeOptions decodeOptions(
    const RestCollection &collection, const Gvk &gvk, const Sink &sink)
{
    return {collection.managedFields, collection.depth, &gvk,
        [&sink](const ObjectKey &key) { return sink.known(key); }};
}

bool isInSchema(const Gvk &gvk)
{
    return codec::KubernetesSchema::builtIn().messageOf(gvk) >= 0;
}

QString operationText(const char *verb, const RestCollection &collection)
{
    QString text = QLatin1StringView(verb) + u' ' + toString(collection.resource.gvk);
    if (!collection.namespaceName.isEmpty())
        text += QStringLiteral(" in ") + collection.namespaceName;
    return text;
}

// What LIST and WATCH have in common: an exchange, its head, and the body of a refusal.
class RestOperation : public Operation, protected transport::ResponseSink
{
public:
    RestOperation(const char *verb, const RestCollection &collection, const Logger &log,
        std::shared_ptr<bool> wantsProtobuf)
        : m_what(operationText(verb, collection))
        , m_log(log)
        , m_wantsProtobuf(std::move(wantsProtobuf))
        , m_askedForProtobuf(*m_wantsProtobuf)
        , m_warnings(collection.warnings)
        , m_onNotServed(collection.onNotServed)
    { }
    void start(transport::Transport &transport, const transport::Request &request,
        support::Executor &executor)
    {
        m_exchange = transport.start(request, executor, *this);
    }

protected:
    void onHead(const transport::ResponseHead &head) override
    {
        m_head = head;
        m_isProtobuf = m_askedForProtobuf
            && head.contentType.startsWith("application/vnd.kubernetes.protobuf");
        if (m_warnings)
            m_warnings->tell(head.warnings);
    }

    bool isSuccess() const { return m_head.httpStatus >= 200 && m_head.httpStatus < 300; }
    bool isAccepted() const { return isSuccess() && isReadable(); }
    // What was asked for; nobody sends it unasked.
    bool isProtobuf() const { return m_isProtobuf; }
    bool isReadable() const { return isProtobuf() || isJson(); }
    // The reply has what the schema does not know.
    void turnToJson()
    {
        *m_wantsProtobuf = false;
        m_log.info("an answer has what davit does not know of its protobuf: JSON from now on",
            {{"operation", m_what}});
    }
    // No type at all, and servers that do not care for it, get the benefit of the doubt.
    bool isJson() const
    {
        return m_head.contentType.isEmpty() || m_head.contentType.contains("json")
            || m_head.contentType.startsWith("text/plain");
    }

    void keepRefusal(const QByteArray &bytes)
    {
        if (m_refusal.size() < kMaxErrorBody)
            m_refusal += bytes;
    }

    // What went wrong with the exchange as such; no error when the body came whole.
    Error outcome(const Error &error) const
    {
        if (isSuccess() && !isReadable())
            return Error(ErrorCode::MalformedReply,
                QStringLiteral("%1: the server sent %2, not JSON; is it an API server, or a proxy?")
                    .arg(m_what, QString::fromLatin1(m_head.contentType)));
        if (m_head.httpStatus == 404 && m_onNotServed)
            m_onNotServed();
        if (m_head.httpStatus != 0 && !isAccepted()) {
            const Error refused = codec::errorFromReply(m_what, "GET", m_head.httpStatus,
                codec::statusToJson(m_refusal), m_head.retryAfter);
            return refused.retryAfter() >= m_head.retryAfter
                ? refused
                : refused.withRetryAfter(m_head.retryAfter);
        }
        return error.isError() ? error.withContext(m_what) : error;
    }

    const QString m_what; // "list v1 ConfigMap": opens each error's sentence
    const Logger m_log;
    const std::shared_ptr<bool> m_wantsProtobuf;
    const bool m_askedForProtobuf; // by this operation
    transport::ResponseHead m_head;

private:
    const std::shared_ptr<transport::ServerWarnings> m_warnings;
    const std::function<void()> m_onNotServed;
    QByteArray m_refusal;
    bool m_isProtobuf = false;
    std::unique_ptr<transport::Exchange> m_exchange;
};

class RestList final : public RestOperation
{
public:
    RestList(const RestCollection &collection, const Logger &log,
        std::shared_ptr<bool> wantsProtobuf, Shard shard, ListSink &sink)
        : RestOperation("list", collection, log, std::move(wantsProtobuf))
        , m_gvk(collection.resource.gvk)
        , m_shard(std::move(shard))
        , m_options(decodeOptions(collection, m_gvk, sink))
        , m_limits(collection.limits)
        , m_sink(sink)
    { }

private:
    void onHead(const transport::ResponseHead &head) override
    {
        RestOperation::onHead(head);
        if (isProtobuf())
            m_decoder = std::make_unique<codec::ProtobufListDecoder>(
                codec::KubernetesSchema::builtIn(), m_gvk, m_options, m_limits);
        else
            m_decoder = std::make_unique<codec::ListDecoder>(m_gvk, m_options, m_limits);
    }

    void onBytes(const QByteArray &bytes) override
    {
        if (!isAccepted()) {
            keepRefusal(bytes);
            return;
        }
        if (m_isEnded)
            return;
        std::vector<Object> items = m_decoder->feed(bytes);
        std::erase_if(items, [this](const Object &item) { return !m_shard.has(item); });
        m_isEnded = m_decoder->needsJson();
        if (!m_isEnded) {
            m_sink.onListItems(std::move(items), bytes.size());
            return;
        }
        turnToJson();
        m_sink.onListFinished(m_decoder->finish().withContext(m_what), {});
    }

    void onRetry(int httpStatus, std::chrono::milliseconds wait) override
    {
        const Error why = httpStatus == 0
            ? Error(ErrorCode::ConnectionLost,
                m_what + QStringLiteral(": the connection broke before the answer"))
            : codec::errorFromReply(m_what, "GET", httpStatus, {}, wait);
        m_sink.onListDelayed(why);
    }

    void onFinished(const Error &error) override
    {
        if (m_isEnded)
            return;
        Error outcome = this->outcome(error);
        if (!outcome.isError() && (outcome = m_decoder->finish()).isError())
            outcome = outcome.withContext(m_what);
        if (outcome.isError()) {
            m_sink.onListFinished(outcome, {});
            return;
        }
        for (const QString &note : m_decoder->badItemNotes())
            m_log.warning("an item of a list is left out", {{"error", note}});
        const codec::ListMeta &meta = m_decoder->meta();
        m_sink.onListFinished(
            {}, {meta.resourceVersion, meta.continueToken, meta.remainingItemCount});
    }

    const Gvk m_gvk; // the decoder borrows it
    const Shard m_shard;
    const priv::DecodeOptions m_options;
    const codec::Limits m_limits;
    std::unique_ptr<codec::ListReader> m_decoder; // null before the head
    ListSink &m_sink;
    bool m_isEnded = false; // the sink heard so
};

class RestWatch final : public RestOperation
{
public:
    RestWatch(const RestCollection &collection, const Logger &log,
        std::shared_ptr<bool> wantsProtobuf, Shard shard, WatchSink &sink)
        : RestOperation("watch", collection, log, std::move(wantsProtobuf))
        , m_gvk(collection.resource.gvk)
        , m_shard(std::move(shard))
        , m_options(decodeOptions(collection, m_gvk, sink))
        , m_limits(collection.limits)
        , m_onEvent(collection.onEvent)
        , m_sink(sink)
    { }

private:
    // A watch is opened by 200 alone (C-17a).
    bool isOpen() const { return m_head.httpStatus == 200 && isReadable(); }

    void onHead(const transport::ResponseHead &head) override
    {
        RestOperation::onHead(head);
        if (isProtobuf())
            m_decoder = std::make_unique<codec::ProtobufWatchDecoder>(
                codec::KubernetesSchema::builtIn(), m_options, m_limits);
        else
            m_decoder = std::make_unique<codec::WatchDecoder>(m_options, m_limits);
        if (isOpen())
            m_sink.onWatchOpened();
    }

    void onBytes(const QByteArray &bytes) override
    {
        if (!isOpen()) {
            keepRefusal(bytes);
            return;
        }
        if (m_isEnded)
            return;
        const qsizetype badBefore = m_decoder->badObjects();
        std::vector<codec::WatchEvent> events = m_decoder->feed(bytes);
        if (m_decoder->badObjects() > badBefore)
            m_log.warning(
                "an event is left out", {{"error", m_decoder->lastBadObject().message()}});
        for (const codec::WatchEvent &event : events)
            if (m_onEvent && !event.object.isNull())
                m_onEvent(event.object);
        std::erase_if(events, [this](const codec::WatchEvent &event) {
            return !event.object.isNull() && !m_shard.has(event.object);
        });
        m_isEnded = m_decoder->needsJson();
        m_sink.onWatchEvents(std::move(events), bytes.size());
        if (!m_isEnded)
            return;
        turnToJson();
        m_sink.onWatchFinished({});
    }

    void onFinished(const Error &error) override
    {
        if (m_isEnded)
            return;
        const Error outcome = this->outcome(error);
        if (!outcome.isError() && !isOpen())
            m_sink.onWatchFinished(Error(ErrorCode::MalformedReply,
                QStringLiteral("%1: the server answered with status %2, which opens no watch")
                    .arg(m_what)
                    .arg(m_head.httpStatus)));
        else
            m_sink.onWatchFinished(outcome);
    }

    const Gvk m_gvk; // the decoder borrows it
    const Shard m_shard;
    const priv::DecodeOptions m_options;
    const codec::Limits m_limits;
    std::unique_ptr<codec::WatchReader> m_decoder; // null before the head
    const std::function<void(const Object &)> m_onEvent;
    WatchSink &m_sink;
    bool m_isEnded = false; // the sink heard so
};

} // namespace

bool Shard::has(const Object &object) const
{
    if (m_selector.matches(object))
        return true;
    if (!std::exchange(*m_isSaid, true))
        m_log.warning(
            "the server sends objects of all shards: its gate ShardedListAndWatch is off; "
            "those of others are left out here",
            {{"shard", m_selector.toString()}});
    return false;
}

RestListerWatcher::RestListerWatcher(
    transport::Transport &transport, const RestCollection &collection, const Logger &log)
    : m_transport(transport)
    , m_collection(collection)
    , m_log(log)
    , m_wantsProtobuf(std::make_shared<bool>(collection.prefersProtobuf
          && collection.depth == priv::Depth::Full && isInSchema(collection.resource.gvk)))
{ }

transport::ListOptions RestListerWatcher::narrowed(
    const RestCollection &collection, const transport::ListOptions &options)
{
    transport::ListOptions narrowed = options;
    narrowed.labelSelector = collection.labelSelector;
    narrowed.fieldSelector = collection.fieldSelector;
    narrowed.shardSelector = collection.shardSelector;
    if (collection.tweak)
        collection.tweak(&narrowed);
    return narrowed;
}

Shard RestListerWatcher::shardOf(const transport::ListOptions &sent) const
{
    ShardSelector selector;
    // A wrong one, of a tweak, is the server's to refuse.
    if (!ShardSelector::parse(sent.shardSelector, &selector).isOk() || selector.isEmpty())
        return {};
    return {selector, m_log, m_saidThatAllCome};
}

transport::Request RestListerWatcher::request(const RestCollection &collection,
    const transport::ListOptions &sent, transport::Channel channel) const
{
    transport::Request request;
    request.channel = channel;
    const Result<transport::Resource> current
        = collection.current ? collection.current() : collection.resource;
    request.target = transport::collectionTarget(
        current.isOk() ? current.value() : collection.resource, collection.namespaceName, sent);
    if (collection.depth == priv::Depth::MetadataOnly)
        request.accept = channel == transport::Channel::List ? kPartialList : kPartialObject;
    else if (*m_wantsProtobuf)
        request.accept = kProtobuf;
    // A busy server lets a request wait for up to 15 s (API priority and fairness: a quarter of its
    // request time-out); a large list takes its time.
    request.headDeadline = channel == transport::Channel::List ? 60s : 30s;
    request.silenceLimit = 90s;
    return request;
}

std::unique_ptr<Operation> RestListerWatcher::list(
    const transport::ListOptions &options, support::Executor &executor, ListSink &sink)
{
    const transport::ListOptions sent = narrowed(m_collection, options);
    auto operation
        = std::make_unique<RestList>(m_collection, m_log, m_wantsProtobuf, shardOf(sent), sink);
    operation->start(m_transport, request(m_collection, sent, transport::Channel::List), executor);
    return operation;
}

std::unique_ptr<Operation> RestListerWatcher::askVersion(
    support::Executor &executor, ListSink &sink)
{
    transport::ListOptions options;
    options.limit = 1;
    RestCollection all = m_collection;
    all.labelSelector.clear();
    all.fieldSelector.clear();
    all.shardSelector.clear();
    all.tweak = {};
    const transport::ListOptions sent = narrowed(all, options);
    auto operation = std::make_unique<RestList>(all, m_log, m_wantsProtobuf, Shard(), sink);
    operation->start(m_transport, request(all, sent, transport::Channel::List), executor);
    return operation;
}

std::unique_ptr<Operation> RestListerWatcher::watch(
    const transport::ListOptions &options, support::Executor &executor, WatchSink &sink)
{
    const transport::ListOptions sent = narrowed(m_collection, options);
    auto operation
        = std::make_unique<RestWatch>(m_collection, m_log, m_wantsProtobuf, shardOf(sent), sink);
    operation->start(m_transport, request(m_collection, sent, transport::Channel::Watch), executor);
    return operation;
}

} // namespace davit::cache
