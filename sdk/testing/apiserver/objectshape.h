// Whether the members of an object have the types that the real server's Go structs have. Contract:
// the first one that does not is told in the words of Go's JSON decoder, as kube-apiserver 1.37.2
// answers them; null fits everywhere. Test: tst_contract, shapes.
#pragma once

#include "kinds.h"

namespace davit::testing::apiserver {

// What Go's decoder says of a value in a field of another type: "json: cannot unmarshal number into
// Go struct field ConfigMap.data of type string".
std::string cannotUnmarshal(const Json &value, const std::string &field, const std::string &type);
// "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string";
// empty when all is well. Looks at metadata, and at the content of ConfigMaps and Secrets.
std::string wrongShape(const Kind &kind, const Json &object);
// Replaces what Go reads as "": null in maps of strings. The object has the right shape.
void fillNullTexts(const Kind &kind, Json &object);

} // namespace davit::testing::apiserver
