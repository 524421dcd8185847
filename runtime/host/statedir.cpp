#include "statedir.h"

#include <QtCore/qdir.h>
#include <QtCore/qfile.h>
#include <QtCore/qtemporaryfile.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
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
        QStringLiteral("state directory %1 %2%3 one that is writable and not mounted noexec with "
                       "--state-dir")
            .arg(path, what,
                what.contains(u';') ? QStringLiteral(", or give") : QStringLiteral("; give")));
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
            errno == ENOENT ? QStringLiteral("does not exist; create it")
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

Status lockStateDir(const QString &path)
{
    const QByteArray name = QFile::encodeName(path + QStringLiteral("/davit.lock"));
    const int descriptor
        = ::open(name.constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0)
        return fault(path,
            QStringLiteral("cannot be locked (davit.lock: %1)")
                .arg(QString::fromLocal8Bit(std::strerror(errno))));
    // flock and no file that says so: the kernel lets go however the process ends.
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        char holder[16] = "";
        const ssize_t n = ::pread(descriptor, holder, sizeof holder - 1, 0);
        ::close(descriptor);
        return Status(ErrorCode::InvalidConfiguration,
            QStringLiteral("state directory %1 is in use by another davit (process %2); stop that "
                           "one, or give this one another directory with --state-dir")
                .arg(path, QString::fromLatin1(holder, std::max<ssize_t>(n, 0)).trimmed()));
    }
    const QByteArray self = QByteArray::number(qint64(::getpid())) + '\n';
    if (::ftruncate(descriptor, 0) == 0)
        (void)!::pwrite(descriptor, self.constData(), size_t(self.size()), 0);
    return Status::ok(); // the descriptor stays open
}

} // namespace davit::host
