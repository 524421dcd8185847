#include "pluginevents.h"

#include "eventcorrelator.h"

#include <davit/eventrecorder.h>

#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <QtCore/qrandom.h>
#include <QtCore/qset.h>
#include <QtCore/qsysinfo.h>
#include <QtCore/quuid.h>
#include <deque>
#include <support/rfc3339.h>
#include <transport/resource.h>

namespace davit::client {
namespace {

using namespace std::chrono_literals;

constexpr int kMaxTries = 12;
constexpr auto kRetryDelay = 10s;
constexpr qsizetype kMaxNameLength = 253;
constexpr qsizetype kMaxKnownRefusals = 64;
constexpr qsizetype kMaxNoteBytes = 1024;

struct Told
{
    QJsonObject involved;
    QString type;
    QString reason;
    QString message;
    QString namespaceName;
    QString name; // a new event's
    std::chrono::nanoseconds utc{0};
};

const transport::Resource &eventResource()
{
    static const transport::Resource resource{
        {QString(), QStringLiteral("v1"), QStringLiteral("Event")}, QStringLiteral("events"), true};
    return resource;
}

// A longer note would be refused by the server: its end gives way to an ellipsis (E-15).
QString shortened(const QString &note)
{
    static const QByteArray ellipsis("\xe2\x80\xa6");
    QByteArray text = note.toUtf8();
    if (text.size() <= kMaxNoteBytes)
        return note;
    qsizetype end = kMaxNoteBytes - ellipsis.size();
    while ((uchar(text[end]) & 0xc0) == 0x80) // within a character
        --end;
    text.truncate(end);
    return QString::fromUtf8(text + ellipsis);
}

// "<object>.<hex of the time>", or a UUID where that is no name (E-3).
QString eventName(const QString &objectName, std::chrono::nanoseconds utc)
{
    const QString name = objectName + QLatin1Char('.') + QString::number(quint64(utc.count()), 16);
    bool isGood = !objectName.isEmpty() && name.size() <= kMaxNameLength;
    for (const QChar c : objectName)
        isGood &= (c >= u'a' && c <= u'z') || (c >= u'0' && c <= u'9') || c == u'-' || c == u'.';
    return isGood ? name : QUuid::createUuid().toString(QUuid::WithoutBraces);
}

QJsonObject reference(const Object &object)
{
    const Gvk gvk = object.gvk();
    QJsonObject reference{{QStringLiteral("apiVersion"), apiVersion(gvk)},
        {QStringLiteral("kind"), gvk.kind}, {QStringLiteral("name"), object.name()}};
    const auto put = [&](const QString &name, const QString &value) {
        if (!value.isEmpty())
            reference.insert(name, value);
    };
    put(QStringLiteral("namespace"), object.namespaceName());
    put(QStringLiteral("uid"), object.uid());
    put(QStringLiteral("resourceVersion"), object.resourceVersion());
    return reference;
}

QString identityOf(const QJsonObject &reference)
{
    QJsonObject withoutVersion(reference);
    withoutVersion.remove(QLatin1StringView("resourceVersion"));
    return QString::fromUtf8(QJsonDocument(withoutVersion).toJson(QJsonDocument::Compact));
}

// True for what a new try may cure: no answer came.
bool isTransportError(const RawReply &reply)
{
    switch (reply.error.code()) {
    case ErrorCode::ConnectionRefused:
    case ErrorCode::ConnectionLost:
    case ErrorCode::OutcomeUnknown:
    case ErrorCode::Timeout:
        return reply.httpStatus == 0;
    default:
        return false;
    }
}

// Nothing to tell anyone about: it is there already, or its namespace goes away.
bool isQuiet(const Error &error)
{
    return error.code() == ErrorCode::AlreadyExists || error.code() == ErrorCode::Canceled
        || error.statusJson().contains("NamespaceTerminating");
}

} // namespace

class PluginEvents::Core : public std::enable_shared_from_this<Core>
{
public:
    Core(const ClientIdentity &identity, RestClient &rest, support::TimeSource &time,
        const Logger &log)
        : m_identity(identity), m_rest(rest), m_time(time), m_log(log)
    { }

