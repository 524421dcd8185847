// From an event of a source to the keys that are reconciled for it. Contract (BEHAVIOURS.md):
//   - Self: the object's own key.
//   - Owner: the controller reference, when its group and kind are those of the owner kind; the
//   version does not matter. On an update the owners of both states, each once.
//   - Mapped: what the plugin's mapper says; on an update of both states, each key once.
// Test: tst_keymapping.
#pragma once

#include <davit/controllerbuilder.h>
#include <davit/priv/controllerspec.h>

namespace davit::controller {

// The kind whose keys a controller reconciles, for its Owner sources.
struct OwnerKind
{
    Gvk gvk;
    bool isNamespaced = true;
};

// The keys of one event. `mapper` is needed for Mapped alone; it is plugin code and may throw.
std::vector<ObjectKey> keysOf(
    const priv::SourceSpec &source, const OwnerKind &ownerKind, const ObjectEvent &event);
// -100 for what tells nothing new: an object of the initial list, or an update with an equal
// version (W-25).
int priorityOf(const ObjectEvent &event);

} // namespace davit::controller
