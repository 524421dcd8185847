#include "inputfile.h"

#include <QtCore/qfile.h>
#include <QtCore/qfileinfo.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace davit::transport {
namespace {

// What kind of file nothing is read from; empty for the others, and when there is none.
QString unfitKind(const QString &path)
{
    struct stat info
    {
    };
    if (::stat(QFile::encodeName(path).constData(), &info) != 0)
        return {}; // opening it tells why
    if (S_ISDIR(info.st_mode))
        return QStringLiteral("it is a directory");
    const bool isDevice = S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode);
    if (isDevice && QFileInfo(path).canonicalFilePath() != QLatin1StringView("/dev/null"))
        return QStringLiteral("it is a device");
    return {};
}

QByteArray readAll(int descriptor, int patienceMs, QString *fault)
{
    QByteArray contents;
    QByteArray piece(64 * 1024, Qt::Uninitialized);
    while (contents.size() <= kMaxInputFile) { // a pipe gives it in pieces
        pollfd readable{descriptor, POLLIN, 0};
        if (::poll(&readable, 1, patienceMs) == 0) {
            *fault = QStringLiteral("it is a pipe that nobody writes to");
            return {};
        }
        const ssize_t n = ::read(descriptor, piece.data(), size_t(piece.size()));
        if (n == 0)
            return contents;
        if (n > 0) {
            contents.append(piece.constData(), n);
        } else if (errno != EINTR && errno != EAGAIN) {
            *fault = QString::fromLocal8Bit(std::strerror(errno));
            return {};
        }
    }
    *fault = QStringLiteral("it is larger than 16 MiB");
    return {};
}

} // namespace

QByteArray readInputFile(const QString &path, QString *fault, std::chrono::milliseconds patience)
{
    *fault = unfitKind(path);
    if (!fault->isEmpty())
        return {};
    // Without O_NONBLOCK opening a pipe that nobody writes to does not return.
    const int descriptor
        = ::open(QFile::encodeName(path).constData(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        *fault = QString::fromLocal8Bit(std::strerror(errno));
        return {};
    }
    QByteArray contents = readAll(descriptor, int(patience.count()), fault);
    ::close(descriptor);
    return fault->isEmpty() ? contents : QByteArray();
}

} // namespace davit::transport
