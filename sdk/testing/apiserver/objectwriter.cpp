#include "objectwriter.h"

#include "eventviews.h"
#include "fieldvalidation.h"
#include "objectshape.h"
#include "protobufbody.h"

#include <support/gotext.h>
#include <support/yaml.h>

namespace davit::testing::apiserver {
namespace {

// Members of metadata that only the server writes.
constexpr const char *kServersOwn[] = {"uid", "creationTimestamp", "generation",
    "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"};

std::string textOf(const QString &text)
{
    return text.toStdString();
}

Json &metadataOf(Json &object)
{
    Json &metadata = object["metadata"];
    if (metadata.is_null())
        metadata = Json::object();
    return metadata;
}

// Everything but metadata and status: what the generation counts.
bool isSameContent(const Json &a, const Json &b)
{
    Json left = a;
    Json right = b;
    for (Json *side : {&left, &right})
        for (const char *name : {"metadata", "status", "apiVersion", "kind"})
            side->erase(name);
    return support::isSameJson(left, right);
}

// Equal but for the moments in managedFields and the version.
bool isSameObject(const Json &a, const Json &b)
{
    Json left = a;
    Json right = b;
    for (Json *side : {&left, &right}) {
        Json &metadata = metadataOf(*side);
        metadata.erase("resourceVersion");
        side->erase("apiVersion");
        side->erase("kind");
        if (metadata.contains("managedFields"))
            for (Json &entry : metadata["managedFields"])
                entry.erase("time");
    }
    return support::isSameJson(left, right);
}

std::string servedJson(const Kind &kind, Json object)
{
    if (isEvent(kind))
        object = servedEvent(kind, storedEvent(kind, object));
    Json typed = Json::object();
    typed["kind"] = kind.kind;
    typed["apiVersion"] = kind.apiVersion();
    for (auto &[name, value] : object.items())
        typed[name] = std::move(value);
    return support::toStdString(support::dumpJson(typed));
}

ApiFault applyConflict(const std::vector<support::ApplyConflict> &conflicts)
{
    const bool isOne = conflicts.size() == 1;
    std::string message = "Apply failed with " + std::to_string(conflicts.size())
        + (isOne ? " conflict: " : " conflicts: ");
    Json causes = Json::array();
    std::string lastManager;
    for (const auto &conflict : conflicts) {
        if (isOne)
            message += "conflict with " + conflict.manager + ": " + conflict.field;
        else if (conflict.manager != lastManager)
            message += (lastManager.empty() ? "conflicts with " : "\nconflicts with ")
                + conflict.manager + ":\n- " + conflict.field;
        else
            message += "\n- " + conflict.field;
        lastManager = conflict.manager;
        causes.push_back({{"reason", "FieldManagerConflict"},
            {"message", "conflict with " + conflict.manager}, {"field", conflict.field}});
    }
    ApiFault fault{409, "Conflict", message, Json::object(), {}};
    fault.details["causes"] = std::move(causes);
    return fault;
}

// The type that the object says it is of, when it says so.
ApiFault checkType(const Kind &kind, const Json &object)
{
    for (const char *member : {"apiVersion", "kind"})
        if (const auto found = object.find(member);
            found != object.end() && !found->is_null() && !found->is_string())
            return badRequest("the object provided is unrecognized (must be of type " + kind.kind
                + "): couldn't get version/kind; json parse error: "
                + cannotUnmarshal(*found, std::string(".") + member, "string"));
    const std::string apiVersion = support::stringMember(object, "apiVersion");
    if (!apiVersion.empty() && apiVersion != kind.apiVersion())
        return badRequest("the API version in the data (" + apiVersion
            + ") does not match the expected API version (" + kind.apiVersion() + ")");
    const std::string kindName = support::stringMember(object, "kind");
    if (!kindName.empty() && kindName != kind.kind)
        return badRequest(
            kindName + " in version \"" + kind.version + "\" cannot be handled as a " + kind.kind);
    return {};
}

// The answer to an apply configuration that is no such object.
ApiFault untypedPatch(const Kind &kind, const Json &configuration, const std::string &why)
{
    const Json &metadata = support::membersOf(configuration, "metadata");
    return {500, "",
        "failed to create typed patch object (" + support::stringMember(metadata, "namespace") + "/"
            + support::stringMember(metadata, "name") + "; " + kind.group + "/" + kind.version
            + ", Kind=" + kind.kind + "): " + why,
        {}, {}};
}

ApiFault parseTextBody(const ApiRequest &request, bool isYaml, Json *body)
{
    QString error;
    if (!isYaml) {
        if (support::parseJson(
                QByteArrayView(request.body.data(), qsizetype(request.body.size())), body, &error))
            return {};
        return badRequest(
            "the object provided is unrecognized (must be of type Object): " + textOf(error));
    }
    const support::YamlDocuments yaml
        = support::yamlToJson(QByteArrayView(request.body.data(), qsizetype(request.body.size())));
    if (!yaml.isOk() || yaml.documents.size() != 1)
        return badRequest("error parsing YAML: "
            + (yaml.isOk() ? std::string("one document is needed") : textOf(yaml.error)));
    support::parseJson(yaml.documents[0], body, &error);
    return {};
}

} // namespace

void setOrErase(Json &target, const char *name, const Json &source)
{
    const auto found = source.find(name);
    if (found != source.end())
        target[name] = *found;
    else
        target.erase(name);
}

Json typedTree(const Kind &kind, const Record &record)
{
    return Json::parse(servedText(kind, record), nullptr, false);
}

ApiFault parseBody(const ApiRequest &request, Json *body)
{
    if (request.contentType == "application/vnd.kubernetes.protobuf"
        && decodeProtobufBody(request.body, body))
        return {};
    const bool isJson = request.contentType.empty() || request.contentType == "application/json";
    const bool isYaml = request.contentType == "application/yaml";
    if (!isJson && !isYaml)
        return unsupportedMediaType("application/json, application/yaml");
    if (const ApiFault fault = parseTextBody(request, isYaml, body); fault.isSet())
        return fault;
    if (!body->is_object())
        return badRequest("the object provided is unrecognized (must be of type Object)");
    return {};
}

support::FieldWriter writerOf(const Target &target, const ApiRequest &request)
{
    std::string manager = request.param("fieldManager");
    if (manager.empty())
        manager = request.userAgent.substr(0, request.userAgent.find('/'));
    if (manager.empty())
        manager = "unknown";
    return {manager, target.kind->apiVersion(), target.subresource, timestampNow(),
        target.kind->builtInKind()};
}

ApiFault ObjectWriter::checkNamespace(const Target &target, const std::string &name) const
{
    if (!target.kind->isNamespaced)
        return {};
    const Kind &namespaces = *m_kinds.find("", "v1", "namespaces");
    const RecordPtr record = m_store.find(namespaces.storageId, target.namespaceName);
    if (!record)
        return notFound(namespaces, target.namespaceName);
    if (record->isDeleting)
        return namespaceTerminating(*target.kind, name, target.namespaceName);
    return {};
}

// Names, types and defaults of an object that is about to be created.
ApiFault ObjectWriter::prepareNew(const Target &target, Json &object) const
{
    const Kind &kind = *target.kind;
    if (const ApiFault fault = checkType(kind, object); fault.isSet())
        return fault;
    Json &metadata = metadataOf(object);
    if (const ApiFault fault = checkShape(kind, object); fault.isSet())
        return fault;
    const std::string space = support::stringMember(metadata, "namespace");
    if (kind.isNamespaced && !space.empty() && space != target.namespaceName)
        return badRequest("the namespace of the provided object does not match the namespace sent "
                          "on the request");
    if (kind.isNamespaced)
        metadata["namespace"] = target.namespaceName;
    else
        metadata.erase("namespace");
    if (!support::stringMember(metadata, "resourceVersion").empty())
        return {500, "", "resourceVersion should not be set on objects to be created", {}, {}};
    std::string name = support::stringMember(metadata, "name");
    if (const std::string prefix = support::stringMember(metadata, "generateName");
        name.empty() && !prefix.empty())
        metadata["name"] = name = generatedName(prefix, [&](const std::string &drawn) {
            Target made = target;
            made.name = drawn;
            return m_store.find(kind.storageId, made.ref().key) != nullptr;
        });
    if (const ApiFault fault = checkNamespace(target, name); fault.isSet())
        return fault;
    for (const char *member : kServersOwn)
        metadata.erase(member);
    metadata.erase("resourceVersion");
    metadata["uid"] = newUid();
    metadata["creationTimestamp"] = timestampNow();
    if (kind.hasGeneration)
        metadata["generation"] = 1;
    if (kind.hasStatus)
        object.erase("status");
    setDefaults(kind, object, true);
    if (kind.hasStatus && !kind.isBuiltIn)
        object.erase("status");
    if (const ApiFault fault = checkNames(kind, object); fault.isSet() || !isEvent(kind))
        return fault;
    return checkEvent(kind, Json(), object);
}

ApiReply ObjectWriter::create(const Target &target, const ApiRequest &request)
{
    Json object;
    if (const ApiFault fault = parseBody(request, &object); fault.isSet())
        return replyOf(fault);
    std::vector<std::string> warnings;
    if (const ApiFault fault = validateFields(*target.kind, request, object, &warnings);
        fault.isSet())
        return replyOf(fault);
    if (const ApiFault fault = prepareNew(target, object); fault.isSet())
        return replyOf(fault);
    object["metadata"].erase("managedFields");
    support::recordUpdate(Json(), object, writerOf(target, request));
    ApiReply reply = storeNew(target, std::move(object), request);
    reply.warnings = std::move(warnings);
    return reply;
}

ApiReply ObjectWriter::storeNew(const Target &target, Json object, const ApiRequest &request)
{
    Target made = target;
    made.name = support::stringMember(object["metadata"], "name");
    if (m_store.find(made.kind->storageId, made.ref().key))
        return replyOf(support::stringMember(object["metadata"], "generateName").empty()
                ? alreadyExists(*made.kind, made.name)
                : noUniqueName(*made.kind, made.name));
    tidyMetadata(object);
    ApiReply reply;
    reply.code = 201;
    if (request.isDryRun()) {
        object.erase("apiVersion");
        object.erase("kind");
        reply.body = servedJson(*made.kind, std::move(object));
        return reply;
    }
    const RecordPtr record = m_store.put(*made.kind, std::move(object));
    reply.body = servedText(*made.kind, *record);
    afterWrite(made);
    m_remover.afterCreate(made.ref());
    return reply;
}

// A CRD is served from now on.
void ObjectWriter::afterWrite(const Target &target)
{
    if (target.kind->group == "apiextensions.k8s.io")
        establish(target);
}

void ObjectWriter::establish(const Target &target)
{
    const RecordPtr record = m_store.find(target.kind->storageId, target.ref().key);
    if (!record || record->isDeleting)
        return;
    Json crd = record->tree();
    m_kinds.registerCrd(crd);
    const Json &spec = support::membersOf(crd, "spec");
    Json status = Json::object();
    status["acceptedNames"] = support::membersOf(spec, "names");
    status["conditions"] = Json::array();
    for (const auto &[type, reason, message] :
        {std::tuple("NamesAccepted", "NoConflicts", "no conflicts found"),
            std::tuple(
                "Established", "InitialNamesAccepted", "the initial names have been accepted")})
        status["conditions"].push_back(
            {{"type", type}, {"status", "True"}, {"reason", reason}, {"message", message},
                {"lastTransitionTime", record->tree()["metadata"]["creationTimestamp"]}});
    status["storedVersions"] = Json::array();
    for (const Json &version : support::itemsOf(spec, "versions"))
        if (support::boolMember(version, "storage", false))
            status["storedVersions"].push_back(support::stringMember(version, "name"));
    if (support::isSameJson(support::membersOf(crd, "status"), status))
        return;
    crd["status"] = std::move(status);
    m_store.put(*target.kind, std::move(crd));
}

ApiFault ObjectWriter::checkIdentity(
    const Target &target, const Record &before, const Json &after, bool needsVersion) const
{
    const Json &metadata = after.at("metadata");
    const std::string name = support::stringMember(metadata, "name");
    if (!name.empty() && name != before.name)
        return badRequest("the name of the object (" + name
            + ") does not match the name on the URL (" + before.name + ")");
    const std::string space = support::stringMember(metadata, "namespace");
    if (target.kind->isNamespaced && !space.empty() && space != before.namespaceName)
        return badRequest("the namespace of the provided object does not match the namespace sent "
                          "on the request");
    const std::string uid = support::stringMember(metadata, "uid");
    if (!uid.empty() && uid != before.uid)
        return conflict(*target.kind, before.name,
            "StorageError: invalid object, Code: 4, Key: /registry/"
                + (target.kind->isBuiltIn ? "" : target.kind->group + "/") + target.kind->plural
                + "/" + before.key()
                + ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                  "precondition: "
                + uid + ", UID in object meta: " + before.uid);
    const std::string version = support::stringMember(metadata, "resourceVersion");
    if (version.empty() && needsVersion && !target.kind->isBuiltIn)
        return invalid(*target.kind, before.name,
            {{"FieldValueInvalid", "Invalid value: 0: must be specified for an update",
                "metadata.resourceVersion"}});
    if (!version.empty() && version != std::to_string(before.version))
        return modifiedConflict(*target.kind, before.name);
    return {};
}

// One change of an existing object, however it came; `after` is the whole new object.
ObjectWriter::Changed ObjectWriter::change(const Target &target, const RecordPtr &before,
    Json after, const ApiRequest &request, bool isApply)
{
    const Kind &kind = *target.kind;
    const Json old = itemTree(kind, *before);
    if (isEvent(kind))
        after = servedEvent(kind, storedEvent(kind, after));
    Json &metadata = metadataOf(after);
    if (const ApiFault fault = checkShape(kind, after); fault.isSet())
        return {fault, {}, nullptr};
    if (target.subresource == "status") {
        const Json status = after.contains("status") ? after["status"] : Json();
        const Json managed
            = metadata.contains("managedFields") ? metadata["managedFields"] : Json();
        after = old;
        after.erase("status");
        if (!status.is_null())
            after["status"] = status;
        if (!managed.is_null())
            after["metadata"]["managedFields"] = managed;
    } else if (kind.hasStatus) {
        setOrErase(after, "status", old);
    }
    after.erase("apiVersion"); // before references: members of an ordered tree move
    after.erase("kind");
    Json &merged = metadataOf(after);
    for (const char *member : kServersOwn)
        setOrErase(merged, member, old.at("metadata"));
    merged["name"] = before->name;
    if (kind.isNamespaced)
        merged["namespace"] = before->namespaceName;
    setDefaults(kind, after, false);
    if (const ApiFault fault = checkNames(kind, after); fault.isSet())
        return {fault, {}, nullptr};
    if (const ApiFault fault = checkUpdate(kind, old, after); fault.isSet())
        return {fault, {}, nullptr};
    if (kind.hasGeneration && target.subresource != "status" && !isSameContent(old, after))
        after["metadata"]["generation"] = old.at("metadata").value("generation", 0LL) + 1;
    if (!isApply)
        support::recordUpdate(old, after, writerOf(target, request));
    tidyMetadata(after);
    const bool isFree = before->isDeleting
        && support::itemsOf(after["metadata"], "finalizers").empty() && kind.kind != "Namespace";
    if (isSameObject(old, after) && !isFree)
        return {{}, typedTree(kind, *before), before};
    if (request.isDryRun()) {
        after["metadata"]["resourceVersion"] = std::to_string(before->version);
        return {{}, std::move(after), nullptr};
    }
    if (isFree) { // the last finalizer went: deleted without another change
        after["metadata"]["resourceVersion"] = std::to_string(before->version);
        m_remover.finish(target.ref());
        return {{}, std::move(after), nullptr};
    }
    const RecordPtr record = m_store.put(kind, std::move(after));
    afterWrite(target);
    if (before->isDeleting && kind.kind == "Namespace")
        m_remover.finish(target.ref());
    return {{}, {}, record};
}

ApiReply ObjectWriter::replyWith(const Target &target, const Changed &changed, int code) const
{
    if (changed.fault.isSet())
        return replyOf(changed.fault);
    ApiReply reply;
    reply.code = code;
    reply.body = changed.record ? servedText(*target.kind, *changed.record)
                                : servedJson(*target.kind, changed.object);
    return reply;
}

ApiReply ObjectWriter::update(const Target &target, const ApiRequest &request)
{
    Json after;
    if (const ApiFault fault = parseBody(request, &after); fault.isSet())
        return replyOf(fault);
    const RecordPtr before = m_store.find(target.kind->storageId, target.ref().key);
    if (!before)
        return replyOf(notFound(*target.kind, target.name));
    metadataOf(after);
    if (const ApiFault fault = checkIdentity(target, *before, after, true); fault.isSet())
        return replyOf(fault);
    if (target.subresource == "scale")
        return changeScale(target, before, after, request);
    std::vector<std::string> warnings;
    if (const ApiFault fault = validateFields(*target.kind, request, after, &warnings);
        fault.isSet())
        return replyOf(fault);
    ApiReply reply
        = replyWith(target, change(target, before, std::move(after), request, false), 200);
    reply.warnings = std::move(warnings);
    return reply;
}

ApiReply ObjectWriter::patch(const Target &target, const ApiRequest &request)
{
    const Kind &kind = *target.kind;
    if (request.contentType == "application/apply-patch+yaml")
        return apply(target, request);
    const bool isJson = request.contentType == "application/json-patch+json";
    const bool isMerge = request.contentType == "application/merge-patch+json";
    const bool isStrategic = request.contentType == "application/strategic-merge-patch+json";
    if ((!isJson && !isMerge && !isStrategic) || (isStrategic && !kind.isBuiltIn))
        return replyOf(unsupportedMediaType(kind.isBuiltIn
                ? "application/json-patch+json, application/merge-patch+json, "
                  "application/strategic-merge-patch+json, application/apply-patch+yaml"
                : "application/json-patch+json, application/merge-patch+json, "
                  "application/apply-patch+yaml"));
    const RecordPtr before = m_store.find(kind.storageId, target.ref().key);
    if (!before)
        return replyOf(notFound(kind, target.name));
    Json body;
    if (const ApiFault fault = parseTextBody(request, false, &body); fault.isSet())
        return replyOf(isJson ? fault : badRequest("invalid JSON patch"));
    if (isMerge && !body.is_object())
        return replyOf(noMergePatch(body));
    const bool isScale = target.subresource == "scale";
    Json after = isScale ? scaleOf(target, *before) : typedTree(kind, *before);
    const support::PatchOutcome outcome = isJson ? support::jsonPatchTree(after, body)
        : isMerge                                ? support::mergePatchTree(after, body)
                  : support::strategicMergePatchTree(after, body, kind.kind);
    if (!outcome.isOk())
        return replyOf(patchFault(outcome, isStrategic ? "" : "error decoding patch: "));
    if (!after.is_object())
        return replyOf(unprocessable());
    metadataOf(after);
    const Reader reader = isStrategic ? Reader::Converter : Reader::Decoder;
    const std::string wrong = isScale ? std::string() : wrongShape(kind, after, reader);
    if (!wrong.empty())
        return replyOf(invalidPatch(
            isStrategic ? support::goText(body) : servedJson(kind, std::move(after)), wrong));
    if (const ApiFault fault = checkIdentity(target, *before, after, false); fault.isSet())
        return replyOf(fault);
    if (isScale)
        return changeScale(target, before, after, request);
    return replyWith(target, change(target, before, std::move(after), request, false), 200);
}

ApiReply ObjectWriter::apply(const Target &target, const ApiRequest &request)
{
    if (request.param("fieldManager").empty()) {
        ApiFault fault = invalidListOptions({{"FieldValueRequired",
            "Required value: is required for apply patch", "fieldManager"}});
        fault.message.replace(0, std::string("ListOptions").size(), "PatchOptions");
        fault.details["kind"] = "PatchOptions";
        return replyOf(fault);
    }
    if (target.subresource == "scale")
        return replyOf(methodNotAllowed());
    Json configuration;
    if (const ApiFault fault = parseTextBody(request, true, &configuration); fault.isSet())
        return replyOf(fault);
    if (!configuration.is_object())
        return replyOf(badRequest("an apply configuration is an object"));
    Json &metadata = metadataOf(configuration);
    if (const std::string wrong = wrongShape(*target.kind, configuration); !wrong.empty())
        return replyOf(untypedPatch(*target.kind, configuration, wrong));
    if (metadata.contains("managedFields"))
        return replyOf(badRequest("metadata.managedFields must be nil"));
    if (support::stringMember(metadata, "name").empty())
        metadata["name"] = target.name;
    if (support::stringMember(metadata, "name") != target.name)
        return replyOf(badRequest("metadata.name does not match the name in the URL"));
    const support::FieldWriter writer = writerOf(target, request);
    const RecordPtr before = m_store.find(target.kind->storageId, target.ref().key);
    if (!before) {
        if (!target.subresource.empty())
            return replyOf(notFound(*target.kind, target.name));
        Json object = support::applyTree(Json(), configuration, writer, false).object;
        const Json managed = object["metadata"].contains("managedFields")
            ? object["metadata"]["managedFields"]
            : Json::array();
        if (const ApiFault fault = prepareNew(target, object); fault.isSet())
            return replyOf(fault);
        object["metadata"]["managedFields"] = managed;
        return storeNew(target, std::move(object), request);
    }
    if (const ApiFault fault = checkIdentity(target, *before, configuration, false); fault.isSet())
        return replyOf(fault);
    support::ApplyOutcome outcome = support::applyTree(
        typedTree(*target.kind, *before), configuration, writer, request.param("force") == "true");
    if (!outcome.conflicts.empty())
        return replyOf(applyConflict(outcome.conflicts));
    return replyWith(target, change(target, before, std::move(outcome.object), request, true), 200);
}

} // namespace davit::testing::apiserver
