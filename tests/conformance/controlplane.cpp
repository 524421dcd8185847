#include "controlplane.h"

#include <QtCore/qcoreapplication.h>
#include <QtCore/qdir.h>
#include <QtCore/qelapsedtimer.h>
#include <QtCore/qfile.h>
#include <QtCore/qprocess.h>
#include <QtCore/qstandardpaths.h>
#include <QtCore/qthread.h>
#include <csignal>

static const QString kScripts = QStringLiteral(DAVIT_SOURCE_DIR "/tests/controlplane/");

static QStringList owner()
{
    return {QStringLiteral("--owner"), QString::number(QCoreApplication::applicationPid())};
}

ControlPlane::~ControlPlane()
{
    QProcess::execute(kScripts + QStringLiteral("stop"), {folder()});
}

bool ControlPlane::runStart(const QStringList &arguments)
{
    QProcess process;
    process.start(kScripts + QStringLiteral("start"), QStringList{folder()} + arguments);
    const bool hasEnded = process.waitForFinished(120000);
    if (hasEnded && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0)
        return true;
    m_errorText = QString::fromUtf8(process.readAllStandardError());
    if (m_errorText.isEmpty())
        m_errorText
            = QStringLiteral("the control plane did not start: %1").arg(process.errorString());
    return false;
}

bool ControlPlane::start(ControllerManager manager, const QStringList &apiServerFlags)
{
    QStringList arguments = owner();
    if (manager == ControllerManager::Yes)
        arguments.append(QStringLiteral("--controller-manager"));
    if (!apiServerFlags.isEmpty())
        arguments += QStringList{QStringLiteral("--")} + apiServerFlags;
    return runStart(arguments);
}

bool ControlPlane::killApiServer()
{
    QFile file(m_folder.filePath(QStringLiteral("kube-apiserver.pid")));
    if (!file.open(QIODevice::ReadOnly))
        return false;
    const pid_t pid = file.readAll().trimmed().toInt();
    if (pid <= 1 || ::kill(pid, SIGKILL) != 0)
        return false;
    // Its parent ended long ago: whoever inherited it may leave a zombie, which serves nobody.
    QElapsedTimer waited;
    waited.start();
    while (waited.elapsed() < 10000) {
        QFile status(QStringLiteral("/proc/%1/status").arg(pid));
        if (!status.open(QIODevice::ReadOnly))
            return true;
        const QByteArray text = status.readAll();
        // Its first thread is a zombie before the others, which hold its sockets, have gone.
        if (text.contains("State:\tZ") && text.contains("\nThreads:\t1\n"))
            return true;
        QThread::msleep(5);
    }
    return false;
}

bool ControlPlane::restartApiServer()
{
    return runStart({});
}

bool ControlPlane::backup()
{
    return startFrom(QStringLiteral("data"), QStringLiteral("backup"));
}

bool ControlPlane::restore()
{
    return startFrom(QStringLiteral("backup"), QStringLiteral("data"));
}

// etcd's folder may be copied while etcd does not run.
bool ControlPlane::startFrom(const QString &from, const QString &to)
{
    QDir target(m_folder.filePath(to));
    if (QProcess::execute(kScripts + QStringLiteral("stop"), {folder()}) == 0
        && (!target.exists() || target.removeRecursively())
        && QProcess::execute(QStringLiteral("cp"),
               {QStringLiteral("-a"), m_folder.filePath(from), m_folder.filePath(to)})
            == 0)
        return runStart(owner());
    m_errorText = QStringLiteral("%1 was not copied to %2").arg(from, to);
    return false;
}

quint16 ControlPlane::apiServerPort() const
{
    QFile file(m_folder.filePath(QStringLiteral("ports")));
    return file.open(QIODevice::ReadOnly) ? file.readAll().split(' ').value(0).toUShort() : 0;
}

int ControlPlane::kubectl(
    const QStringList &arguments, QByteArray *output, const QByteArray &input) const
{
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(QDir(assetsFolder()).filePath(QStringLiteral("kubectl")),
        QStringList{QStringLiteral("--kubeconfig"), kubeconfigPath()} + arguments);
    process.write(input);
    process.closeWriteChannel();
    const bool hasEnded = process.waitForFinished(60000);
    if (output)
        *output = process.readAll();
    return hasEnded && process.exitStatus() == QProcess::NormalExit ? process.exitCode() : 255;
}

QString ControlPlane::assetsFolder()
{
    const QString named = qEnvironmentVariable("KUBEBUILDER_ASSETS");
    if (!named.isEmpty())
        return named;
    return QStandardPaths::writableLocation(QStandardPaths::GenericCacheLocation)
        + QStringLiteral("/davit/controlplane/v1.37.2");
}
