// The scale subresource: a Scale object in front of a member of the object itself.
#include "objectwriter.h"

namespace davit::testing::apiserver {
namespace {

// What a scale path leads to: ".spec.replicas" as a JSON pointer.
Json::json_pointer pointerOf(std::string dotted)
{
    for (char &c : dotted)
        if (c == '.')
            c = '/';
    return Json::json_pointer(dotted);
}

} // namespace

Json ObjectWriter::scaleOf(const Target &target, const Record &record) const
{
    const Json object = record.tree();
    const auto at = [&object](const std::string &path) {
        const auto pointer = pointerOf(path);
        return !path.empty() && object.contains(pointer) ? object.at(pointer) : Json();
    };
    Json scale{{"kind", "Scale"}, {"apiVersion", "autoscaling/v1"}, {"metadata", Json::object()},
        {"spec", Json::object()}, {"status", Json::object()}};
    for (const char *member : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"})
        setOrErase(scale["metadata"], member, object.at("metadata"));
    if (const Json replicas = at(target.kind->scaleReplicasPath); replicas.is_number())
        scale["spec"]["replicas"] = replicas;
    const Json current = at(target.kind->scaleStatusPath);
    scale["status"]["replicas"] = current.is_number() ? current : Json(0);
    if (const std::string selector = selectorText(at(target.kind->scaleSelectorPath));
        !selector.empty())
        scale["status"]["selector"] = selector;
    return scale;
}

ApiReply ObjectWriter::readScale(const Target &target)
{
    const RecordPtr record = m_store.find(target.kind->storageId, target.ref().key);
    if (!record)
        return replyOf(notFound(*target.kind, target.name));
    ApiReply reply;
    reply.body = support::toStdString(support::dumpJson(scaleOf(target, *record)));
    return reply;
}

ApiReply ObjectWriter::changeScale(
    const Target &target, const RecordPtr &before, const Json &scale, const ApiRequest &request)
{
    const Json &spec = support::membersOf(scale, "spec");
    const auto replicas = spec.find("replicas");
    const long long count
        = replicas != spec.end() && replicas->is_number_integer() ? replicas->get<long long>() : 0;
    if (count < 0) {
        ApiFault fault = invalid(*target.kind, before->name,
            {{"FieldValueInvalid",
                "Invalid value: " + std::to_string(count) + ": must be greater than or equal to 0",
                "spec.replicas"}});
        return replyOf(fault);
    }
    Json after = typedTree(*target.kind, *before);
    after[pointerOf(target.kind->scaleReplicasPath)] = count;
    const Changed changed = change(target, before, std::move(after), request, false);
    if (changed.fault.isSet())
        return replyOf(changed.fault);
    if (!changed.record)
        return readScale(target);
    ApiReply reply;
    reply.body = support::toStdString(support::dumpJson(scaleOf(target, *changed.record)));
    return reply;
}

} // namespace davit::testing::apiserver
