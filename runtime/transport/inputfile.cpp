#include "inputfile.h"

#include <QtCore/qfile.h>
#include <QtCore/qfileinfo.h>
#include <sys/stat.h>

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

} // namespace

QByteArray readInputFile(const QString &path, QString *fault)
{
    *fault = unfitKind(path);
    if (!fault->isEmpty())
        return {};
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) {
        *fault = file.errorString();
        return {};
    }
    QByteArray contents;
    for (;;) { // a pipe gives it in pieces
        const QByteArray piece = file.read(kMaxInputFile + 1 - contents.size());
        contents += piece;
        if (piece.isEmpty() || contents.size() > kMaxInputFile)
            break;
    }
    if (contents.size() <= kMaxInputFile)
        return contents;
    *fault = QStringLiteral("it is larger than 16 MiB");
    return {};
}

} // namespace davit::transport
