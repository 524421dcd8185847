#include "admission.h"

#include "crdshape.h"
#include "eventviews.h"
#include "microtime.h"
#include "objectshape.h"

#include <QtCore/qdatetime.h>
#include <QtCore/qrandom.h>
#include <QtCore/quuid.h>
#include <algorithm>

namespace davit::testing::apiserver {
namespace {

constexpr const char *kSubdomainRule
    = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
      "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
      "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char *kLabelRule
    = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
      "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
      "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

bool isLabel(const std::string &text)
{
    const auto isEdge = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    return !text.empty() && isEdge(text.front()) && isEdge(text.back())
        && std::all_of(text.begin(), text.end(), [&](char c) { return isEdge(c) || c == '-'; });
}

bool isSubdomain(const std::string &text)
{
    std::size_t start = 0;
    for (;;) {
        const std::size_t dot = text.find('.', start);
        if (!isLabel(text.substr(start, dot == std::string::npos ? dot : dot - start)))
            return false;
        if (dot == std::string::npos)
            return true;
        start = dot + 1;
    }
}

// Letters, digits, '-', '_' and '.', ends alphanumeric, at most 63; may be empty for a value.
bool isLabelText(const std::string &text)
{
    const auto isEdge = [](unsigned char c) { return c < 128 && std::isalnum(c); };
    return text.size() <= 63 && (text.empty() || (isEdge(text.front()) && isEdge(text.back())))
        && std::all_of(text.begin(), text.end(),
            [&](char c) { return isEdge(c) || c == '-' || c == '_' || c == '.'; });
}

std::string nameFault(const Kind &kind, const std::string &name)
{
    switch (kind.nameRule) {
    case NameRule::Subdomain:
        if (name.size() > 253)
            return "must be no more than 253 characters";
        return isSubdomain(name) ? "" : kSubdomainRule;
    case NameRule::Label:
        if (name.size() > 63)
            return "must be no more than 63 characters";
        return isLabel(name) ? "" : kLabelRule;
    case NameRule::PathSegment:
        break;
    }
    if (name == "." || name == "..")
        return "may not be '" + name + "'";
    return name.find_first_of("/%") == std::string::npos ? "" : "may not contain '/' or '%'";
}

std::string quoted(const std::string &text)
{
    return '"' + text + '"';
}

const Json &memberOrNull(const Json &object, const char *name)
{
    static const Json null;
    const auto found = object.find(name);
    return found != object.end() ? *found : null;
}

bool isTrue(const Json &object, const char *name)
{
    return memberOrNull(object, name) == Json(true);
}

void setDefault(Json &object, const char *name, Json value)
{
    if (memberOrNull(object, name).is_null())
        object[name] = std::move(value);
}

ApiFault unmarshalFault(const Kind &kind, const std::string &what)
{
    return badRequest(kind.kind + " in version \"" + kind.version + "\" cannot be handled as a "
        + kind.kind + ": " + what);
}

void defaultSecret(Json &secret)
{
    const Json plain = support::membersOf(secret, "stringData"); // a copy: "data" may move it
    if (!plain.empty()) {
        Json &data = secret["data"];
        if (!data.is_object())
            data = Json::object();
        for (const auto &[name, value] : plain.items())
            if (value.is_string())
                data[name] = support::toStdString(
                    QByteArray::fromStdString(value.get<std::string>()).toBase64());
    }
    secret.erase("stringData");
    setDefault(secret, "type", "Opaque");
}

void defaultNamespace(Json &object, bool isNew)
{
    Json &metadata = object["metadata"];
    metadata["labels"]["kubernetes.io/metadata.name"] = support::stringMember(metadata, "name");
    if (isNew) {
        object["spec"] = {{"finalizers", Json::array({"kubernetes"})}};
        object["status"] = {{"phase", "Active"}};
    }
}

void defaultService(Json &service)
{
    Json &spec = service["spec"];
    setDefault(spec, "type", "ClusterIP");
    setDefault(spec, "sessionAffinity", "None");
    if (spec["type"] != "ExternalName")
        setDefault(spec, "clusterIP",
            "10.96." + std::to_string(QRandomGenerator::global()->bounded(256)) + "."
                + std::to_string(1 + QRandomGenerator::global()->bounded(254)));
    if (spec.contains("ports") && spec["ports"].is_array()) {
        for (Json &port : spec["ports"]) {
            setDefault(port, "protocol", "TCP");
            setDefault(port, "targetPort", memberOrNull(port, "port"));
        }
    }
    setDefault(service, "status", {{"loadBalancer", Json::object()}});
}

void defaultPod(Json &pod, bool isNew)
{
    Json &spec = pod["spec"];
    setDefault(spec, "restartPolicy", "Always");
    setDefault(spec, "terminationGracePeriodSeconds", 30);
    setDefault(spec, "dnsPolicy", "ClusterFirst");
    setDefault(spec, "schedulerName", "default-scheduler");
    if (isNew)
        pod["status"] = {{"phase", "Pending"}, {"qosClass", "BestEffort"}};
}

void defaultWorkload(const Kind &kind, Json &object)
{
    if (kind.kind != "DaemonSet")
        setDefault(object["spec"], "replicas", 1);
    if (kind.kind == "Deployment") {
        Json &spec = object["spec"];
        setDefault(spec, "strategy",
            {{"type", "RollingUpdate"},
                {"rollingUpdate", {{"maxUnavailable", "25%"}, {"maxSurge", "25%"}}}});
        setDefault(spec, "revisionHistoryLimit", 10);
        setDefault(spec, "progressDeadlineSeconds", 600);
    }
}

// data, binaryData and immutable of an immutable ConfigMap or Secret; the type of a Secret.
void immutabilityCauses(const Json &before, const Json &after, std::vector<Cause> *causes)
{
    if (!isTrue(before, "immutable"))
        return;
    const char *why = "field is immutable when `immutable` is set";
    if (!isTrue(after, "immutable"))
        causes->push_back({"FieldValueForbidden", std::string("Forbidden: ") + why, "immutable"});
    for (const char *member : {"data", "binaryData"})
        if (!support::isSameJson(memberOrNull(before, member), memberOrNull(after, member)))
            causes->push_back({"FieldValueForbidden", std::string("Forbidden: ") + why, member});
}

void ownerCauses(const Json &owners, std::vector<Cause> *causes)
{
    for (std::size_t i = 0; i < owners.size(); ++i)
        for (const char *member : {"apiVersion", "kind", "name", "uid"})
            if (support::stringMember(owners[i], member).empty())
                causes->push_back({"FieldValueRequired", "Required value: must not be empty",
                    "metadata.ownerReferences[" + std::to_string(i) + "]." + member});
}

bool isCrd(const Kind &kind)
{
    return kind.isBuiltIn && kind.group == "apiextensions.k8s.io";
}

} // namespace

std::string timestampNow()
{
    return QDateTime::currentDateTimeUtc().toString(Qt::ISODate).toStdString();
}

std::string newUid()
{
    return QUuid::createUuid().toString(QUuid::WithoutBraces).toStdString();
}

std::string generatedName(
    const std::string &prefix, const std::function<bool(const std::string &)> &isTaken)
{
    static constexpr char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    std::string name;
    for (int attempt = 0; attempt < kNameAttempts; ++attempt) {
        name = prefix.substr(0, 58);
        for (int i = 0; i < 5; ++i)
            name += letters[QRandomGenerator::global()->bounded(int(sizeof(letters) - 1))];
        if (!isTaken(name))
            break;
    }
    return name;
}

ApiFault checkNames(const Kind &kind, const Json &object)
{
    const Json &metadata = object.at("metadata");
    const std::string name = support::stringMember(metadata, "name");
    std::vector<Cause> causes;
    if (name.empty())
        causes.push_back({"FieldValueRequired", "Required value: name or generateName is required",
            "metadata.name"});
    else if (const std::string why = nameFault(kind, name); !why.empty())
        causes.push_back(
            {"FieldValueInvalid", "Invalid value: " + quoted(name) + ": " + why, "metadata.name"});
    ownerCauses(support::itemsOf(metadata, "ownerReferences"), &causes);
    for (const auto &[key, value] : support::membersOf(metadata, "labels").items())
        if (value.is_string() && !isLabelText(value.get<std::string>()))
            causes.push_back({"FieldValueInvalid",
                "Invalid value: " + value.dump()
                    + ": a valid label must be an empty string or consist of alphanumeric "
                      "characters, '-', '_' or '.', and must start and end with an "
                      "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
                      "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
                "metadata.labels"});
    if (isCrd(kind))
        for (Cause &cause : crdCauses(object))
            causes.push_back(std::move(cause));
    if (!causes.empty())
        return invalid(kind, name, causes);
    return {};
}

ApiFault checkShape(const Kind &kind, const Json &object)
{
    if (const std::string wrong = wrongShape(kind, object); !wrong.empty())
        return unmarshalFault(kind, wrong);
    return isCrd(kind) ? crdShapeFault(kind, object) : ApiFault();
}

void setDefaults(const Kind &kind, Json &object, bool isNew)
{
    fillNullTexts(kind, object);
    writeMicroTimes(kind, object);
    if (!kind.isBuiltIn)
        return;
    if (kind.kind == "Secret")
        defaultSecret(object);
    else if (kind.kind == "Namespace")
        defaultNamespace(object, isNew);
    else if (kind.kind == "Service")
        defaultService(object);
    else if (kind.kind == "Pod")
        defaultPod(object, isNew);
    else if (kind.hasScale() || kind.kind == "DaemonSet")
        defaultWorkload(kind, object);
    for (const char *member : {"data", "binaryData"})
        if (const Json &value = memberOrNull(object, member);
            object.contains(member) && (value.is_null() || value.empty()))
            object.erase(member);
    if (isNew && kind.hasStatus)
        setDefault(object, "status", Json::object());
}

ApiFault checkUpdate(const Kind &kind, const Json &before, const Json &after)
{
    std::vector<Cause> causes;
    const Json &old = before.at("metadata");
    const Json &metadata = after.at("metadata");
    if (old.contains("deletionTimestamp")) {
        const Json &had = support::itemsOf(old, "finalizers");
        std::string added;
        for (const Json &finalizer : support::itemsOf(metadata, "finalizers"))
            if (std::find(had.begin(), had.end(), finalizer) == had.end())
                added += (added.empty() ? "" : ", ") + finalizer.dump();
        if (!added.empty())
            causes.push_back({"FieldValueForbidden",
                "Forbidden: no new finalizers can be added if the object is being deleted, found "
                "new finalizers []string{"
                    + added + "}",
                "metadata.finalizers"});
    }
    if (kind.group.empty() && (kind.kind == "ConfigMap" || kind.kind == "Secret")) {
        if (kind.kind == "Secret" && memberOrNull(before, "type") != memberOrNull(after, "type"))
            causes.push_back({"FieldValueInvalid",
                "Invalid value: " + memberOrNull(after, "type").dump() + ": field is immutable",
                "type"});
        immutabilityCauses(before, after, &causes);
    }
    const bool hasSelector = kind.group == "apps" && (kind.hasScale() || kind.kind == "DaemonSet");
    if (hasSelector) {
        const Json &oldSpec = memberOrNull(before, "spec");
        const Json &spec = memberOrNull(after, "spec");
        if (oldSpec.is_object() && spec.is_object()
            && !support::isSameJson(
                memberOrNull(oldSpec, "selector"), memberOrNull(spec, "selector")))
            causes.push_back({"FieldValueInvalid",
                "Invalid value: " + memberOrNull(spec, "selector").dump() + ": field is immutable",
                "spec.selector"});
    }
    if (!causes.empty())
        return invalid(kind, support::stringMember(metadata, "name"), causes);
    return isEvent(kind) ? checkEvent(kind, before, after) : ApiFault();
}

void tidyMetadata(Json &object)
{
    static const std::vector<std::string> order{"name", "generateName", "namespace", "uid",
        "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
        "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers",
        "managedFields"};
    Json &metadata = object["metadata"];
    Json tidy = Json::object();
    for (const std::string &name : order) {
        const auto member = metadata.find(name);
        const bool isEmpty = member == metadata.end() || member->is_null()
            || ((member->is_object() || member->is_array()) && member->empty());
        if (!isEmpty)
            tidy[name] = std::move(*member);
    }
    metadata = std::move(tidy);
    Json ordered = Json::object(); // metadata first, as the server writes its built-in kinds
    ordered["metadata"] = std::move(metadata);
    for (auto &[name, value] : object.items())
        if (name != "metadata")
            ordered[name] = std::move(value);
    object = std::move(ordered);
}

} // namespace davit::testing::apiserver
