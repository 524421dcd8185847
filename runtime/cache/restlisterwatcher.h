// LIST and WATCH of one collection over HTTP. Lists and watches are decoded as their bytes arrive;
// no reply is ever in memory as a whole. Contract: see ListerWatcher.
// Source: Kubernetes API concepts; BEHAVIOURS.md C-14, C-17a, C-22, C-23, C-25. Case B25. Test:
// tst_restlisterwatcher.
#pragma once

#include "listerwatcher.h"

#include <davit/logging.h>
#include <davit/result.h>
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
    transport::Request request(const RestCollection &collection,
        const transport::ListOptions &options, transport::Channel channel) const;

    transport::Transport &m_transport;
    const RestCollection m_collection;
    const Logger m_log;
    // Shared with the operations, on their thread; false for good once JSON was needed.
    const std::shared_ptr<bool> m_wantsProtobuf;
};

} // namespace davit::cache
