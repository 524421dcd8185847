// From a kind to the resource that the server addresses it by, through discovery. Contract:
//   - One request a group and version serves all who ask meanwhile; answers are kept.
//   - KindNotServed when the cluster does not know the kind; that is asked anew after 10 s, since a
//   CRD may come. What is known is asked anew after 10 minutes; while that fails the old answer
//   stays good.
//   - MalformedReply, with a sentence that names server, path and fault, for an answer that is no
//   APIResourceList.
// Source: Kubernetes API concepts, "Discovery API". Test: tst_pluginclient, kindNotServed,
// discoveryFails, oddDiscovery.
#pragma once

#include "restclient.h"

#include <davit/result.h>

#include <map>
#include <mutex>
#include <transport/resource.h>
#include <vector>

namespace davit::client {

class RestMapper
{
public:
    using Done = std::function<void(const Result<transport::Resource> &)>;
    static constexpr std::chrono::seconds kUnknownLife{10};
    static constexpr std::chrono::minutes kKnownLife{10};

    // Borrowed; both outlive the mapper and its requests.
    RestMapper(RestClient &rest, const support::TimeSource &time);
    ~RestMapper();
    Q_DISABLE_COPY_MOVE(RestMapper)

    // `done` runs on the client's executor, never from inside. Errors: KindNotServed, those of the
    // request. [thread-safe]
    void resolve(const Gvk &gvk, Done done);
    // Forgets what is known of the group and version. [thread-safe]
    void forget(const Gvk &gvk);

private:
    struct Group
    {
        bool isKnown = false;
        bool isAsking = false;
        std::chrono::nanoseconds askedAt{0};
        std::map<QString, transport::Resource> byKind;
        std::vector<std::pair<Gvk, Done>> waiting;
    };
    struct Core;

    const std::shared_ptr<Core> m_core;
};

// The path of a group and version's resource list: "/api/v1", "/apis/apps/v1".
QByteArray discoveryTarget(const Gvk &gvk);

} // namespace davit::client
