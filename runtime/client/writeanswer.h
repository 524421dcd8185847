// What the answer to a write says of the objects that were written, for readers who wait for them.
// Source: Kubernetes' generic registry (Delete, DeleteCollection, ShouldDeleteDuringUpdate).
// Test: tst_writeanswer.
#pragma once

#include "requestbuilder.h"

#include <davit/priv/ownwrite.h>

namespace davit::client {

// Empty for reads and dry runs, and where the answer tells no version: evictions, bindings, tokens.
// `gvk` is the kind that was called; `body` is the answer as it came, of DeleteCollection a list.
// A Scale has the version of its parent. [thread-safe]
std::vector<priv::OwnWrite> writesOf(
    const Gvk &gvk, const VerbCall &call, const Object &answer, const QByteArray &body);

} // namespace davit::client
