#include "apirouter.h"

#include "reviews.h"

namespace davit::testing::apiserver {
namespace {

ApiReply jsonReply(std::string body)
{
    ApiReply reply;
    reply.body = std::move(body);
    return reply;
}

ApiReply textReply(int code, const char *text)
{
    ApiReply reply;
    reply.code = code;
    reply.contentType = "text/plain; charset=utf-8";
    reply.body = text;
    return reply;
}

} // namespace

std::vector<std::string> pathParts(const std::string &path)
{
    std::vector<std::string> parts;
    std::string part;
    for (const char c : path + "/") {
        if (c != '/') {
            part += c;
        } else if (!part.empty()) {
            parts.push_back(std::move(part));
            part.clear();
        }
    }
    return parts;
}

ApiRouter::ApiRouter(const HistoryLimits &history, bool collectsGarbage)
    : m_store(history)
    , m_remover(m_store, m_kinds, collectsGarbage)
    , m_writer(m_store, m_kinds, m_remover)
    , m_reader(m_store)
{
    addDefaultNamespaces();
}

void ApiRouter::addDefaultNamespaces()
{
    for (const char *name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
        ApiRequest request;
        request.method = "POST";
        request.path = "/api/v1/namespaces";
        request.userAgent = "davit-embedded";
        request.body = support::toStdString(support::dumpJson({{"metadata", {{"name", name}}}}));
        handle(request);
    }
}

std::string ApiRouter::pathOf(const Json &object, bool isItem)
{
    const std::lock_guard lock(m_store.mutex());
    const Kind *const kind = m_kinds.findByKind(
        support::stringMember(object, "apiVersion"), support::stringMember(object, "kind"));
    if (!kind)
        return {};
    const Json &metadata = support::membersOf(object, "metadata");
    std::string space = support::stringMember(metadata, "namespace");
    if (space.empty())
        space = "default";
    std::string path = (kind->group.empty() ? "/api/" : "/apis/") + kind->apiVersion() + "/";
    if (kind->isNamespaced)
        path += "namespaces/" + space + "/";
    path += kind->plural;
    return isItem ? path + "/" + support::stringMember(metadata, "name") : path;
}

// What is no object: discovery, health, version, OpenAPI.
bool ApiRouter::answerDocument(
    const ApiRequest &request, const std::vector<std::string> &parts, ApiReply *reply) const
{
    const std::string first = parts.empty() ? std::string() : parts[0];
    if (first == "healthz" || first == "livez" || first == "readyz") {
        *reply = textReply(200, "ok");
        return true;
    }
    if (first == "version" && parts.size() == 1) {
        *reply = jsonReply(versionJson());
        return true;
    }
    if (first == "openapi")
        return answerOpenApi(parts, reply);
    const bool isCore = first == "api";
    if ((!isCore && first != "apis") || parts.size() > 3 || (isCore && parts.size() > 2)) {
        if (first == "api" || first == "apis")
            return false;
        *reply = textReply(404, "404 page not found\n");
        return true;
    }
    std::string body;
    if (parts.size() == 1 && wantsAggregatedDiscovery(request)) {
        *reply = jsonReply(aggregatedJson(m_kinds, isCore));
        reply->contentType = kAggregatedType;
        return true;
    }
    if (parts.size() == 1)
        body = isCore ? coreVersionsJson(m_address) : groupListJson(m_kinds);
    else if (isCore)
        body = parts[1] == "v1" ? resourceListJson(m_kinds, {}, "v1") : std::string();
    else
        body = parts.size() == 2 ? groupJson(m_kinds, parts[1])
                                 : resourceListJson(m_kinds, parts[1], parts[2]);
    *reply = body.empty() ? textReply(404, "404 page not found\n") : jsonReply(std::move(body));
    return true;
}

bool ApiRouter::answerOpenApi(const std::vector<std::string> &parts, ApiReply *reply) const
{
    std::string body;
    if (parts.size() == 2 && parts[1] == "v3")
        body = openApiIndexJson(m_kinds);
    else if (parts.size() == 4 && parts[2] == "api")
        body = openApiJson(m_kinds, {}, parts[3]);
    else if (parts.size() == 5 && parts[2] == "apis")
        body = openApiJson(m_kinds, parts[3], parts[4]);
    *reply = body.empty() ? textReply(404, "404 page not found\n") : jsonReply(std::move(body));
    return true;
}

// {"api", "v1", "namespaces", "a", "pods", "p", "status"} and its shorter forms.
ApiFault ApiRouter::resolve(const std::vector<std::string> &parts, Target *target) const
{
    const bool isCore = parts[0] == "api";
    const std::size_t start = isCore ? 2 : 3;
    const std::string group = isCore ? std::string() : parts[1];
    const std::string version = parts[start - 1];
    std::vector<std::string> rest(parts.begin() + std::ptrdiff_t(start), parts.end());
    const bool isInNamespace = rest.size() >= 3 && rest[0] == "namespaces"
        && !(isCore && rest.size() == 3 && (rest[2] == "status" || rest[2] == "finalize"));
    if (isInNamespace) {
        target->namespaceName = rest[1];
        rest.erase(rest.begin(), rest.begin() + 2);
    }
    if (rest.empty() || rest.size() > 3)
        return noSuchResource();
    target->kind = m_kinds.find(group, version, rest[0]);
    if (!target->kind || (isInNamespace && !target->kind->isNamespaced))
        return noSuchResource();
    if (rest.size() > 1) {
        target->name = rest[1];
        if (target->kind->isNamespaced && !isInNamespace)
            return noSuchResource();
    }
    if (rest.size() > 2)
        target->subresource = rest[2];
    const bool isKnownPart = target->subresource.empty()
        || (target->subresource == "status" && target->kind->hasStatus)
        || (target->subresource == "scale" && target->kind->hasScale())
        || target->subresource == target->kind->createdPart;
    return isKnownPart ? ApiFault() : noSuchResource();
}

ApiReply ApiRouter::watch(
    const Target &target, const ApiRequest &request, const Selectors &selectors)
{
    std::shared_ptr<WatchStream> stream;
    const ApiFault fault
        = WatchStream::open(m_store, m_watchControl, target, request, selectors, &stream);
    if (fault.isSet())
        return replyOf(fault);
    ApiReply reply;
    reply.nextChunk = [stream](std::string *text) { return stream->next(text); };
    return reply;
}

ApiReply ApiRouter::answerCollection(const Target &target, const ApiRequest &request)
{
    if (request.method == "POST") {
        if (target.kind->isNamespaced && target.namespaceName.empty())
            return replyOf(methodNotAllowed());
        return m_writer.create(target, request);
    }
    if (const ApiFault fault = checkNumbers(request); fault.isSet())
        return replyOf(fault);
    Selectors selectors;
    if (const ApiFault fault = Selectors::parse(request.param("labelSelector"),
            request.param("fieldSelector"), knownFieldsOf(*target.kind), &selectors);
        fault.isSet())
        return replyOf(fault);
    Shards shards;
    if (const ApiFault fault = Shards::parse(request.param("shardSelector"), &shards);
        fault.isSet())
        return replyOf(fault);
    selectors.setShards(std::move(shards));
    if (request.method == "DELETE")
        return m_writer.removeCollection(target, request, selectors);
    if (request.method != "GET")
        return replyOf(methodNotAllowed());
    if (request.isTrue("watch"))
        return watch(target, request, selectors);
    return m_reader.list(target, request, selectors);
}

ApiReply ApiRouter::answerItem(const Target &target, const ApiRequest &request)
{
    if (!target.subresource.empty() && target.subresource == target.kind->createdPart)
        return request.method == "POST" ? m_writer.createPart(target, request)
                                        : replyOf(methodNotAllowed());
    const bool isWatch = request.method == "GET" && request.isTrue("watch");
    if (const ApiFault fault = checkNumbers(request);
        fault.isSet() && (isWatch || request.method == "DELETE"))
        return replyOf(fault);
    if (request.method == "GET") {
        if (target.subresource == "scale")
            return m_writer.readScale(target);
        if (isWatch)
            return watch(target, request, {});
        return m_reader.get(target, request);
    }
    if (request.method == "PUT")
        return m_writer.update(target, request);
    if (request.method == "PATCH")
        return m_writer.patch(target, request);
    if (request.method == "DELETE" && target.subresource.empty())
        return m_writer.remove(target, request);
    return replyOf(methodNotAllowed());
}

ApiReply ApiRouter::handle(const ApiRequest &request)
{
    const std::lock_guard lock(m_store.mutex());
    try {
        return handleLocked(request);
    } catch (const std::exception &e) { // a tree of another shape than some part expects
        return replyOf(internalError(e.what()));
    }
}

ApiReply ApiRouter::handleLocked(const ApiRequest &request)
{
    const std::vector<std::string> parts = pathParts(request.path);
    ApiReply reply;
    if (answerDocument(request, parts, &reply) || answerReview(request, parts, &reply))
        return reply;
    Target target;
    if (const ApiFault fault = resolve(parts, &target); fault.isSet())
        return replyOf(fault);
    if (!isAcceptable(request))
        return replyOf(notAcceptable());
    return target.name.empty() ? answerCollection(target, request) : answerItem(target, request);
}

} // namespace davit::testing::apiserver
