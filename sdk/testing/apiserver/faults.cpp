#include "faults.h"

#include <support/gotext.h>

namespace davit::testing::apiserver {
namespace {

std::string quoted(const std::string &text)
{
    return '"' + text + '"';
}

Json detailsOf(const Kind &kind, const std::string &name)
{
    Json details = Json::object();
    details["name"] = name;
    if (!kind.group.empty())
        details["group"] = kind.group;
    details["kind"] = kind.plural;
    return details;
}

Json causesJson(const std::vector<Cause> &causes)
{
    Json list = Json::array();
    for (const Cause &cause : causes) {
        Json item{{"reason", cause.reason}, {"message", cause.message}};
        if (!cause.field.empty())
            item["field"] = cause.field;
        list.push_back(std::move(item));
    }
    return list;
}

std::string joined(const std::vector<Cause> &causes)
{
    std::string text;
    for (const Cause &cause : causes)
        text += (text.empty() ? "" : ", ") + cause.field + ": " + cause.message;
    return causes.size() > 1 ? "[" + text + "]" : text;
}

} // namespace

ApiFault notFound(const Kind &kind, const std::string &name)
{
    return {404, "NotFound", kind.resource() + " " + quoted(name) + " not found",
        detailsOf(kind, name), {}};
}

ApiFault noSuchResource()
{
    return {404, "NotFound", "the server could not find the requested resource", {}, {}};
}

ApiFault alreadyExists(const Kind &kind, const std::string &name)
{
    return {409, "AlreadyExists", kind.resource() + " " + quoted(name) + " already exists",
        detailsOf(kind, name), {}};
}

ApiFault noUniqueName(const Kind &kind, const std::string &name)
{
    ApiFault fault = alreadyExists(kind, name);
    fault.message += ", the server was not able to generate a unique name for the object";
    fault.details["retryAfterSeconds"] = 1;
    return fault;
}

ApiFault conflict(const Kind &kind, const std::string &name, const std::string &why)
{
    return {409, "Conflict",
        "Operation cannot be fulfilled on " + kind.resource() + " " + quoted(name) + ": " + why,
        detailsOf(kind, name), {}};
}

ApiFault preconditionFailed(const Kind &kind, const std::string &name, const std::string &why)
{
    ApiFault fault = conflict(kind, name, why);
    fault.message
        = "Operation cannot be fulfilled on " + kind.kind + " " + quoted(name) + ": " + why;
    return fault;
}

ApiFault modifiedConflict(const Kind &kind, const std::string &name)
{
    return conflict(kind, name,
        "the object has been modified; please apply your changes to the latest version and try "
        "again");
}

ApiFault invalid(const Kind &kind, const std::string &name, const std::vector<Cause> &causes)
{
    const std::string qualified = kind.group.empty() ? kind.kind : kind.kind + "." + kind.group;
    ApiFault fault{422, "Invalid",
        qualified + " " + quoted(name) + " is invalid: " + joined(causes), Json::object(), {}};
    fault.details["name"] = name;
    if (!kind.group.empty())
        fault.details["group"] = kind.group;
    fault.details["kind"] = kind.kind;
    fault.details["causes"] = causesJson(causes);
    return fault;
}

ApiFault invalidPatch(const std::string &text, const std::string &why)
{
    const std::vector<Cause> causes{
        {"FieldValueInvalid", "Invalid value: " + Json(text).dump() + ": " + why, "patch"}};
    ApiFault fault{422, "Invalid", " \"\" is invalid: " + joined(causes), Json::object(), {}};
    fault.details["causes"] = causesJson(causes);
    return fault;
}

ApiFault patchFault(const support::PatchOutcome &outcome, const std::string &prefix)
{
    const std::string message = outcome.message.toStdString();
    switch (outcome.fault) {
    case support::PatchFault::NotApplicable:
        return unprocessable();
    case support::PatchFault::TooLarge:
        return {413, "RequestEntityTooLarge", message, {}, {}};
    case support::PatchFault::Unexpected:
        return {500, "", message, {}, {}};
    default:
        return badRequest(prefix + message);
    }
}

ApiFault noMergePatch(const Json &patch)
{
    return badRequest(patch.is_null()
            ? "Invalid JSON Patch"
            : "error decoding patch: " + support::noGoValue(patch, "map[string]interface {}"));
}

ApiFault invalidListOptions(const std::vector<Cause> &causes)
{
    ApiFault fault{422, "Invalid", "ListOptions.meta.k8s.io \"\" is invalid: " + joined(causes),
        Json::object(), {}};
    fault.details = {{"group", "meta.k8s.io"}, {"kind", "ListOptions"}};
    fault.details["causes"] = causesJson(causes);
    return fault;
}

ApiFault badRequest(const std::string &message)
{
    return {400, "BadRequest", message, {}, {}};
}

ApiFault forbidden(const Kind &kind, const std::string &name, const std::string &why)
{
    return {403, "Forbidden", kind.resource() + " " + quoted(name) + " is forbidden: " + why,
        detailsOf(kind, name), {}};
}

ApiFault namespaceTerminating(
    const Kind &kind, const std::string &name, const std::string &namespaceName)
{
    ApiFault fault = forbidden(kind, name,
        "unable to create new content in namespace " + namespaceName
            + " because it is being terminated");
    fault.details["causes"] = causesJson({{"NamespaceTerminating",
        "namespace " + namespaceName + " is being terminated", "metadata.namespace"}});
    return fault;
}

ApiFault expired(const std::string &message)
{
    return {410, "Expired", message, {}, {}};
}

ApiFault tooLargeVersion(unsigned long long wanted, unsigned long long current)
{
    ApiFault fault{504, "Timeout",
        "Timeout: Too large resource version: " + std::to_string(wanted)
            + ", current: " + std::to_string(current),
        Json::object(), {}};
    fault.details["causes"]
        = causesJson({{"ResourceVersionTooLarge", "Too large resource version", ""}});
    fault.details["retryAfterSeconds"] = 1;
    return fault;
}

ApiFault internalError(const std::string &what)
{
    return {500, "InternalError", "Internal error occurred: " + what, {}, {}};
}

ApiFault methodNotAllowed()
{
    return {405, "MethodNotAllowed",
        "the server does not allow this method on the requested resource", {}, {}};
}

ApiFault unsupportedMediaType(const std::string &accepted)
{
    return {415, "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
            + accepted,
        {}, {}};
}

ApiFault notAcceptable()
{
    return {406, "NotAcceptable",
        "only the following media types are accepted: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf",
        {}, {}};
}

ApiFault unprocessable()
{
    return {422, "Invalid", "the server rejected our request due to an error in our request",
        Json::object(), {}};
}

std::string statusJson(const ApiFault &fault)
{
    Json status;
    status["kind"] = "Status";
    status["apiVersion"] = "v1";
    status["metadata"] = Json::object();
    if (!fault.continueToken.empty())
        status["metadata"]["continue"] = fault.continueToken;
    status["status"] = "Failure";
    status["message"] = fault.message;
    if (!fault.reason.empty())
        status["reason"] = fault.reason;
    if (fault.details.is_object() && !fault.details.empty())
        status["details"] = fault.details;
    status["code"] = fault.code;
    return support::toStdString(support::dumpJson(status));
}

ApiReply replyOf(const ApiFault &fault)
{
    ApiReply reply;
    reply.code = fault.code;
    reply.body = statusJson(fault);
    if (fault.details.is_object())
        reply.retryAfterSeconds = fault.details.value("retryAfterSeconds", 0);
    return reply;
}

} // namespace davit::testing::apiserver
