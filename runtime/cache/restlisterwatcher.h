// LIST and WATCH of one collection over HTTP. Lists and watches are decoded as their bytes arrive;
// no reply is ever in memory as a whole. Contract: see ListerWatcher.
//   - Objects outside of the shard that was asked for are left out here, too: a server whose gate
//   ShardedListAndWatch is off ignores the parameter and sends all; shardInfo is in whole lists
//   alone, so that it would not tell a watch.
// Source: Kubernetes API concepts; BEHAVIOURS.md C-14, C-17a, C-22, C-23, C-25. Case B25. Test:
// tst_restlisterwatcher.
#pragma once

#include "listerwatcher.h"

#include <davit/logging.h>
#include <davit/result.h>
#include <davit/selector.h>
#include <transport/serverwarnings.h>
#include <transport/transport.h>

#include <functional>

namespace davit::cache {

struct RestCollection
{
    transport::Resource resource;
    QString namespaceName; // empty: all
    QString labelSelector;
    QString fieldSelector;
    QString shardSelector = {};
    priv::ManagedFields managedFields = priv::ManagedFields::Drop;
    priv::Depth depth = priv::Depth::Full; // MetadataOnly: nothing else is asked for
    codec::Limits limits;
    // The last word on the options of each LIST and WATCH; may be empty.
    std::function<void(transport::ListOptions *)> tweak;
    // Hears of the server's warnings; null: nobody does.
    std::shared_ptr<transport::ServerWarnings> warnings = nullptr;
    // Kinds that are built into Kubernetes are asked for as protobuf, all others as JSON (C-25).
    // Where a server has fields that are not known here, JSON is asked for from then on.
    bool prefersProtobuf = true;
    // How the cluster serves the kind now, for a CRD that was deleted and made again; when it is
    // empty, or gives an error, `resource` stays.
    std::function<Result<transport::Resource>()> current = {};
    // A LIST or WATCH was answered with 404: nothing is served there any more. [cache-thread]
    std::function<void()> onNotServed = {};
    // Of an event of the watch, whatever is decoded of its object. [cache-thread]
    std::function<void(const Object &)> onEvent = {};
};

// What of the objects that come belongs to the shard that was asked for.
class Shard
{
public:
    Shard() = default; // everything
    // `isSaid` is shared by all of a collection.
    Shard(const ShardSelector &selector, const Logger &log, std::shared_ptr<bool> isSaid)
        : m_selector(selector), m_log(log), m_isSaid(std::move(isSaid))
    { }
    // Says it once when the object does not. [cache-thread]
    bool has(const Object &object) const;

private:
    ShardSelector m_selector;
    Logger m_log;
    std::shared_ptr<bool> m_isSaid;
};

class RestListerWatcher final : public ListerWatcher
{
public:
    // `transport` outlives it and its operations. `log` hears of what cannot be decoded.
    RestListerWatcher(transport::Transport &transport, const RestCollection &collection,
        const Logger &log = Logger());

    // Selectors of the collection are added to the options. [cache-thread]
    std::unique_ptr<Operation> list(const transport::ListOptions &options,
        support::Executor &executor, ListSink &sink) override;
    std::unique_ptr<Operation> watch(const transport::ListOptions &options,
        support::Executor &executor, WatchSink &sink) override;
    // A LIST of one item, without selectors, without a version: a consistent read. [cache-thread]
    std::unique_ptr<Operation> askVersion(support::Executor &executor, ListSink &sink) override;

private:
    // What is sent: with the collection's selectors, and tweaked.
    static transport::ListOptions narrowed(
        const RestCollection &collection, const transport::ListOptions &options);
    transport::Request request(const RestCollection &collection, const transport::ListOptions &sent,
        transport::Channel channel) const;
    Shard shardOf(const transport::ListOptions &sent) const;

    transport::Transport &m_transport;
    const RestCollection m_collection;
    const Logger m_log;
    // Shared with the operations, on their thread. False for good once JSON was needed.
    const std::shared_ptr<bool> m_wantsProtobuf;
    // True once the log says that the server knows no shards.
    const std::shared_ptr<bool> m_saidThatAllCome = std::make_shared<bool>(false);
};

} // namespace davit::cache
