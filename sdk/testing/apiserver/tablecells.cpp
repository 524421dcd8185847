// The table form: what kubectl get prints of each kind.
#include "objectview.h"

#include <QtCore/qdatetime.h>

namespace davit::testing::apiserver {
namespace {

using support::membersOf;
using support::stringMember;

struct Column
{
    std::string name;
    std::string type;
    std::string format;
    std::function<Json(const Json &object)> cell;
    int priority = 0;
};

// As kubectl prints ages: 45s, 3m10s, 25m, 5h2m, 30h, 4d.
std::string ageOf(const std::string &timestamp)
{
    const QDateTime then = QDateTime::fromString(QString::fromStdString(timestamp), Qt::ISODate);
    if (!then.isValid())
        return "<unknown>";
    const qint64 seconds = qMax<qint64>(0, then.secsTo(QDateTime::currentDateTimeUtc()));
    const qint64 minutes = seconds / 60;
    const qint64 hours = minutes / 60;
    const auto pair = [](qint64 big, const char *bigUnit, qint64 small, const char *smallUnit) {
        return std::to_string(big) + bigUnit
            + (small ? std::to_string(small) + smallUnit : std::string());
    };
    if (seconds < 120)
        return std::to_string(seconds) + "s";
    if (minutes < 10)
        return pair(minutes, "m", seconds % 60, "s");
    if (hours < 3)
        return std::to_string(minutes) + "m";
    if (hours < 8)
        return pair(hours, "h", minutes % 60, "m");
    if (hours < 48)
        return std::to_string(hours) + "h";
    return std::to_string(hours / 24) + "d";
}

// A dotted path without lists; null when it leads nowhere.
Json at(const Json &object, const std::string &dotted)
{
    std::string pointer = dotted.empty() || dotted[0] == '.' ? dotted : "." + dotted;
    for (char &c : pointer)
        if (c == '.')
            c = '/';
    const Json::json_pointer place(pointer);
    return object.contains(place) ? object.at(place) : Json();
}

Json textOr(const Json &value, const char *otherwise)
{
    return value.is_null() || value == Json("") ? Json(otherwise) : value;
}

Column nameColumn()
{
    return {"Name", "string", "name", [](const Json &object) {
                return Json(stringMember(membersOf(object, "metadata"), "name"));
            }};
}

Column ageColumn()
{
    return {"Age", "string", "", [](const Json &object) {
                return Json(
                    ageOf(stringMember(membersOf(object, "metadata"), "creationTimestamp")));
            }};
}

Column valueColumn(const char *name, const char *path, const char *otherwise = "")
{
    return {name, "string", "", [path = std::string(path), otherwise](const Json &object) {
                return textOr(at(object, path), otherwise);
            }};
}

Column numberColumn(const char *name, const char *path)
{
    return {name, "integer", "", [path = std::string(path)](const Json &object) {
                const Json value = at(object, path);
                return value.is_number() ? value : Json(0);
            }};
}

Column dataColumn()
{
    return {"Data", "integer", "", [](const Json &object) {
                return Json(
                    membersOf(object, "data").size() + membersOf(object, "binaryData").size());
            }};
}

Column readyColumn(const char *ready, const char *wanted)
{
    return {"Ready", "string", "", [=](const Json &object) {
                const Json have = at(object, ready);
                const Json want = at(object, wanted);
                return Json((have.is_number() ? have.dump() : "0") + "/"
                    + (want.is_number() ? want.dump() : "0"));
            }};
}

Column podReadyColumn()
{
    return {
        "Ready", "string", "", [](const Json &object) {
            int ready = 0;
            for (const Json &status :
                support::itemsOf(membersOf(object, "status"), "containerStatuses"))
                ready += support::boolMember(status, "ready", false) ? 1 : 0;
            return Json(std::to_string(ready) + "/"
                + std::to_string(support::itemsOf(membersOf(object, "spec"), "containers").size()));
        }};
}

Column portsColumn()
{
    return {"Port(s)", "string", "", [](const Json &object) {
                std::string text;
                for (const Json &port : support::itemsOf(membersOf(object, "spec"), "ports"))
                    text += (text.empty() ? "" : ",")
                        + (port.is_object() ? port.value("port", Json(0)) : Json(0)).dump() + "/"
                        + stringMember(port, "protocol");
                return Json(text.empty() ? "<none>" : text);
            }};
}

Column eventObjectColumn()
{
    return {"Object", "string", "", [](const Json &object) {
                const Json &about = membersOf(object, "involvedObject");
                std::string kind = stringMember(about, "kind");
                for (char &c : kind)
                    c = char(std::tolower(static_cast<unsigned char>(c)));
                return Json(kind + "/" + stringMember(about, "name"));
            }};
}

Column lastSeenColumn()
{
    return {"Last Seen", "string", "", [](const Json &object) {
                for (const std::string &time :
                    {stringMember(membersOf(object, "series"), "lastObservedTime"),
                        stringMember(object, "lastTimestamp"),
                        stringMember(object, "firstTimestamp"), stringMember(object, "eventTime")})
                    if (!time.empty())
                        return Json(ageOf(time));
                return Json(ageOf({}));
            }};
}

std::vector<Column> builtInColumns(const Kind &kind)
{
    const std::string &name = kind.kind;
    if (name == "ConfigMap")
        return {nameColumn(), dataColumn(), ageColumn()};
    if (name == "Secret")
        return {nameColumn(), valueColumn("Type", "type"), dataColumn(), ageColumn()};
    if (name == "Namespace" || name == "PersistentVolumeClaim")
        return {nameColumn(), valueColumn("Status", "status.phase"), ageColumn()};
    if (name == "Pod")
        return {nameColumn(), podReadyColumn(), valueColumn("Status", "status.phase"),
            numberColumn("Restarts", "status.containerStatuses.0.restartCount"), ageColumn()};
    if (name == "Deployment")
        return {nameColumn(), readyColumn("status.readyReplicas", "spec.replicas"),
            numberColumn("Up-to-date", "status.updatedReplicas"),
            numberColumn("Available", "status.availableReplicas"), ageColumn()};
    if (name == "StatefulSet")
        return {nameColumn(), readyColumn("status.readyReplicas", "spec.replicas"), ageColumn()};
    if (name == "ReplicaSet" || name == "ReplicationController")
        return {nameColumn(), numberColumn("Desired", "spec.replicas"),
            numberColumn("Current", "status.replicas"),
            numberColumn("Ready", "status.readyReplicas"), ageColumn()};
    if (name == "Service")
        return {nameColumn(), valueColumn("Type", "spec.type"),
            valueColumn("Cluster-IP", "spec.clusterIP", "None"),
            valueColumn("External-IP", "spec.externalName", "<none>"), portsColumn(), ageColumn()};
    if (name == "Event")
        return {lastSeenColumn(), valueColumn("Type", "type"), valueColumn("Reason", "reason"),
            eventObjectColumn(), valueColumn("Message", "message")};
    if (name == "Lease")
        return {nameColumn(), valueColumn("Holder", "spec.holderIdentity"), ageColumn()};
    if (name == "CustomResourceDefinition")
        return {nameColumn(), valueColumn("Created At", "metadata.creationTimestamp")};
    return {nameColumn(), ageColumn()};
}

std::vector<Column> columnsOf(const Kind &kind)
{
    if (kind.isBuiltIn)
        return builtInColumns(kind);
    std::vector<Column> columns{nameColumn()};
    for (const PrinterColumn &column : kind.columns)
        columns.push_back({column.name, column.type, "",
            [path = column.jsonPath, type = column.type](const Json &object) {
                const Json value = at(object, path);
                return type == "date" && value.is_string() ? Json(ageOf(value.get<std::string>()))
                                                           : value;
            },
            column.priority});
    if (kind.columns.empty())
        columns.push_back(ageColumn());
    return columns;
}

} // namespace

Json tableColumns(const Kind &kind)
{
    Json list = Json::array();
    for (const Column &column : columnsOf(kind))
        list.push_back({{"name", column.name}, {"type", column.type}, {"format", column.format},
            {"description", ""}, {"priority", column.priority}});
    return list;
}

Json tableCells(const Kind &kind, const Json &object)
{
    Json cells = Json::array();
    for (const Column &column : columnsOf(kind))
        cells.push_back(column.cell(object));
    return cells;
}

} // namespace davit::testing::apiserver
