// A command in namespaces of its own, as a container has them.
#pragma once

#include <QProcess>

// What goes before the command: "unshare" with these kinds of namespaces ("--pid"), and with one of
// users where only root may have the others. Empty: this machine gives none.
inline QStringList inOwnNamespaces(const QStringList &kinds)
{
    const QString program = QStringLiteral("unshare");
    const QStringList user{QStringLiteral("--user"), QStringLiteral("--map-root-user")};
    for (const QStringList &first : {QStringList(), user}) { // root in a chroot gets none with it
        const QStringList arguments = first + kinds;
        if (QProcess::execute(program, arguments + QStringList{QStringLiteral("true")}) == 0)
            return QStringList{program} + arguments;
    }
    return {};
}
