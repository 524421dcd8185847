#include "checklease.h"

#include "servercalls.h"

#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>

namespace davit::host {

namespace {

QByteArray leaseNamed(const QString &name)
{
    const QJsonObject lease{
        {QStringLiteral("apiVersion"), QStringLiteral("coordination.k8s.io/v1")},
        {QStringLiteral("kind"), QStringLiteral("Lease")},
        {QStringLiteral("metadata"), QJsonObject{{QStringLiteral("name"), name}}}};
    return QJsonDocument(lease).toJson(QJsonDocument::Compact);
}

bool hasCause(const QJsonValue &details, QLatin1StringView reason)
{
    for (const QJsonValue &cause : details[QLatin1StringView("causes")].toArray())
        if (cause[QLatin1StringView("reason")].toString() == reason)
            return true;
    return false;
}

} // namespace

QueryExit checkLeaseNamespace(ServerCalls &calls, const ObjectKey &lease, const TellFinding &tell)
{
    const ServerAnswer answer = calls.post("/apis/coordination.k8s.io/v1/namespaces/"
            + lease.namespaceName.toUtf8() + "/leases?dryRun=All",
        leaseNamed(lease.name));
    const QJsonValue details = QJsonDocument::fromJson(answer.body)[QLatin1StringView("details")];
    QString fault;
    if (answer.httpStatus == 404
        && details[QLatin1StringView("kind")].toString() == QLatin1StringView("namespaces"))
        fault = QStringLiteral("does not exist, so no process can lead; create it (kubectl create "
                               "namespace %1), or")
                    .arg(lease.namespaceName);
    else if (answer.httpStatus == 403
        && hasCause(details, QLatin1StringView("NamespaceTerminating")))
        fault = QStringLiteral("is being deleted, so no process can lead; create it anew when it "
                               "is gone, or");
    if (fault.isEmpty())
        return QueryExit::Done;
    tell({Finding::Grade::Bad, QStringLiteral("election"),
        QStringLiteral("the namespace %1 of the Lease %2 name another with "
                       "--leader-elect-resource-namespace")
            .arg(lease.namespaceName, fault)});
    return QueryExit::Configuration;
}

} // namespace davit::host
