#include "pluginscanner.h"

#include <QtCore/qdir.h>

namespace davit::pluginhost {

namespace {

// Why a thing that is no file cannot be a plugin. It is not opened: a FIFO would block.
QString faultOf(const QFileInfo &entry)
{
    const QString what = entry.exists()
        ? QStringLiteral("it is no regular file; replace it by the library")
        : QStringLiteral("it is a link to nothing; mend it");
    return QStringLiteral("%1: %2 or remove it").arg(entry.absoluteFilePath(), what);
}

PluginFile folderPlugin(const QFileInfo &folder)
{
    const QString file
        = folder.absoluteFilePath() + u'/' + folder.completeBaseName() + QLatin1StringView(".so");
    PluginFile found{file, folder.absoluteFilePath(), {}};
    const QFileInfo library(file);
    if (library.exists() || library.isSymLink())
        found.fault = library.isFile() ? QString() : faultOf(library);
    else
        found.fault
            = QStringLiteral("%1: the folder has no %2.so; name the library like the folder")
                  .arg(folder.absoluteFilePath(), folder.completeBaseName());
    return found;
}

} // namespace

Status scanPlugins(const QString &directory, QList<PluginFile> *files)
{
    const QFileInfo info(directory);
    const QString next = QStringLiteral("; name another with --plugin-dir");
    const QString shown = QStringLiteral("plugin directory %1: ").arg(directory);
    if (!info.exists())
        return Status(
            ErrorCode::InvalidConfiguration, shown + QStringLiteral("it does not exist") + next);
    if (info.isFile() && info.suffix() == u"so") {
        files->append({info.absoluteFilePath(), {}, {}});
        return Status::ok();
    }
    if (!info.isDir())
        return Status(
            ErrorCode::InvalidConfiguration, shown + QStringLiteral("it is no directory") + next);
    if (!info.isReadable() || !info.isExecutable())
        return Status(
            ErrorCode::InvalidConfiguration, shown + QStringLiteral("it cannot be read") + next);
    const QFileInfoList entries
        = QDir(info.absoluteFilePath())
              .entryInfoList(
                  QDir::Files | QDir::Dirs | QDir::System | QDir::NoDotAndDotDot, QDir::Name);
    for (const QFileInfo &entry : entries) {
        if (entry.suffix() == u"so")
            files->append(
                {entry.absoluteFilePath(), {}, entry.isFile() ? QString() : faultOf(entry)});
        else if (entry.isDir() && entry.suffix() == u"davit")
            files->append(folderPlugin(entry));
    }
    return Status::ok();
}

} // namespace davit::pluginhost
