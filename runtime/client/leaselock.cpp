#include "leaselock.h"

#include <QtCore/qjsondocument.h>
#include <support/dnsnames.h>
#include <support/rfc3339.h>
#include <transport/httpheaders.h>
#include <transport/resource.h>

namespace davit::client {
namespace {

using namespace std::chrono_literals;

const transport::Resource &leaseResource()
{
    static const transport::Resource resource{
        {QStringLiteral("coordination.k8s.io"), QStringLiteral("v1"), QStringLiteral("Lease")},
        QStringLiteral("leases"), true};
    return resource;
}

constexpr QLatin1StringView kHolder("holderIdentity");
constexpr QLatin1StringView kDuration("leaseDurationSeconds");
constexpr QLatin1StringView kAcquired("acquireTime");
constexpr QLatin1StringView kRenewed("renewTime");
constexpr QLatin1StringView kTransitions("leaseTransitions");
constexpr QLatin1StringView kStrategy("strategy");
constexpr QLatin1StringView kPreferred("preferredHolder");
constexpr QLatin1StringView kMetadata("metadata");
constexpr QLatin1StringView kSpec("spec");
constexpr QLatin1StringView kVersion("resourceVersion");

LeaderRecord recordOf(const QJsonObject &spec)
{
    LeaderRecord record;
    record.holderIdentity = spec.value(kHolder).toString();
    record.leaseDurationSeconds = spec.value(kDuration).toInt();
    record.acquireTime = support::parseRfc3339(spec.value(kAcquired).toString());
    record.renewTime = support::parseRfc3339(spec.value(kRenewed).toString());
    record.leaseTransitions = spec.value(kTransitions).toInt();
    record.strategy = spec.value(kStrategy).toString();
    record.preferredHolder = spec.value(kPreferred).toString();
    return record;
}

void put(const LeaderRecord &record, QJsonObject *spec)
{
    spec->insert(kHolder, record.holderIdentity);
    spec->insert(kDuration, record.leaseDurationSeconds);
    if (record.acquireTime)
        spec->insert(kAcquired, support::rfc3339(*record.acquireTime, 6));
    if (record.renewTime)
        spec->insert(kRenewed, support::rfc3339(*record.renewTime, 6));
    spec->insert(kTransitions, record.leaseTransitions);
}

} // namespace

Status checkLease(const ObjectKey &key)
{
    if (support::isDnsSubdomain(key.name) && support::isDnsLabel(key.namespaceName))
        return Status::ok();
    return Status(ErrorCode::InvalidArgument,
        QStringLiteral("leader election: \"%1\" is no namespace and name of a Lease: lower-case "
                       "letters, digits and '-' only, in the name '.' too")
            .arg(toString(key)));
}

std::chrono::milliseconds leaseTimeout(std::chrono::milliseconds renewDeadline)
{
    return std::max<std::chrono::milliseconds>(1s, renewDeadline / 2);
}

// Answers may come when the lock is gone.
class LeaseLock::Core : public std::enable_shared_from_this<Core>
{
public:
    Core(const LeaseSettings &settings, RestClient &rest) : m_settings(settings), m_rest(rest) { }

    void send(const QByteArray &method, const QString &verb, const QJsonObject &body, Done done);
    QJsonObject withLabels(QJsonObject metadata) const;
    void refuse(const Error &error, Done done);

    const LeaseSettings m_settings;
    QJsonObject object; // the Lease as the last call gave it; empty: nothing is known

private:
    Reply replyOf(const QString &operation, const RawReply &raw);

