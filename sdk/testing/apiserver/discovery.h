// Discovery in both forms (legacy lists and the aggregated v2 documents), /version, and the small
// OpenAPI v3 that kubectl asks for. All functions need the store's lock: CRDs change the registry.
#pragma once

#include "kinds.h"

namespace davit::testing::apiserver {

std::string coreVersionsJson(const std::string &address); // GET /api
std::string groupListJson(const KindRegistry &kinds); // GET /apis
// GET /apis/GROUP; empty when nothing of it is served.
std::string groupJson(const KindRegistry &kinds, const std::string &group);
// GET /api/v1 or /apis/GROUP/VERSION; empty when nothing of it is served.
std::string resourceListJson(
    const KindRegistry &kinds, const std::string &group, const std::string &version);
// GET /api (isCore) or /apis with the aggregated Accept header.
std::string aggregatedJson(const KindRegistry &kinds, bool isCore);
constexpr const char *kAggregatedType
    = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

std::string versionJson();
std::string openApiIndexJson(const KindRegistry &kinds); // GET /openapi/v3
std::string openApiJson(
    const KindRegistry &kinds, const std::string &group, const std::string &version);

} // namespace davit::testing::apiserver
