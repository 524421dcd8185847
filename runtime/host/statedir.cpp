#include "statedir.h"

#include <QtCore/qdir.h>
#include <QtCore/qfile.h>
#include <QtCore/qtemporaryfile.h>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace davit::host {

namespace {

QString defaultDir()
{
    const QString fromSystemd
        = qEnvironmentVariable("STATE_DIRECTORY").section(QLatin1Char(':'), 0, 0);
    if (!fromSystemd.isEmpty())
        return fromSystemd;
    if (::geteuid() == 0)
        return QStringLiteral("/var/lib/davit");
    const QString xdg = qEnvironmentVariable("XDG_STATE_HOME");
    return (xdg.isEmpty() ? QDir::homePath() + QStringLiteral("/.local/state") : xdg)
        + QStringLiteral("/davit");
}

Error fault(const QString &path, const QString &what)
{
    return Error(ErrorCode::InvalidConfiguration,
        QStringLiteral("state directory %1 %2; give one that is writable and not mounted noexec "
                       "with --state-dir")
            .arg(path, what));
}

} // namespace

Result<QString> prepareStateDir(const QString &wanted)
{
    const QString path = QDir(wanted.isEmpty() ? defaultDir() : wanted).absolutePath();
    if (wanted.isEmpty() && !QFile::exists(path) && !QDir().mkpath(path))
        return fault(path, QStringLiteral("cannot be made"));
    struct stat info
    {
    };
    const QByteArray name = QFile::encodeName(path);
    if (::stat(name.constData(), &info) != 0)
        return fault(path,
            errno == ENOENT ? QStringLiteral("does not exist")
                            : QStringLiteral("cannot be looked at (%1)")
                                  .arg(QString::fromLocal8Bit(std::strerror(errno))));
    if (!S_ISDIR(info.st_mode))
        return fault(path, QStringLiteral("is no directory"));
    QTemporaryFile probe(path + QStringLiteral("/.probe-XXXXXX"));
    if (!probe.open() || probe.write("x", 1) != 1 || !probe.flush())
        return fault(path, QStringLiteral("is not writable"));
    // noexec refuses a mapping with PROT_EXEC, which is what loading a plugin from there needs.
    void *mapped = ::mmap(nullptr, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, probe.handle(), 0);
    if (mapped == MAP_FAILED)
        return fault(path, QStringLiteral("is on a file system mounted noexec"));
    ::munmap(mapped, 1);
    return path;
}

} // namespace davit::host
