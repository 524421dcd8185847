#include "kubeconfigmembers.h"

#include <support/nearestname.h>

namespace davit::transport {
namespace {

QStringList membersOf(KubeconfigLevel level)
{
    const char *names = "";
    switch (level) {
    case KubeconfigLevel::Cluster:
        names = "server tls-server-name insecure-skip-tls-verify certificate-authority "
                "certificate-authority-data proxy-url disable-compression extensions";
        break;
    case KubeconfigLevel::User:
        names = "client-certificate client-certificate-data client-key client-key-data token "
                "tokenFile as as-uid as-groups as-user-extra username password auth-provider exec "
                "extensions";
        break;
    case KubeconfigLevel::Context:
        names = "cluster user namespace extensions";
        break;
    case KubeconfigLevel::Exec:
        names = "command args env apiVersion installHint provideClusterInfo interactiveMode";
        break;
    }
    return QString::fromLatin1(names).split(u' ');
}

} // namespace

QStringList misplacedMembers(const support::Json &entry, KubeconfigLevel level)
{
    QStringList misplaced;
    for (const QString &name : membersOf(level)) {
        if (entry.contains(name.toStdString()))
            misplaced << name;
    }
    return misplaced;
}

QStringList unknownMembers(const support::Json &value, KubeconfigLevel level)
{
    const QStringList known = membersOf(level);
    QStringList sentences;
    for (const auto &item : value.items()) {
        const QString name = QString::fromStdString(item.key());
        if (known.contains(name))
            continue;
        const QString meant = support::nearestName(name, known);
        sentences << QStringLiteral("davit knows no %1 there and leaves it out; %2")
                         .arg(name,
                             meant.isEmpty() ? QStringLiteral("remove it, or correct its name")
                                             : QStringLiteral("is %1 meant?").arg(meant));
    }
    return sentences;
}

} // namespace davit::transport
