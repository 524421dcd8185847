// The few protobuf bodies that kubectl sends where it has a command of its own: create namespace,
// create configmap, create secret, create serviceaccount. Other kinds are refused.
// Source: Kubernetes API concepts, "Protobuf encoding"; the .proto files of k8s.io/api core/v1.
#pragma once

#include "apitypes.h"

namespace davit::testing::apiserver {

// Fills `object` with the JSON form. False when the bytes are no such message or of another kind.
bool decodeProtobufBody(const std::string &body, Json *object);

} // namespace davit::testing::apiserver
