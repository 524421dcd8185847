// delete and delete collection.
#include "objectwriter.h"

namespace davit::testing::apiserver {
namespace {

// Both are said in the body's DeleteOptions, or in the query.
Propagation propagationOf(const Json &options, const ApiRequest &request)
{
    std::string policy = support::stringMember(options, "propagationPolicy");
    if (policy.empty())
        policy = request.param("propagationPolicy");
    return policy == "Foreground" ? Propagation::Foreground
        : policy == "Orphan"      ? Propagation::Orphan
                                  : Propagation::Background;
}

bool isDryDelete(const Json &options, const ApiRequest &request)
{
    return request.isDryRun() || !support::itemsOf(options, "dryRun").empty();
}

} // namespace

ApiReply ObjectWriter::remove(const Target &target, const ApiRequest &request)
{
    Json options = Json::object();
    if (!request.body.empty())
        if (const ApiFault fault = parseBody(request, &options); fault.isSet())
            return replyOf(fault);
    const RecordPtr before = m_store.find(target.kind->storageId, target.ref().key);
    if (!before)
        return replyOf(notFound(*target.kind, target.name));
    if (target.kind->kind == "Namespace" && target.kind->isBuiltIn
        && (target.name == "default" || target.name == "kube-system"
            || target.name == "kube-public"))
        return replyOf(forbidden(*target.kind, target.name, "this namespace may not be deleted"));
    const Json &preconditions = support::membersOf(options, "preconditions");
    const std::string uid = support::stringMember(preconditions, "uid");
    const std::string version = support::stringMember(preconditions, "resourceVersion");
    if (!uid.empty() && uid != before->uid)
        return replyOf(preconditionFailed(*target.kind, before->name,
            "the UID in the precondition (" + uid + ") does not match the UID in record ("
                + before->uid + "). The object might have been deleted and then recreated"));
    if (!version.empty() && version != std::to_string(before->version))
        return replyOf(preconditionFailed(*target.kind, before->name,
            "the ResourceVersion in the precondition (" + version
                + ") does not match the ResourceVersion in record ("
                + std::to_string(before->version) + "). The object might have been modified"));
    const Propagation propagation = propagationOf(options, request);
    const bool isDryRun = isDryDelete(options, request);
    const Remover::Outcome outcome
        = isDryRun ? Remover::Outcome{before, true} : m_remover.remove(target.ref(), propagation);
    ApiReply reply;
    if (!outcome.isGone || target.kind->isReturnedWhenDeleted) {
        reply.body = servedText(*target.kind, *outcome.record);
        return reply;
    }
    Json status{{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::object()},
        {"status", "Success"}};
    status["details"] = {{"name", before->name}};
    if (!target.kind->group.empty())
        status["details"]["group"] = target.kind->group;
    status["details"]["kind"] = target.kind->plural;
    status["details"]["uid"] = before->uid;
    reply.body = support::toStdString(support::dumpJson(status));
    return reply;
}

ApiReply ObjectWriter::removeCollection(
    const Target &target, const ApiRequest &request, const Selectors &selectors)
{
    Json options = Json::object();
    if (!request.body.empty())
        if (const ApiFault fault = parseBody(request, &options); fault.isSet())
            return replyOf(fault);
    std::string items;
    const ObjectMap objects = m_store.objects(target.kind->storageId);
    for (const auto &[key, record] : objects) {
        if ((!target.namespaceName.empty() && record->namespaceName != target.namespaceName)
            || !selectors.matches(*record))
            continue;
        if (!isDryDelete(options, request))
            m_remover.remove({target.kind->storageId, key}, propagationOf(options, request));
        items += (items.empty() ? "" : ",") + servedText(*target.kind, *record);
    }
    Json metadata{{"resourceVersion", std::to_string(m_store.lastVersion())}};
    if (!selectors.shards().isEmpty())
        metadata["shardInfo"] = {{"selector", selectors.shards().text()}};
    ApiReply reply;
    reply.body = "{\"kind\":\"" + target.kind->listKind + "\",\"apiVersion\":\""
        + target.kind->apiVersion() + "\",\"metadata\":"
        + support::toStdString(support::dumpJson(metadata)) + ",\"items\":[" + items + "]}";
    return reply;
}

} // namespace davit::testing::apiserver
