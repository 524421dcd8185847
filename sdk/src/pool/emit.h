// From a parsed document to a TreeBuilder's events, leaving out what is not wanted.
#pragma once

#include "jsonparser.h"
#include "treebuilder.h"

#include <davit/priv/poolaccess.h>
#include <simdjson.h>

namespace davit::priv::pool {

struct Selection
{
    ManagedFields managedFields = ManagedFields::Keep;
    Depth depth = Depth::Full;
    // Members to put in front when the document has none of that name; empty: nothing.
    std::string_view apiVersion;
    std::string_view kind;

    bool wantsMember(std::string_view name) const noexcept; // of the root
    bool wantsMetadata(std::string_view name) const noexcept; // of its metadata
};

// The value at events[at]; returns the index behind it.
std::size_t emitTape(const JsonTape &tape, std::size_t at, TreeBuilder &builder);
// The root object, by the selection.
void emitTapeObject(const JsonTape &tape, const Selection &selection, TreeBuilder &builder);
// The same for simdjson. False when a number may have lost its sign ("-0" reads as 0).
bool emitDomObject(simdjson::dom::object root, const Selection &selection, TreeBuilder &builder);

} // namespace davit::priv::pool
