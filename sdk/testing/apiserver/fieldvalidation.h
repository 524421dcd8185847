// What the server does about members that no field of the object's type stands for, by the query
// parameter fieldValidation. Contract: they are dropped; Strict refuses them, Warn (the default)
// tells of them, Ignore does not. Looked at are the metadata of every object, and ConfigMaps and
// Secrets as a whole; the rest has no schema here.
// Source: Kubernetes API concepts, "Field validation". Test: tst_contract, unknownFields.
#pragma once

#include "kinds.h"

namespace davit::testing::apiserver {

ApiFault validateFields(
    const Kind &kind, const ApiRequest &request, Json &object, std::vector<std::string> *warnings);

} // namespace davit::testing::apiserver