    RestClient &m_rest;
};

void LeaseLock::Core::send(
    const QByteArray &method, const QString &verb, const QJsonObject &body, Done done)
{
    Call call;
    call.operation = verb + QStringLiteral(" Lease ") + toString(m_settings.key);
    call.timeout = m_settings.timeout;
    transport::Request &request = call.request;
    request.method = method;
    request.channel = transport::Channel::Lease;
    request.userAgent = transport::hostUserAgent("leader-election");
    request.headDeadline = m_settings.timeout;
    request.silenceLimit = m_settings.timeout;
    Status status;
    if (method == "POST")
        request.target = transport::collectionTarget(leaseResource(), m_settings.key.namespaceName);
    else
        status = transport::objectTarget(
            leaseResource(), m_settings.key, QString(), {}, &request.target);
    if (method != "GET") {
        request.contentType = "application/json";
        request.body = QJsonDocument(body).toJson(QJsonDocument::Compact);
    }
    object = {}; // until the answer, and if there is none
    if (!status.isOk())
        return refuse(status.error(), std::move(done));
    m_rest.send(call,
        [self = shared_from_this(), operation = call.operation, done = std::move(done)](
            const RawReply &raw) { done(self->replyOf(operation, raw)); });
}

ElectionLock::Reply LeaseLock::Core::replyOf(const QString &operation, const RawReply &raw)
{
    Reply reply;
    reply.error = raw.error;
    if (reply.error.isError())
        return reply;
    QJsonParseError fault;
    object = QJsonDocument::fromJson(raw.body, &fault).object();
    if (fault.error != QJsonParseError::NoError) {
        reply.error = Error(ErrorCode::MalformedReply,
            QStringLiteral("%1: the answer is no object: %2").arg(operation, fault.errorString()));
        return reply;
    }
    const QJsonObject spec = object.value(kSpec).toObject();
    reply.record = recordOf(spec);
    reply.raw = QJsonDocument(spec).toJson(QJsonDocument::Compact);
    return reply;
}

QJsonObject LeaseLock::Core::withLabels(QJsonObject metadata) const
{
    if (m_settings.labels.isEmpty())
        return metadata;
    QJsonObject labels = metadata.value(QStringLiteral("labels")).toObject();
    for (auto it = m_settings.labels.begin(); it != m_settings.labels.end(); ++it)
        labels.insert(it.key(), it.value());
    metadata.insert(QStringLiteral("labels"), labels);
    return metadata;
}

LeaseLock::LeaseLock(const LeaseSettings &settings, RestClient &rest)
    : m_core(std::make_shared<Core>(settings, rest))
{ }

LeaseLock::~LeaseLock() = default;

void LeaseLock::get(Done done)
{
    m_core->send("GET", QStringLiteral("get"), {}, std::move(done));
}

void LeaseLock::create(const LeaderRecord &record, Done done)
{
    QJsonObject spec;
    put(record, &spec);
    const ObjectKey &key = m_core->m_settings.key;
    const QJsonObject metadata{
        {QStringLiteral("name"), key.name}, {QStringLiteral("namespace"), key.namespaceName}};
    m_core->send("POST", QStringLiteral("create"),
        {{QStringLiteral("apiVersion"), QStringLiteral("coordination.k8s.io/v1")},
            {QStringLiteral("kind"), QStringLiteral("Lease")},
            {QString(kMetadata), m_core->withLabels(metadata)}, {QString(kSpec), spec}},
        std::move(done));
}

void LeaseLock::update(const LeaderRecord &record, Done done)
{
    QJsonObject object = m_core->object;
    const QJsonObject metadata = object.value(kMetadata).toObject();
    // Without a version the server would overwrite whatever is there.
    if (metadata.value(kVersion).toString().isEmpty())
        return m_core->refuse(
            Error(ErrorCode::Conflict,
                QStringLiteral("update %1: its present version is not known, it is read first")
                    .arg(describe())),
            std::move(done));
    QJsonObject spec = object.value(kSpec).toObject();
    put(record, &spec);
    object.insert(kSpec, spec);
    object.insert(kMetadata, m_core->withLabels(metadata));
    m_core->send("PUT", QStringLiteral("update"), object, std::move(done));
}

// What is not sent.
void LeaseLock::Core::refuse(const Error &error, Done done)
{
    Reply reply;
    reply.error = error;
    m_rest.executor().post([done = std::move(done), reply] { done(reply); });
}

QString LeaseLock::describe() const
{
    return QStringLiteral("Lease ") + toString(m_core->m_settings.key);
}

} // namespace davit::client
