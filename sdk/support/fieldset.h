// Sets of field paths, as metadata.managedFields holds them ("FieldsV1"). Internal, like json.h.
// A path is the list of its steps: "f:name" for a member, "k:{"name":"web"}" for an item of a keyed
// list, "v:"text"" for an item of a set, and a last "." for the item itself.
// Source: Kubernetes "Server-Side Apply", FieldsV1. Test: tst_apply.
#pragma once

#include "json.h"

#include <set>
#include <vector>

namespace davit::support {

using FieldPath = std::vector<std::string>;

class FieldSet
{
public:
    FieldSet() = default;
    // Every leaf of an object but those that no manager owns (apiVersion, kind and the server's own
    // metadata). Lists are atomic unless listkeys.h knows them for `kind`.
    static FieldSet ofObject(const Json &object, const std::string &kind);
    static FieldSet fromFieldsV1(const Json &fields);
    Json toFieldsV1() const;

    bool isEmpty() const { return m_paths.empty(); }
    bool contains(const FieldPath &path) const { return m_paths.count(path) != 0; }
    // True when a path starts with `prefix`.
    bool containsUnder(const FieldPath &prefix) const;
    void add(const FieldPath &path) { m_paths.insert(path); }
    void remove(const FieldSet &other);
    void unite(const FieldSet &other);
    bool operator==(const FieldSet &other) const { return m_paths == other.m_paths; }
    const std::set<FieldPath> &paths() const { return m_paths; }

private:
    std::set<FieldPath> m_paths;
};

// What a path leads to, or nullptr.
const Json *valueAt(const Json &object, const FieldPath &path);
// Removes what the path leads to, and parents that are empty after it.
void removeAt(Json &object, const FieldPath &path);
// ".spec.containers[name="web"].image", as conflicts name a field.
std::string printedPath(const FieldPath &path);
// The step that names `item` in a list with these keys; empty when a key is missing.
std::string keyStep(const Json &item, const std::vector<std::string> &keys);

} // namespace davit::support