    void record(const Object &regarding, EventSeverity severity, const QString &reason,
        const QString &note);
    void finish(std::chrono::nanoseconds limit, std::function<void()> done);
    void close();
    quint64 dropped() const;

private:
    enum class Phase : quint8 { Open, Finishing, Closed };
    struct Sending
    {
        Told told;
        CorrelatedEvent event;
        bool isPatch = false;
        int tries = 0;
    };

    void next();
    void retry(const std::shared_ptr<Sending> &sending);
    void send(const std::shared_ptr<Sending> &sending);
    void answered(const std::shared_ptr<Sending> &sending, const RawReply &reply);
    QByteArray body(const Sending &sending) const;
    void countDropped(quint64 events);
    void logWarning(const Told &told) const;
    void logRefusal(const Error &error);

    const ClientIdentity m_identity;
    RestClient &m_rest;
    support::TimeSource &m_time;
    const Logger m_log;
    mutable std::mutex m_mutex;
    std::deque<Told> m_queue; // GUARDED_BY(m_mutex)
    bool m_isBusy = false; // GUARDED_BY(m_mutex)
    Phase m_phase = Phase::Open; // GUARDED_BY(m_mutex)
    std::function<void()> m_finished; // GUARDED_BY(m_mutex); told once
    support::TimeSource::TimerId m_limitTimer = 0; // GUARDED_BY(m_mutex)
    quint64 m_dropped = 0; // GUARDED_BY(m_mutex)
    EventCorrelator m_correlator; // confined to the executor
    QSet<QString> m_refusals; // confined to the executor
};

void PluginEvents::Core::record(
    const Object &regarding, EventSeverity severity, const QString &reason, const QString &note)
{
    if (severity != EventSeverity::Normal && severity != EventSeverity::Warning) {
        m_log.error("an event has no severity", {{"reason", reason}}); // E-2
        return;
    }
    if (m_identity.permit && !m_identity.permit->isValid())
        return; // the one that leads tells it
    Told told;
    told.involved = reference(regarding);
    told.type
        = severity == EventSeverity::Normal ? QStringLiteral("Normal") : QStringLiteral("Warning");
    told.reason = reason;
    told.message = shortened(note);
    told.namespaceName = regarding.namespaceName();
    if (told.namespaceName.isEmpty())
        told.namespaceName = QStringLiteral("default");
    told.utc = m_time.utc();
    told.name = eventName(regarding.name(), told.utc);

    const std::lock_guard lock(m_mutex);
    if (m_phase != Phase::Open)
        return;
    if (m_queue.size() >= kMaxQueued) {
        countDropped(1);
        return;
    }
    m_queue.push_back(std::move(told));
    if (m_isBusy)
        return;
    m_isBusy = true;
    m_rest.executor().post([self = shared_from_this()] { self->next(); });
}

void PluginEvents::Core::next()
{
    for (;;) {
        const auto sending = std::make_shared<Sending>();
        std::unique_lock lock(m_mutex);
        if (m_queue.empty()) {
            m_isBusy = false;
            m_time.cancel(std::exchange(m_limitTimer, 0));
            const auto finished = std::exchange(m_finished, nullptr);
            lock.unlock();
            if (finished)
                finished();
            return;
        }
        sending->told = std::move(m_queue.front());
        m_queue.pop_front();
        lock.unlock();
        const Told &told = sending->told;
        const std::optional<CorrelatedEvent> event = m_correlator.correlate(
            {identityOf(told.involved), told.type, told.reason}, told.message, told.name, told.utc);
        if (!event)
            continue;
        if (told.type == QLatin1StringView("Warning") && !event->isPatch)
            logWarning(told);
        sending->event = *event;
        sending->event.message = shortened(event->message); // it may have got a prefix
        sending->isPatch = event->isPatch;
        send(sending);
        return;
    }
}

QByteArray PluginEvents::Core::body(const Sending &sending) const
{
    const Told &told = sending.told;
    const CorrelatedEvent &event = sending.event;
    if (sending.isPatch)
        return QJsonDocument(QJsonObject{{QStringLiteral("count"), event.count},
                                 {QStringLiteral("message"), event.message},
                                 {QStringLiteral("lastTimestamp"), support::rfc3339(told.utc, 0)}})
            .toJson(QJsonDocument::Compact);
    const QString host = QSysInfo::machineHostName();
    const QJsonObject json{{QStringLiteral("apiVersion"), QStringLiteral("v1")},
        {QStringLiteral("kind"), QStringLiteral("Event")},
        {QStringLiteral("metadata"),
            QJsonObject{{QStringLiteral("name"), event.name},
                {QStringLiteral("namespace"), told.namespaceName}}},
        {QStringLiteral("involvedObject"), told.involved}, {QStringLiteral("reason"), told.reason},
        {QStringLiteral("message"), event.message},
        {QStringLiteral("source"),
            QJsonObject{{QStringLiteral("component"), m_identity.pluginId},
                {QStringLiteral("host"), host}}},
        {QStringLiteral("reportingComponent"), m_identity.pluginId},
        {QStringLiteral("reportingInstance"), host},
        {QStringLiteral("firstTimestamp"), support::rfc3339(event.firstTime, 0)},
        {QStringLiteral("lastTimestamp"), support::rfc3339(told.utc, 0)},
        {QStringLiteral("count"), event.count}, {QStringLiteral("type"), told.type}};
    return QJsonDocument(json).toJson(QJsonDocument::Compact);
}

void PluginEvents::Core::send(const std::shared_ptr<Sending> &sending)
{
    const transport::Resource &resource = eventResource();
    const ObjectKey key{sending->told.namespaceName, sending->event.name};
    Call call;
    call.request.userAgent = m_identity.userAgent();
    call.request.body = body(*sending);
    call.request.permit = m_identity.permit;
    Status status;
    if (sending->isPatch) {
        call.operation = QStringLiteral("patch Event ") + toString(key);
        call.request.method = "PATCH";
        call.request.contentType = "application/strategic-merge-patch+json";
        status = transport::objectTarget(resource, key, QString(), {}, &call.request.target);
    } else {
        call.operation = QStringLiteral("create Event ") + toString(key);
        call.request.method = "POST";
        call.request.contentType = "application/json";
        call.request.target = transport::collectionTarget(resource, key.namespaceName);
    }
    if (status.isOk())
        status = m_identity.rbac.check(call.operation,
            {sending->isPatch ? QStringLiteral("patch") : QStringLiteral("create"), QString(),
                resource.plural, QString(), sending->isPatch ? key.name : QString()});
    if (!status.isOk()) {
        logRefusal(status.error());
        m_rest.executor().post([self = shared_from_this()] { self->next(); });
        return;
    }
    ++sending->tries;
    m_rest.send(call, [self = shared_from_this(), sending](const RawReply &reply) {
        self->answered(sending, reply);
    });
}

void PluginEvents::Core::answered(const std::shared_ptr<Sending> &sending, const RawReply &reply)
{
    if (m_identity.observer)
        m_identity.observer->called(m_identity.pluginId,
            sending->isPatch ? QStringLiteral("patch") : QStringLiteral("create"),
            reply.httpStatus);
    if (sending->isPatch && reply.error.code() == ErrorCode::NotFound) {
        sending->isPatch = false; // it expired: made anew, with its count (E-6)
        sending->event.name = sending->told.name;
        sending->tries = 0;
        send(sending);
        return;
    }
    const bool triesLeft = sending->tries < kMaxTries;
    if (isTransportError(reply) && triesLeft) {
        const double part = sending->tries == 1 ? QRandomGenerator::global()->generateDouble() : 1;
        m_time.callAfter(std::chrono::duration_cast<std::chrono::nanoseconds>(part * kRetryDelay),
            m_rest.executor(), [weak = weak_from_this(), sending] {
                if (const auto self = weak.lock())
                    self->retry(sending);
            });
        return;
    }
    if (reply.error.isError() && !isQuiet(reply.error))
        logRefusal(reply.error);
    next();
}

// Under m_mutex. The first loss is told, the metric counts all.
void PluginEvents::Core::countDropped(quint64 events)
{
    if (events == 0)
        return;
    if (m_dropped == 0)
        m_log.warning("events are dropped: more come than can be written, or the end came first; "
                      "this is told once",
            {{"plugin", m_identity.pluginId}, {"waitingEvents", qulonglong(m_queue.size())}});
    m_dropped += events;
    if (m_identity.observer)
        m_identity.observer->eventsDropped(m_identity.pluginId, events);
}

void PluginEvents::Core::logWarning(const Told &told) const
{
    const auto text = [&told](const char *name) {
        return told.involved.value(QLatin1StringView(name)).toString();
    };
    m_log.warning("warning event",
        {{"plugin", m_identity.pluginId}, {"kind", text("kind")},
            {"object", toString(ObjectKey{text("namespace"), text("name")})},
            {"reason", told.reason}, {"note", told.message}});
}

void PluginEvents::Core::logRefusal(const Error &error)
{
    const QString kind = QLatin1StringView(errorCodeName(error.code())) + error.reason();
    if (m_refusals.contains(kind) || m_refusals.size() >= kMaxKnownRefusals)
        return;
    m_refusals.insert(kind);
    m_log.error("an event was not written; this is told once", {{"error", error.message()}});
}

void PluginEvents::Core::retry(const std::shared_ptr<Sending> &sending)
{
    {
        const std::lock_guard lock(m_mutex);
        if (m_phase == Phase::Closed) {
            countDropped(1);
            m_isBusy = false;
            return;
        }
    }
    send(sending);
}

void PluginEvents::Core::finish(std::chrono::nanoseconds limit, std::function<void()> done)
{
    const std::lock_guard lock(m_mutex);
    if (m_phase != Phase::Open || !m_isBusy) {
        m_phase = Phase::Closed;
        m_rest.executor().post(std::move(done));
        return;
    }
    m_phase = Phase::Finishing;
    m_finished = std::move(done);
    m_limitTimer = m_time.callAfter(
        limit, m_rest.executor(), [self = shared_from_this()] { self->close(); });
}

void PluginEvents::Core::close()
{
    const std::lock_guard lock(m_mutex);
    m_phase = Phase::Closed;
    countDropped(m_queue.size());
    m_queue.clear();
    m_time.cancel(std::exchange(m_limitTimer, 0));
    if (m_finished)
        m_rest.executor().post(std::exchange(m_finished, nullptr));
}

quint64 PluginEvents::Core::dropped() const
{
    const std::lock_guard lock(m_mutex);
    return m_dropped;
}

PluginEvents::PluginEvents(
    const ClientIdentity &identity, RestClient &rest, support::TimeSource &time, const Logger &log)
    : m_core(std::make_shared<Core>(identity, rest, time, log))
{ }

PluginEvents::~PluginEvents() = default;

void PluginEvents::record(const Object &regarding, EventSeverity severity, const QString &reason,
    const QString &note) noexcept
{
    m_core->record(regarding, severity, reason, note);
}

void PluginEvents::finish(std::chrono::nanoseconds limit, std::function<void()> done)
{
    m_core->finish(limit, std::move(done));
}

void PluginEvents::close()
{
    m_core->close();
}

quint64 PluginEvents::droppedEvents() const
{
    return m_core->dropped();
}

} // namespace davit::client
