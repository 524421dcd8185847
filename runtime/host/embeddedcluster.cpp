#include "embeddedcluster.h"

namespace davit::host {

// It runs for days: nobody asks for its log.
testing::EmbeddedApiServerOptions EmbeddedCluster::options()
{
    testing::EmbeddedApiServerOptions options;
    options.requestLimitItems = 0;
    return options;
}

Status EmbeddedCluster::start(const QString &objectsDir, const QString &stateDir)
{
    Status status = m_server.start();
    QString nextStep;
    if (status.isOk() && !objectsDir.isEmpty()) {
        status = m_server.loadObjects(objectsDir, &m_loadedObjects);
        if (!status.isOk() && !status.error().message().contains(u';'))
            nextStep = QStringLiteral("; mend the file, or move it out of --embedded-objects");
    }
    m_kubeconfigPath = stateDir + QStringLiteral("/embedded.kubeconfig");
    if (status.isOk())
        status = m_server.writeKubeconfig(m_kubeconfigPath);
    if (status.isOk())
        return status;
    return Status(ErrorCode::InvalidConfiguration,
        QStringLiteral("the embedded API server cannot start: %1%2")
            .arg(status.error().message(), nextStep));
}

transport::ClusterConfig EmbeddedCluster::config() const
{
    transport::ClusterConfig config;
    config.source = QStringLiteral("the embedded API server");
    config.server = QUrl(m_server.url());
    return config;
}

} // namespace davit::host
