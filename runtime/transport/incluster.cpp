#include "incluster.h"

#include "credential.h"
#include "inputfile.h"

#include <QtNetwork/qsslcertificate.h>

namespace davit::transport {
namespace {

QByteArray readFile(const QString &path)
{
    QString fault;
    return readInputFile(path, &fault);
}

Error fault(const QString &what)
{
    return Error(
        ErrorCode::InvalidConfiguration, QStringLiteral("in-cluster configuration: ") + what);
}

QString namespaceOf(const LoadEnvironment &environment)
{
    if (const QString name = environment.variable("POD_NAMESPACE"); !name.isEmpty())
        return name;
    return QString::fromUtf8(
        readFile(environment.serviceAccountFolder + QStringLiteral("/namespace")).trimmed());
}

} // namespace

bool isInCluster(const LoadEnvironment &environment)
{
    return !environment.variable("KUBERNETES_SERVICE_HOST").isEmpty()
        && !environment.variable("KUBERNETES_SERVICE_PORT").isEmpty();
}

Result<ClusterConfig> loadInCluster(const LoadEnvironment &environment)
{
    if (!isInCluster(environment)) {
        return fault(QStringLiteral("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not "
                                    "set, this process runs in no pod; name a kubeconfig with "
                                    "--kubeconfig"));
    }
    ClusterConfig config;
    config.source = QStringLiteral("in-cluster configuration");
    config.podNamespace = namespaceOf(environment);
    if (!config.podNamespace.isEmpty())
        config.namespaceName = config.podNamespace;
    config.server.setScheme(QStringLiteral("https"));
    config.server.setHost(environment.variable("KUBERNETES_SERVICE_HOST")); // brackets an IPv6 one
    bool isNumber = false;
    const int port = environment.variable("KUBERNETES_SERVICE_PORT").toUShort(&isNumber);
    if (!isNumber || config.server.host().isEmpty())
        return fault(
            QStringLiteral("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name no address; "
                           "Kubernetes sets both, take them out of the pod's own env"));
    config.server.setPort(port);

    config.tokenFile = environment.serviceAccountFolder + QStringLiteral("/token");
    QString unreadable;
    config.token = readInputFile(config.tokenFile, &unreadable).trimmed();
    if (!unreadable.isEmpty()) {
        return fault(QStringLiteral(
            "the token %1 cannot be read: %2; let the pod have its service account's "
            "(automountServiceAccountToken), or name a kubeconfig with --kubeconfig")
                         .arg(config.tokenFile, unreadable));
    }
    if (config.token.isEmpty())
        return fault(
            QStringLiteral("the token %1 is empty; look who writes that volume, or start the pod "
                           "anew")
                .arg(config.tokenFile));
    if (!isHeaderSafe(config.token)) {
        return fault(QStringLiteral("the token %1 %2; look who writes that volume")
                         .arg(config.tokenFile, kNotHeaderSafe));
    }
    const QString caFile = environment.serviceAccountFolder + QStringLiteral("/ca.crt");
    const QByteArray ca = readFile(caFile);
    if (QSslCertificate::fromData(ca, QSsl::Pem).isEmpty()) {
        config.warnings.append(
            QStringLiteral("%1 holds no certificate, the system's roots are used; look at the "
                           "ConfigMap kube-root-ca.crt")
                .arg(caFile));
    } else {
        config.caPem = ca;
        config.caFile = caFile;
    }
    return config;
}

} // namespace davit::transport
