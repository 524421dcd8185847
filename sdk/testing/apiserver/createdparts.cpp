// Subresources that are only created: pods/eviction, serviceaccounts/token.
// Source: the eviction of kube-apiserver 1.37 (registry/core/pod), in its words. Test:
// tst_contract, evictions.
#include "objectwriter.h"

#include <QtCore/qdatetime.h>

namespace davit::testing::apiserver {
namespace {

constexpr const char *kViolation
    = "Cannot evict pod as it would violate the pod's disruption budget.";

std::string phaseOf(const Json &pod)
{
    return support::stringMember(support::membersOf(pod, "status"), "phase");
}

bool isReady(const Json &pod)
{
    for (const Json &condition : support::itemsOf(support::membersOf(pod, "status"), "conditions"))
        if (support::stringMember(condition, "type") == "Ready")
            return support::stringMember(condition, "status") == "True";
    return false;
}

// A pod that does not run, or that goes anyway, is no loss.
bool needsNoBudget(const Json &pod, bool isDeleting)
{
    const std::string phase = phaseOf(pod);
    return isDeleting || phase == "Succeeded" || phase == "Failed" || phase == "Pending";
}

ApiFault tooManyEvictions(const std::string &cause, int retryAfterSeconds)
{
    ApiFault fault{429, "TooManyRequests", kViolation, Json::object(), {}};
    fault.details["causes"] = Json::array();
    fault.details["causes"].push_back({{"reason", "DisruptionBudget"}, {"message", cause}});
    if (retryAfterSeconds > 0)
        fault.details["retryAfterSeconds"] = retryAfterSeconds;
    return fault;
}

int statusNumber(const Json &budget, const char *name)
{
    return support::intMember(support::membersOf(budget, "status"), name);
}

// Whether the budget lets a pod go; `takes` says that it pays for it.
ApiFault askBudget(const std::string &name, const Json &budget, const Json &pod, bool *takes)
{
    *takes = false;
    const std::string policy
        = support::stringMember(support::membersOf(budget, "spec"), "unhealthyPodEvictionPolicy");
    const int desired = statusNumber(budget, "desiredHealthy");
    const int healthy = statusNumber(budget, "currentHealthy");
    if (!isReady(pod) && (policy == "AlwaysAllow" || (healthy >= desired && desired > 0)))
        return {};
    if (statusNumber(budget, "observedGeneration")
        < support::intMember(support::membersOf(budget, "metadata"), "generation"))
        return tooManyEvictions(
            "The disruption budget " + name + " is still being processed by the server.", 10);
    if (statusNumber(budget, "disruptionsAllowed") <= 0)
        return tooManyEvictions("The disruption budget " + name + " needs "
                + std::to_string(desired) + " healthy pods and has " + std::to_string(healthy)
                + " currently",
            0);
    *takes = true;
    return {};
}

} // namespace

ApiReply ObjectWriter::createPart(const Target &target, const ApiRequest &request)
{
    Json body;
    if (const ApiFault fault = parseBody(request, &body); fault.isSet())
        return replyOf(fault);
    const bool isToken = target.subresource == "token";
    if (!isToken
        && support::stringMember(support::membersOf(body, "metadata"), "name") != target.name)
        return replyOf(badRequest("name in URL does not match name in Eviction object"));
    const RecordPtr record = m_store.find(target.kind->storageId, target.ref().key);
    if (!record)
        return replyOf(notFound(*target.kind, target.name));
    return isToken ? createToken(*record, std::move(body)) : evict(target, *record, body, request);
}

// Everyone may read this server; the token is for programs that need one.
ApiReply ObjectWriter::createToken(const Record &account, Json body)
{
    const Json &spec = support::membersOf(body, "spec");
    const int asked = support::intMember(spec, "expirationSeconds");
    const QDateTime end = QDateTime::currentDateTimeUtc().addSecs(asked > 0 ? asked : 3600);
    body["kind"] = "TokenRequest";
    body["apiVersion"] = "authentication.k8s.io/v1";
    body["status"] = {{"token", "embedded." + account.uid + "." + newUid()},
        {"expirationTimestamp", end.toString(Qt::ISODate).toStdString()}};
    ApiReply reply;
    reply.code = 201;
    reply.body = support::toStdString(support::dumpJson(body));
    return reply;
}

ApiReply ObjectWriter::evict(
    const Target &target, const Record &record, const Json &eviction, const ApiRequest &request)
{
    const bool isDryRun = request.isDryRun()
        || !support::itemsOf(support::membersOf(eviction, "deleteOptions"), "dryRun").empty();
    const Json pod = record.tree();
    if (!needsNoBudget(pod, record.isDeleting))
        if (const ApiFault fault = takeFromBudget(record, pod, isDryRun); fault.isSet())
            return replyOf(fault);
    if (!isDryRun)
        m_remover.remove(target.ref(), Propagation::Background);
    ApiReply reply;
    reply.code = 201;
    reply.body
        = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})";
    return reply;
}

ApiFault ObjectWriter::takeFromBudget(const Record &podRecord, const Json &pod, bool isDryRun)
{
    const Kind &budgets = *m_kinds.find("policy", "v1", "poddisruptionbudgets");
    std::vector<RecordPtr> matching;
    for (const auto &[key, budget] : m_store.objects(budgets.storageId)) {
        const Json tree = budget->tree();
        const Json &spec = support::membersOf(tree, "spec");
        Selectors selectors;
        if (budget->namespaceName == podRecord.namespaceName
            && support::objectMember(spec, "selector")
            && !Selectors::parse(
                selectorText(support::membersOf(spec, "selector")), {}, {}, &selectors)
                    .isSet()
            && selectors.matches(podRecord))
            matching.push_back(budget);
    }
    if (matching.empty())
        return {};
    if (matching.size() > 1)
        return internalError("This pod has more than one PodDisruptionBudget, which the eviction "
                             "subresource does not support.");
    Json budget = matching[0]->tree();
    bool takes = false;
    const ApiFault fault = askBudget(matching[0]->name, budget, pod, &takes);
    if (fault.isSet() || !takes || isDryRun)
        return fault;
    Json &status = budget["status"];
    status["disruptionsAllowed"] = support::intMember(status, "disruptionsAllowed") - 1;
    status["disruptedPods"][podRecord.name] = timestampNow();
    m_store.put(budgets, std::move(budget));
    return {};
}

} // namespace davit::testing::apiserver
