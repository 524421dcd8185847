// From a kind to the resource that the server addresses it by, and from the names that people write
// to both, through discovery. Contract:
//   - Aggregated discovery is asked first: one request for the core group, one for all others. A
//   server that has none is asked group by group.
//   - One request serves all who ask meanwhile; answers are kept.
//   - KindNotServed when the cluster does not know the kind; that is asked anew after 10 s, since a
//   CRD may come. What is known is asked anew after 10 minutes; while that fails the old answer
//   stays good. Both ask for the one group and version.
//   - MalformedReply, with a sentence that names server, path and fault, for an answer that is no
//   APIResourceList.
//   - forget() and forgetGroup() make the next question ask anew at once, and one that is under way
//   is asked once more: for who sees a CRD change, or a 404 for a whole resource.
// Source: Kubernetes API concepts, "Discovery API"; client-go's restmapper. Test: tst_discovery;
// tst_clientdiscovery.
#pragma once

#include "discovery.h"
#include "restclient.h"

#include <davit/result.h>

namespace davit::client {

class RestMapper
{
public:
    using Done = std::function<void(const Result<transport::Resource> &)>;
    using Found = std::function<void(const Result<std::vector<ApiResource>> &)>;
    static constexpr std::chrono::seconds kUnknownLife{10};
    static constexpr std::chrono::minutes kKnownLife{10};

    // Borrowed; both outlive the mapper and its requests.
    RestMapper(RestClient &rest, const support::TimeSource &time);
    ~RestMapper();
    Q_DISABLE_COPY_MOVE(RestMapper)

    // `done` runs on the client's executor, never from inside. Errors: KindNotServed, those of the
    // request. [thread-safe]
    void resolve(const Gvk &gvk, Done done);
    // Every resource that the name means (see matchName), the best first: full names before short
    // ones, the core group first, then as the server lists its groups, preferred versions first.
    // One version of each resource, unless the name has one. KindNotServed when there is none.
    // [thread-safe]
    void find(const QString &name, Found found);
    // The resources of a category ("all"), each in its preferred version; may be none.
    // [thread-safe]
    void category(const QString &name, Found found);
    // Forgets what is known of the group and version, or of the group. [thread-safe]
    void forget(const Gvk &gvk);
    void forgetGroup(const QString &group);

private:
    struct Core;

    const std::shared_ptr<Core> m_core;
};

} // namespace davit::client
