// create, update, patch and delete. Contract: each call answers as the real server would, and when
// it answers with success the change is stored (dryRun: it would have been). All members need the
// store's lock.
#pragma once

#include "admission.h"
#include "remover.h"

#include <support/apply.h>
#include <support/patchtree.h>

namespace davit::testing::apiserver {

// What a path names.
struct Target
{
    const Kind *kind = nullptr;
    std::string namespaceName; // empty for cluster scope, and for a list over all namespaces
    std::string name; // empty for a collection
    std::string subresource; // "status", "scale"

    ObjectRef ref() const
    {
        return {kind->storageId, namespaceName.empty() ? name : namespaceName + "/" + name};
    }
};

class ObjectWriter
{
public:
    ObjectWriter(ApiStore &store, KindRegistry &kinds, Remover &remover)
        : m_store(store), m_kinds(kinds), m_remover(remover)
    { }

    ApiReply create(const Target &target, const ApiRequest &request);
    ApiReply update(const Target &target, const ApiRequest &request);
    ApiReply patch(const Target &target, const ApiRequest &request);
    ApiReply remove(const Target &target, const ApiRequest &request);
    // Of every object that the selectors take; answers the list of what was deleted.
    ApiReply removeCollection(
        const Target &target, const ApiRequest &request, const Selectors &selectors);
    // A subresource that is only created: an eviction, a token.
    ApiReply createPart(const Target &target, const ApiRequest &request);
    // The Scale object of a target.
    ApiReply readScale(const Target &target);

private:
    struct Changed
    {
        ApiFault fault;
        Json object; // as it is now, or would be
        RecordPtr record; // null for a dry run
    };

    ApiFault prepareNew(const Target &target, Json &object) const;
    ApiReply storeNew(const Target &target, Json object, const ApiRequest &request);
    Changed change(const Target &target, const RecordPtr &before, Json after,
        const ApiRequest &request, bool isApply);
    ApiFault checkIdentity(
        const Target &target, const Record &before, const Json &after, bool needsVersion) const;
    ApiReply apply(const Target &target, const ApiRequest &request);
    ApiReply changeScale(const Target &target, const RecordPtr &before, const Json &scale,
        const ApiRequest &request);
    ApiReply createToken(const Record &account, Json body);
    ApiReply evict(const Target &target, const Record &record, const Json &eviction,
        const ApiRequest &request);
    ApiFault takeFromBudget(const Record &podRecord, const Json &pod, bool isDryRun);
    Json scaleOf(const Target &target, const Record &record) const;
    ApiReply replyWith(const Target &target, const Changed &changed, int code) const;
    ApiFault checkNamespace(const Target &target, const std::string &name) const;
    void afterWrite(const Target &target);
    void establish(const Target &target);

    ApiStore &m_store;
    KindRegistry &m_kinds;
    Remover &m_remover;
};

// Sets the member from `source`, or removes it when it is not there.
void setOrErase(Json &target, const char *name, const Json &source);
// The object with its type in front, as patches see it.
Json typedTree(const Kind &kind, const Record &record);
// The body as a tree, by its content type (JSON, YAML). Fault 400 or 415.
ApiFault parseBody(const ApiRequest &request, Json *body);
// Who writes, for managedFields.
support::FieldWriter writerOf(const Target &target, const ApiRequest &request);

} // namespace davit::testing::apiserver
