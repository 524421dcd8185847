// Whether the members of an object have the types that the real server's Go structs have. Contract:
// the first one that does not is told in the words of the Go code that kube-apiserver 1.37.2 reads
// it with; null fits everywhere. Test: tst_contract, shapes, strategicShapes.
#pragma once

#include "kinds.h"

namespace davit::testing::apiserver {

// What Go's decoder says of a value in a field of another type: "json: cannot unmarshal number into
// Go struct field ConfigMap.data of type string".
std::string cannotUnmarshal(const Json &value, const std::string &field, const std::string &type);
enum class Reader : unsigned char {
    Decoder, // of bodies: "json: cannot unmarshal number into Go struct field ConfigMap.data of …"
    Converter // of what a strategic merge patch makes: "cannot convert int64 to string"
};
// Empty when all is well. Looks at metadata, at the content of ConfigMaps and Secrets, and at times
// with microseconds.
std::string wrongShape(const Kind &kind, const Json &object, Reader reader = Reader::Decoder);
// Takes out what no field stands for, in metadata and, of ConfigMaps and Secrets, beside it; gives
// the names ("metadata.x").
std::vector<std::string> dropUnknownFields(const Kind &kind, Json &object);
// Replaces what Go reads as "": null in maps of strings. The object has the right shape.
void fillNullTexts(const Kind &kind, Json &object);

} // namespace davit::testing::apiserver
