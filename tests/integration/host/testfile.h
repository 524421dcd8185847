// Files of a test's own.
#pragma once

#include <QFile>
#include <QTemporaryDir>

// The path of the file, with this text in it.
inline QString writeFile(
    const QTemporaryDir &dir, const QString &name, const QByteArray &text, bool isProgram = false)
{
    QFile file(dir.filePath(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
        qFatal("cannot write a test file");
    if (isProgram)
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return file.fileName();
}
