#include "privatecopy.h"

#include <QtCore/qcoreapplication.h>
#include <QtCore/qdir.h>
#include <QtCore/qdiriterator.h>
#include <csignal>

namespace davit::pluginhost {

namespace {

QString root(const QString &stateDir)
{
    return QDir(stateDir).absoluteFilePath(QStringLiteral("plugins"));
}

Status failed(const QString &what, const QString &from, const QString &to)
{
    return Status(ErrorCode::InvalidConfiguration,
        QStringLiteral("%1: it could not be copied to %2 (%3); check --state-dir")
            .arg(from, to, what));
}

Status copyFile(const QString &from, const QString &to)
{
    QFile file(from);
    return file.copy(to) ? Status::ok() : failed(file.errorString(), from, to);
}

Status copyFolder(const QString &from, const QString &to)
{
    QDirIterator it(from, QDir::Files | QDir::NoDotAndDotDot, QDirIterator::Subdirectories);
    while (it.hasNext()) {
        const QString source = it.next();
        const QString target = to + source.mid(from.size());
        if (!QDir().mkpath(QFileInfo(target).absolutePath()))
            return failed(QStringLiteral("no directory"), source, target);
        if (Status status = copyFile(source, target); !status.isOk())
            return status;
    }
    return Status::ok();
}

} // namespace

void removeOldCopies(const QString &stateDir)
{
    const QFileInfoList owners
        = QDir(root(stateDir)).entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot);
    for (const QFileInfo &owner : owners) {
        bool isPid = false;
        const qint64 pid = owner.fileName().toLongLong(&isPid);
        // Another host may share the directory: what a living process made is left alone.
        const bool isAlive
            = isPid && pid != QCoreApplication::applicationPid() && ::kill(pid_t(pid), 0) == 0;
        if (!isAlive)
            QDir(owner.absoluteFilePath()).removeRecursively();
    }
}

Status copyPlugin(const QString &stateDir, const PluginFile &file, const QString &id,
    int generation, QString *copy)
{
    const QString target = QStringLiteral("%1/%2/%3/%4")
                               .arg(root(stateDir))
                               .arg(QCoreApplication::applicationPid())
                               .arg(id)
                               .arg(generation);
    if (!QDir().mkpath(target))
        return failed(QStringLiteral("no directory"), file.path, target);
    const QString name = QFileInfo(file.path).fileName();
    const Status status = file.folder.isEmpty() ? copyFile(file.path, target + u'/' + name)
                                                : copyFolder(file.folder, target);
    if (status.isOk())
        *copy = target + u'/' + name;
    return status;
}

} // namespace davit::pluginhost
