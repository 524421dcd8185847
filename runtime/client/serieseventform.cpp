#include "serieseventform.h"

#include <QtCore/qjsondocument.h>
#include <QtCore/qsysinfo.h>
#include <support/rfc3339.h>

namespace davit::client {
namespace {

using namespace std::chrono_literals;

constexpr auto kRetryDelay = 10s;
constexpr double kRetryJitter = 0.25;
constexpr qsizetype kMaxInstanceLength = 128; // the server refuses more
constexpr int kMicroTime = 6; // digits

QJsonObject seriesOf(const SeriesWrite &write)
{
    return {{QStringLiteral("count"), write.count},
        {QStringLiteral("lastObservedTime"), support::rfc3339(write.lastTime, kMicroTime)}};
}

QByteArray compact(const QJsonObject &object)
{
    return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

} // namespace

SeriesEventForm::SeriesEventForm(const QString &controller)
    : m_controller(controller)
    , m_instance(
          (controller + QLatin1Char('-') + QSysInfo::machineHostName()).left(kMaxInstanceLength))
{ }

const transport::Resource &SeriesEventForm::resource() const
{
    static const transport::Resource resource{
        {QStringLiteral("events.k8s.io"), QStringLiteral("v1"), QStringLiteral("Event")},
        QStringLiteral("events"), true};
    return resource;
}

std::chrono::nanoseconds SeriesEventForm::retryDelay(int, double random) const
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        (1 + kRetryJitter * random) * kRetryDelay);
}

std::vector<EventWrite> SeriesEventForm::told(const ToldEvent &event)
{
    std::vector<EventWrite> writes;
    for (const SeriesWrite &one : m_series.told(event))
        writes.push_back(write(one));
    return writes;
}

std::optional<EventWrite> SeriesEventForm::due(std::chrono::nanoseconds monotonic)
{
    const std::optional<SeriesWrite> next = m_series.due(monotonic);
    return next ? std::optional(write(*next)) : std::nullopt;
}

// An event that has gone is made anew under its name, so that the patches to come find it.
EventWrite SeriesEventForm::write(const SeriesWrite &write) const
{
    const ToldEvent &told = write.first;
    QJsonObject json{{QStringLiteral("apiVersion"), apiVersion(resource().gvk)},
        {QStringLiteral("kind"), QStringLiteral("Event")},
        {QStringLiteral("metadata"),
            QJsonObject{{QStringLiteral("name"), told.key.name},
                {QStringLiteral("namespace"), told.key.namespaceName}}},
        {QStringLiteral("eventTime"), support::rfc3339(told.utc, kMicroTime)},
        {QStringLiteral("reportingController"), m_controller},
        {QStringLiteral("reportingInstance"), m_instance}, {QStringLiteral("action"), told.action},
        {QStringLiteral("reason"), told.reason}, {QStringLiteral("regarding"), told.regarding},
        {QStringLiteral("note"), told.note}, {QStringLiteral("type"), told.type}};
    if (!told.related.isEmpty())
        json.insert(QStringLiteral("related"), told.related);
    if (write.count == 1)
        return {told.key, compact(json)};
    const QString series = QStringLiteral("series");
    json.insert(series, seriesOf(write));
    return {told.key, compact(json), compact({{series, json.value(series)}}), told.key.name};
}

} // namespace davit::client
