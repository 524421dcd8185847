// One command of this build's davit, run to its end.
#pragma once

#include <QtCore/qprocess.h>

struct Outcome
{
    int exitCode = -1;
    QString out;
    QString errors;
};

// With nothing of the machine's own cluster in its environment.
inline Outcome davitWith(const QStringList &arguments)
{
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const QString &name : environment.keys()) {
        if (name.startsWith(u"KUBE") || name.toUpper().endsWith(u"_PROXY"))
            environment.remove(name);
    }
    environment.insert(QStringLiteral("HOME"), QStringLiteral("/nonexistent"));
    QProcess process;
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"), arguments);
    if (!process.waitForFinished(60000))
        process.kill();
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2,
        QString::fromUtf8(process.readAllStandardOutput()),
        QString::fromUtf8(process.readAllStandardError())};
}
