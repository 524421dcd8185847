// What a CustomResourceDefinition must be before it is stored: the registry reads it without
// doubts. Test: tst_embeddedapiserver.
#pragma once

#include "faults.h"

namespace davit::testing::apiserver {

// Members of the wrong type: 400. Absent ones and null are fine.
ApiFault crdShapeFault(const Kind &kind, const Json &crd);
// Members without which nothing can be served.
std::vector<Cause> crdCauses(const Json &crd);

} // namespace davit::testing::apiserver
