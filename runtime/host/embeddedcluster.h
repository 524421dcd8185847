// The API server of "davit run --embedded": started in this process, filled with the user's
// objects, with a kubeconfig beside it for kubectl. Test: tst_davit, embedded.
#pragma once

#include <testing/embeddedapiserver.h>
#include <transport/clusterconfig.h>

namespace davit::host {

class EmbeddedCluster
{
public:
    // Listens, loads the objects of a directory (empty: none), and writes "embedded.kubeconfig"
    // into the state directory. InvalidConfiguration names what is wrong. [host-thread]
    Status start(const QString &objectsDir, const QString &stateDir);

    QString kubeconfigPath() const { return m_kubeconfigPath; }
    QString url() const { return m_server.url(); }
    qsizetype loadedObjects() const { return m_loadedObjects; }
    transport::ClusterConfig config() const;

private:
    static testing::EmbeddedApiServerOptions options();

    testing::EmbeddedApiServer m_server{options()};
    QString m_kubeconfigPath;
    qsizetype m_loadedObjects = 0;
};

} // namespace davit::host
