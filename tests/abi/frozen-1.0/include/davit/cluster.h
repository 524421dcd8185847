// One cluster as a plugin sees it: informers, listers and the client. The host's own cluster is the
// one without a name. Host-provided; a value that must not outlive its HostContext.
// Test: tst_hostcontext.
#pragma once

#include <davit/client.h>
#include <davit/informer.h>

DAVIT_BEGIN_NAMESPACE
class DAVIT_EXPORT Cluster
{
public:
    // No cluster: informer() fails, the lister never syncs, the client fails with Unsupported.
    Cluster();
    explicit Cluster(priv::HostBackend &backend); // host only; borrowed
    Cluster(const Cluster &other);
    Cluster &operator=(const Cluster &other);
    ~Cluster();

    // Empty for the cluster that the host runs against. [thread-safe]
    QString name() const;
    // As HostContext::informer(). [plugin-thread]
    Status informer(const InformerRequest &request, Informer **informer);
    // As HostContext::lister(). [thread-safe]
    Lister lister(const InformerRequest &request);
    // As HostContext::client(). [thread-safe]
    Client client() const;

private:
    priv::HostBackend *d; // borrowed
};
DAVIT_END_NAMESPACE
