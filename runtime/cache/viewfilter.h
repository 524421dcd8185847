// What a view shows of the informer it looks at: which objects, and how much of each. Test:
// tst_sharedinformerfactory.
#pragma once

#include <davit/informerrequest.h>
#include <davit/result.h>
#include <davit/selector.h>

namespace davit::cache {

// A watched collection, as narrow as it is asked from the server.
struct WatchScope
{
    Gvk gvk;
    QString namespaceName; // empty: all
    QString labelSelector; // in printed form
    QString fieldSelector; // in printed form
    bool isMetadataOnly = false;
    QString shardSelector = {}; // in printed form

    // What is asked for, its namespaces left out; a selector's fault else. [thread-safe]
    static Result<WatchScope> of(const InformerRequest &request);
    // True when everything that `narrow` wants can be had from what this holds. [thread-safe]
    bool covers(const WatchScope &narrow) const;
    // True when metadata is enough to tell which objects it selects. [thread-safe]
    bool selectsByMetadata() const;
    // "v1 ConfigMap in team-a with labels app=x": for messages. [thread-safe]
    QString toText() const;
};
bool operator==(const WatchScope &a, const WatchScope &b);

// Immutable, so that strands, workers and the plugin may use it side by side.
class ViewFilter
{
public:
    // The selectors of `scope` are valid (parsed before).
    explicit ViewFilter(const WatchScope &scope);
    // [thread-safe]
    const WatchScope &scope() const { return m_scope; }
    bool passes(const Object &object) const;
    // The object, or its metadata-only twin. [thread-safe]
    Object shown(const Object &object) const;
    // True when everything of a kind passes as it is. [thread-safe]
    bool isTransparent() const;

private:
    WatchScope m_scope;
    LabelSelector m_labels;
    FieldSelector m_fields;
    ShardSelector m_shard;
};

} // namespace davit::cache
