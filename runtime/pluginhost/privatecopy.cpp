#include "privatecopy.h"

#include <QtCore/qcoreapplication.h>
#include <QtCore/qdir.h>
#include <QtCore/qdiriterator.h>
#include <algorithm>
#include <cerrno>
#include <csignal>

namespace davit::pluginhost {

namespace {

QString root(const QString &stateDir)
{
    return QDir(stateDir).absoluteFilePath(QStringLiteral("plugin-copies"));
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

// The process whose copies a directory of this name holds; 0 for every other name.
pid_t ownerOf(const QString &name)
{
    const auto isDigit = [](QChar c) { return c >= u'0' && c <= u'9'; };
    bool isNumber = false;
    const int pid = name.toInt(&isNumber);
    return isNumber && std::all_of(name.begin(), name.end(), isDigit) ? pid_t(pid) : 0;
}

bool isAlive(pid_t pid)
{
    return ::kill(pid, 0) == 0 || errno == EPERM;
}

bool isWithin(const QString &path, const QString &folder)
{
    return path == folder
        || path.startsWith(folder.endsWith(u'/') ? folder : QString(folder + u'/'));
}

} // namespace

Status checkCopiesApart(const QString &stateDir, const QStringList &places)
{
    const QString copies = root(stateDir);
    if (QFileInfo(copies).isSymLink())
        return Status(ErrorCode::InvalidConfiguration,
            QStringLiteral("%1: it is a symbolic link, and copies of plugins are made and removed "
                           "there; remove it or choose another --state-dir")
                .arg(copies));
    if (const QFileInfo info(copies); info.exists() && !(info.isDir() && info.isWritable()))
        return Status(ErrorCode::InvalidConfiguration,
            QStringLiteral(
                "%1: it is no directory that can be written to, and copies of plugins are "
                "made there; remove it or choose another --state-dir")
                .arg(copies));
    const QString real
        = QDir(QFileInfo(stateDir).canonicalFilePath()).filePath(QFileInfo(copies).fileName());
    for (const QString &place : places) {
        const QString plugins = QFileInfo(place).canonicalFilePath();
        if (!plugins.isEmpty() && (isWithin(real, plugins) || isWithin(plugins, real)))
            return Status(ErrorCode::InvalidConfiguration,
                QStringLiteral("--plugin-dir %1: it overlaps with %2, where copies of plugins are "
                               "made and removed; choose another --state-dir")
                    .arg(place, copies));
    }
    return Status::ok();
}

void removeOldCopies(const QString &stateDir)
{
    if (QFileInfo(root(stateDir)).isSymLink())
        return;
    const QFileInfoList owners
        = QDir(root(stateDir)).entryInfoList(QDir::Dirs | QDir::NoSymLinks | QDir::NoDotAndDotDot);
    for (const QFileInfo &owner : owners) {
        const pid_t pid = ownerOf(owner.fileName());
        // Another host may share the directory: what a living process made is left alone.
        if (pid > 0 && (pid == QCoreApplication::applicationPid() || !isAlive(pid)))
            QDir(owner.absoluteFilePath()).removeRecursively(); // links in it, not what they name
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
