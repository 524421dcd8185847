#include "setup.h"

#include "clusterchoice.h"
#include "statedir.h"

#include <QtCore/qdir.h>
#include <QtCore/qfileinfo.h>
#include <QtCore/qsysinfo.h>
#include <QtCore/quuid.h>

namespace davit::host {

namespace {

// The absolute path of a directory that can be listed.
Result<QString> existingDir(const QString &path, const char *what, const char *flag)
{
    const QFileInfo info(path);
    QString fault;
    if (!info.exists())
        fault = QStringLiteral("does not exist; create it or name another with %1");
    else if (!info.isDir())
        fault = QStringLiteral("is no directory; name one with %1");
    else if (!info.isReadable() || !info.isExecutable())
        fault = QStringLiteral("cannot be read; change its rights or name another with %1");
    if (fault.isEmpty())
        return info.absoluteFilePath();
    return Error(ErrorCode::InvalidConfiguration,
        QStringLiteral("%1 %2 %3")
            .arg(QString::fromUtf8(what), path, fault.arg(QString::fromUtf8(flag))));
}

Status takeAddress(const char *flag, const QString &text, web::ListenAddress *address)
{
    const Result<web::ListenAddress> parsed = web::parseListenAddress(text);
    if (!parsed.isOk())
        return parsed.error().withContext(QString::fromUtf8(flag));
    *address = parsed.value();
    return Status::ok();
}

// "<pod>_<uuid>": a process that starts anew is another candidate.
QString electionIdentity()
{
    const QString pod = qEnvironmentVariable("POD_NAME");
    return (pod.isEmpty() ? QSysInfo::machineHostName() : pod) + QLatin1Char('_')
        + QUuid::createUuid().toString(QUuid::WithoutBraces);
}

Result<ElectionSetup> electionSetup(
    const RunOptions &options, const transport::ClusterConfig &cluster)
{
    ElectionSetup setup;
    setup.election.identity = electionIdentity();
    setup.election.leaseDuration = options.leaseDuration;
    setup.election.renewDeadline = options.renewDeadline;
    setup.election.retryPeriod = options.retryPeriod;
    if (const Status status = client::checkElection(setup.election); !status.isOk())
        return Error(ErrorCode::InvalidConfiguration,
            status.error().message()
                + QStringLiteral("; change --leader-elect-lease-duration, "
                                 "--leader-elect-renew-deadline or --leader-elect-retry-period"));
    const Result<ObjectKey> lease
        = electionLease(options.leaseName, options.leaseNamespace, cluster);
    if (!lease.isOk())
        return lease.error();
    setup.lease = lease.value();
    return setup;
}

} // namespace

Result<ObjectKey> electionLease(
    const QString &name, const QString &namespaceName, const transport::ClusterConfig &cluster)
{
    const ObjectKey lease{namespaceName.isEmpty() ? cluster.podNamespace : namespaceName, name};
    if (lease.namespaceName.isEmpty())
        return Error(ErrorCode::InvalidConfiguration,
            QStringLiteral("--leader-elect: %1 names no pod whose namespace the Lease could be in; "
                           "name one with --leader-elect-resource-namespace")
                .arg(cluster.source));
    if (const Status status = client::checkLease(lease); !status.isOk())
        return Error(ErrorCode::InvalidConfiguration,
            status.error().message()
                + QStringLiteral("; change --leader-elect-resource-name or "
                                 "--leader-elect-resource-namespace"));
    return lease;
}

Result<Setup> prepareSetup(const RunOptions &options)
{
    Setup setup;
    Status status
        = takeAddress("--metrics-bind-address", options.metricsAddress, &setup.metricsAddress);
    if (status.isOk())
        status
            = takeAddress("--health-probe-bind-address", options.probeAddress, &setup.probeAddress);
    if (!status.isOk())
        return status.error();
    for (const QString &dir : options.pluginDirs) {
        const Result<QString> path = existingDir(dir, "plugin directory", "--plugin-dir");
        if (!path.isOk())
            return path.error();
        setup.pluginDirs << path.value();
    }
    if (!options.embeddedObjectsDir.isEmpty()) {
        const Result<QString> path
            = existingDir(options.embeddedObjectsDir, "directory of objects", "--embedded-objects");
        if (!path.isOk())
            return path.error();
        setup.embeddedObjectsDir = path.value();
    }
    const Result<Configuration> configuration = readConfiguration(options.configFile);
    if (!configuration.isOk())
        return configuration.error();
    setup.configuration = configuration.value();
    const Result<QString> stateDir = prepareStateDir(options.stateDir);
    if (!stateDir.isOk())
        return stateDir.error();
    setup.stateDir = stateDir.value();
    if (status = lockStateDir(setup.stateDir); !status.isOk())
        return status.error();
    if (options.isEmbedded)
        return setup;
    const Result<transport::ClusterConfig> cluster
        = chosenCluster(options.kubeconfig, options.context);
    if (!cluster.isOk())
        return cluster.error();
    setup.cluster = cluster.value();
    if (setup.cluster.exec && !setup.configuration.execPolicy.allows(setup.cluster.exec->command))
        return Error(ErrorCode::InvalidConfiguration,
            QStringLiteral("%1: execPrograms of the configuration file %2 does not allow %3; allow "
                           "it there or name another user")
                .arg(setup.cluster.userSource, options.configFile, setup.cluster.exec->command));
    if (options.isLeaderElected) {
        const Result<ElectionSetup> election = electionSetup(options, setup.cluster);
        if (!election.isOk())
            return election.error();
        setup.election = election.value();
    }
    return setup;
}

} // namespace davit::host
