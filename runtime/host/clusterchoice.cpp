#include "clusterchoice.h"

namespace davit::host {

Result<transport::ClusterConfig> chosenCluster(const QString &kubeconfig, const QString &context,
    const transport::LoadEnvironment &environment)
{
    Result<transport::ClusterConfig> config
        = transport::loadClusterConfig({kubeconfig, context}, environment);
    if (!config.isOk() || context.isEmpty() || !config.value().contextName.isEmpty())
        return config;
    return Error(ErrorCode::InvalidConfiguration,
        QStringLiteral("--context \"%1\" is of a kubeconfig and none is used, since %2; name one "
                       "with --kubeconfig, or leave --context out")
            .arg(context, config.value().choice));
}

} // namespace davit::host
