// What a user asks about itself: SelfSubjectReview and SelfSubjectAccessReview, of a server that
// knows one user, who may do everything. Private to sdk/testing. Test: tst_check.
#pragma once

#include "apitypes.h"

namespace davit::testing::apiserver {

// True when the path is one of them; `reply` is set then. `parts` are those of the path.
bool answerReview(
    const ApiRequest &request, const std::vector<std::string> &parts, ApiReply *reply);

} // namespace davit::testing::apiserver
