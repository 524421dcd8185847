#include "coreeventform.h"

#include <QtCore/qjsondocument.h>
#include <QtCore/qsysinfo.h>
#include <support/rfc3339.h>

namespace davit::client {
namespace {

using namespace std::chrono_literals;

constexpr auto kRetryDelay = 10s;

QByteArray patchOf(const ToldEvent &told, const CorrelatedEvent &event)
{
    return QJsonDocument(QJsonObject{{QStringLiteral("count"), event.count},
                             {QStringLiteral("message"), event.message},
                             {QStringLiteral("lastTimestamp"), support::rfc3339(told.utc, 0)}})
        .toJson(QJsonDocument::Compact);
}

} // namespace

CoreEventForm::CoreEventForm(const QString &component)
    : m_component(component), m_host(QSysInfo::machineHostName())
{ }

const transport::Resource &CoreEventForm::resource() const
{
    static const transport::Resource resource{
        {QString(), QStringLiteral("v1"), QStringLiteral("Event")}, QStringLiteral("events"), true};
    return resource;
}

std::chrono::nanoseconds CoreEventForm::retryDelay(int tries, double random) const
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        (tries == 1 ? random : 1) * kRetryDelay);
}

std::vector<EventWrite> CoreEventForm::told(const ToldEvent &told)
{
    std::optional<CorrelatedEvent> event = m_correlator.correlate(
        {identityOf(told.regarding), told.type, told.reason}, told.note, told.key.name, told.utc);
    if (!event)
        return {};
    event->message = shortenedNote(event->message); // it may have got a prefix
    EventWrite write{told.key, object(told, *event)}; // one that expired keeps its count (E-6)
    if (event->isPatch) {
        write.patch = patchOf(told, *event);
        write.patched = event->name;
    }
    return {write};
}

QByteArray CoreEventForm::object(const ToldEvent &told, const CorrelatedEvent &event) const
{
    const QJsonObject json{{QStringLiteral("apiVersion"), QStringLiteral("v1")},
        {QStringLiteral("kind"), QStringLiteral("Event")},
        {QStringLiteral("metadata"),
            QJsonObject{{QStringLiteral("name"), told.key.name},
                {QStringLiteral("namespace"), told.key.namespaceName}}},
        {QStringLiteral("involvedObject"), told.regarding}, {QStringLiteral("reason"), told.reason},
        {QStringLiteral("message"), event.message},
        {QStringLiteral("source"),
            QJsonObject{
                {QStringLiteral("component"), m_component}, {QStringLiteral("host"), m_host}}},
        {QStringLiteral("reportingComponent"), m_component},
        {QStringLiteral("reportingInstance"), m_host},
        {QStringLiteral("firstTimestamp"), support::rfc3339(event.firstTime, 0)},
        {QStringLiteral("lastTimestamp"), support::rfc3339(told.utc, 0)},
        {QStringLiteral("count"), event.count}, {QStringLiteral("type"), told.type}};
    return QJsonDocument(json).toJson(QJsonDocument::Compact);
}

} // namespace davit::client
