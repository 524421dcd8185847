// The refusals of an API server, in the words of the real one (compared in tst_contract).
#pragma once

#include "kinds.h"

#include <support/patchtree.h>

namespace davit::testing::apiserver {

// One entry of details.causes.
struct Cause
{
    std::string reason;
    std::string message;
    std::string field;
};

ApiFault notFound(const Kind &kind, const std::string &name);
ApiFault noSuchResource();
ApiFault alreadyExists(const Kind &kind, const std::string &name);
// The same for an object with a generateName, when every name that was drawn is taken.
ApiFault noUniqueName(const Kind &kind, const std::string &name);
ApiFault conflict(const Kind &kind, const std::string &name, const std::string &why);
// A failed precondition of a delete: the same, but the real server names the kind here.
ApiFault preconditionFailed(const Kind &kind, const std::string &name, const std::string &why);
ApiFault modifiedConflict(const Kind &kind, const std::string &name);
// `Secret "a" is invalid: type: Invalid value: …`
ApiFault invalid(const Kind &kind, const std::string &name, const std::vector<Cause> &causes);
// A patch whose result is no such object: ` "" is invalid: patch: Invalid value: …`. `text` is the
// result's JSON; of a strategic merge patch it is the patch, as Go prints it.
ApiFault invalidPatch(const std::string &text, const std::string &why);
// `prefix` is for what is wrong with the patch itself.
ApiFault patchFault(const support::PatchOutcome &outcome, const std::string &prefix);
// A merge patch that is no object.
ApiFault noMergePatch(const Json &patch);
ApiFault invalidListOptions(const std::vector<Cause> &causes);
ApiFault badRequest(const std::string &message);
ApiFault forbidden(const Kind &kind, const std::string &name, const std::string &why);
ApiFault namespaceTerminating(
    const Kind &kind, const std::string &name, const std::string &namespaceName);
ApiFault expired(const std::string &message);
ApiFault tooLargeVersion(unsigned long long wanted, unsigned long long current);
// Something that the server did not expect: 500.
ApiFault internalError(const std::string &what);
ApiFault methodNotAllowed();
ApiFault unsupportedMediaType(const std::string &accepted);
// An Accept header that names nothing that can be answered.
ApiFault notAcceptable();
// The answer to a patch that does not fit its object.
ApiFault unprocessable();

std::string statusJson(const ApiFault &fault);
ApiReply replyOf(const ApiFault &fault);

} // namespace davit::testing::apiserver
