// What must outlive everything, because a thread that cannot be ended may still be inside it: an
// abandoned reconciler, the controller around it. It is kept in one place, so that it is no leak
// to a leak checker, and no static destructor ever runs on it. Test: tst_controllerstop
// (abandonedKeysAreNamed, under ASan).
#pragma once

#include <memory>

namespace davit::support {

// Holds a reference until the process ends. [thread-safe] Cost: amortised O(1) under a mutex.
void keepForever(std::shared_ptr<void> object);

} // namespace davit::support
