#include "reviews.h"

#include "faults.h"

namespace davit::testing::apiserver {
namespace {

Json statusOf(const std::string &kind)
{
    if (kind == "SelfSubjectReview")
        return {{"userInfo",
            {{"username", "embedded"}, {"groups", {"system:masters", "system:authenticated"}}}}};
    return {{"allowed", true}, {"reason", "the embedded API server allows everything"}};
}

// The review with its answer; `group` and `kind` are those of the path.
ApiReply review(const ApiRequest &request, const std::string &group, const std::string &kind)
{
    Json body;
    QString error;
    if (!support::parseJson(
            QByteArrayView(request.body.data(), qsizetype(request.body.size())), &body, &error)
        || !body.is_object())
        return replyOf(badRequest("the body is no " + kind + " in JSON"));
    Json answer = {{"kind", kind}, {"apiVersion", group + "/v1"}, {"metadata", Json::object()}};
    if (body.contains("spec"))
        answer["spec"] = body["spec"];
    answer["status"] = statusOf(kind);
    ApiReply reply;
    reply.code = 201;
    reply.body = support::toStdString(support::dumpJson(answer));
    return reply;
}

} // namespace

bool answerReview(const ApiRequest &request, const std::vector<std::string> &parts, ApiReply *reply)
{
    if (parts.size() != 4 || parts[0] != "apis" || parts[2] != "v1")
        return false;
    std::string kind;
    if (parts[1] == "authentication.k8s.io" && parts[3] == "selfsubjectreviews")
        kind = "SelfSubjectReview";
    else if (parts[1] == "authorization.k8s.io" && parts[3] == "selfsubjectaccessreviews")
        kind = "SelfSubjectAccessReview";
    else
        return false;
    *reply
        = request.method == "POST" ? review(request, parts[1], kind) : replyOf(methodNotAllowed());
    return true;
}

} // namespace davit::testing::apiserver
