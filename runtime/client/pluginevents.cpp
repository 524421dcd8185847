#include "pluginevents.h"

#include "eventsender.h"

#include <davit/eventrecorder.h>

#include <QtCore/quuid.h>

namespace davit::client {
namespace {

constexpr qsizetype kMaxNameLength = 253;

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

} // namespace

PluginEvents::PluginEvents(
    const ClientIdentity &identity, RestClient &rest, support::TimeSource &time, const Logger &log)
    : m_pluginId(identity.pluginId)
    , m_permit(identity.permit)
    , m_time(time)
    , m_log(log)
    , m_sender(std::make_shared<EventSender>(identity, rest, time, log))
{ }

PluginEvents::~PluginEvents() = default;

bool PluginEvents::mayTell(
    const Object &regarding, EventSeverity severity, const QString &reason) const
{
    if (severity != EventSeverity::Normal && severity != EventSeverity::Warning) {
        m_log.error(
            "an event has no severity", {{"plugin", m_pluginId}, {"reason", reason}}); // E-2
        return false;
    }
    if (regarding.isNull()) {
        m_log.error("an event is about no object", {{"plugin", m_pluginId}, {"reason", reason}});
        return false;
    }
    return !m_permit || m_permit->isValid(); // else the one that leads tells it
}

ToldEvent PluginEvents::told(const Object &regarding, EventSeverity severity, const QString &reason,
    const QString &note) const
{
    ToldEvent told;
    told.regarding = reference(regarding);
    told.type
        = severity == EventSeverity::Normal ? QStringLiteral("Normal") : QStringLiteral("Warning");
    told.reason = reason;
    told.note = shortenedNote(note);
    told.utc = m_time.utc();
    told.monotonic = m_time.monotonic();
    const QString space = regarding.namespaceName();
    told.key = {
        space.isEmpty() ? QStringLiteral("default") : space, eventName(regarding.name(), told.utc)};
    return told;
}

void PluginEvents::record(const Object &regarding, EventSeverity severity, const QString &reason,
    const QString &note) noexcept
{
    if (mayTell(regarding, severity, reason))
        m_sender->tell(told(regarding, severity, reason, note));
}

void PluginEvents::recordAction(const Object &regarding, const Object &related,
    EventSeverity severity, const QString &reason, const QString &action,
    const QString &note) noexcept
{
    if (!mayTell(regarding, severity, reason))
        return;
    if (reason.isEmpty() || action.isEmpty()) { // the server would refuse it (E-15)
        m_log.error("an event lacks its reason or its action",
            {{"plugin", m_pluginId}, {"reason", reason}, {"action", action}});
        return;
    }
    ToldEvent event = told(regarding, severity, reason, note);
    event.action = action;
    if (!related.isNull())
        event.related = reference(related);
    m_sender->tell(std::move(event));
}

void PluginEvents::finish(std::chrono::nanoseconds limit, std::function<void()> done)
{
    m_sender->finish(limit, std::move(done));
}

void PluginEvents::close()
{
    m_sender->close();
}

quint64 PluginEvents::droppedEvents() const
{
    return m_sender->droppedEvents();
}

} // namespace davit::client
