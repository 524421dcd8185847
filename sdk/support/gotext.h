// JSON as Go's fmt prints what its decoder made of it: "map[a:1 b:[x <nil>]]". For answers in the
// words of the real API server. Test: tst_patch, goText.
#pragma once

#include "json.h"

namespace davit::support {

// %v of an interface{}; the members of maps are sorted. [thread-safe]
std::string goText(const Json &value);
// The kind of the decoded value: "int64", "float64", "string", "bool", "slice", "map", or
// "invalid" for null. [thread-safe]
const char *goKind(const Json &value);
// "json: cannot unmarshal number into Go value of type string". [thread-safe]
std::string noGoValue(const Json &value, const std::string &goType);

} // namespace davit::support
