// The two views of one Event: core/v1 and events.k8s.io/v1. It is stored in the first form, as the
// real server does, and each group reads it in its own words: message is note, involvedObject
// regarding, source deprecatedSource. Members that neither form has are dropped.
// Source: kube-apiserver 1.37 (apis/events/v1, apis/core/validation). Test: tst_contract,
// eventForms, eventFaults, eventSelectors, eventIsOne.
#pragma once

#include "faults.h"

namespace davit::testing::apiserver {

// Whether the kind is one of the two.
bool isEvent(const Kind &kind);
// The group whose storage the kind shares; its own but for events.k8s.io.
std::string storageGroup(const std::string &group, const std::string &plural);

// From the words of the kind's group to the stored form, without members that are empty, and back,
// with null or nothing for those that the real server always writes. A type in front stays.
Json storedEvent(const Kind &kind, const Json &served);
Json servedEvent(const Kind &kind, const Json &stored);

// What a new Event (`before` is null) or a change of one must not be; both as served. Less is asked
// of core/v1.
ApiFault checkEvent(const Kind &kind, const Json &before, const Json &after);

// The fields that selectors may ask for, in the words of the kind's group.
std::vector<std::string> eventFieldNames(const Kind &kind);
// Their values, of both groups.
std::map<std::string, std::string> eventFields(const Json &stored);

} // namespace davit::testing::apiserver
