// Times with microseconds, as the real server reads them: six digits of a second, no more and no
// less (case B44). Source: apimachinery's MicroTime, Go's time.Parse with
// "2006-01-02T15:04:05.000000Z07:00". Test: tst_contract, leaseTimes.
#pragma once

#include "objectshape.h"

namespace davit::testing::apiserver {

// What Go says of the first such member of an object of this kind that is no such time; empty when
// there is none. [thread-safe]
std::string wrongMicroTime(const Kind &kind, const Json &object, Reader reader);

// Each of them in UTC. The object has the right shape. [thread-safe]
void writeMicroTimes(const Kind &kind, Json &object);

} // namespace davit::testing::apiserver
