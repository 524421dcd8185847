#include "hostprocess.h"

#include "ownnamespaces.h"

#include <QElapsedTimer>
#include <QFile>
#include <QJsonDocument>
#include <QRandomGenerator>
#include <QTcpServer>
#include <QTcpSocket>
#include <csignal>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

QByteArray httpGet(quint16 port, const QByteArray &target)
{
    QTcpSocket socket;
    socket.connectToHost(QStringLiteral("127.0.0.1"), port);
    if (!socket.waitForConnected(5000))
        return {};
    socket.write("GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    QByteArray answer;
    while (socket.waitForReadyRead(5000))
        answer += socket.readAll();
    return answer + socket.readAll();
}

// Not of those that the kernel gives to clients, which the programs of other tests take and leave.
quint16 freePort()
{
    QTcpServer probe;
    for (int i = 0; i < 100 && !probe.isListening(); ++i)
        probe.listen(
            QHostAddress::LocalHost, quint16(QRandomGenerator::global()->bounded(20000, 32000)));
    if (!probe.isListening())
        qFatal("no port is free: %s", qPrintable(probe.errorString()));
    return probe.serverPort();
}

HostProcess::HostProcess()
{
    // Nothing of the machine's own cluster.
    for (const QString &name : QProcessEnvironment::systemEnvironment().keys())
        if (!name.startsWith(QStringLiteral("KUBE")))
            m_environment.insert(name, QProcessEnvironment::systemEnvironment().value(name));
    m_environment.insert(QStringLiteral("HOME"), m_dir.path());
}

HostProcess::~HostProcess()
{
    if (m_process.state() != QProcess::NotRunning) {
        m_process.kill();
        m_process.waitForFinished();
    }
}

void HostProcess::setEnvironment(const QString &name, const QString &value)
{
    m_environment.insert(name, value);
}

void HostProcess::obeyFileRights()
{
    if (::geteuid() != 0)
        return;
    m_process.setChildProcessModifier([] {
        for (const int right : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH})
            if (::prctl(PR_CAPBSET_DROP, right) != 0)
                ::_exit(127);
    });
}

// What is mounted in it nobody else sees.
static QStringList inMountNamespace()
{
    return inOwnNamespaces({QStringLiteral("--mount")});
}

bool HostProcess::canLiveInPod()
{
    return !inMountNamespace().isEmpty();
}

void HostProcess::liveInPod(const QString &serviceAccountFolder, quint16 apiServerPort)
{
    setEnvironment(QStringLiteral("KUBERNETES_SERVICE_HOST"), QStringLiteral("127.0.0.1"));
    setEnvironment(QStringLiteral("KUBERNETES_SERVICE_PORT"), QString::number(apiServerPort));
    m_launcher = inMountNamespace()
        + QStringList{QStringLiteral("sh"), QStringLiteral("-c"),
            QStringLiteral("mount -t tmpfs none \"$(readlink -f /var/run)\" && "
                           "mkdir -p /var/run/secrets/kubernetes.io && "
                           "ln -s \"$0\" /var/run/secrets/kubernetes.io/serviceaccount && "
                           "exec \"$@\""),
            serviceAccountFolder};
}

bool HostProcess::run(const QStringList &arguments)
{
    return start(
        QStringList{QStringLiteral("run"), QStringLiteral("--state-dir"), m_dir.path(),
            QStringLiteral("--metrics-bind-address=0"),
            QStringLiteral("--health-probe-bind-address=0"), QStringLiteral("--zap-encoder=json")}
        + arguments);
}

bool HostProcess::start(const QStringList &arguments)
{
    m_process.setProcessEnvironment(m_environment);
    m_process.setProcessChannelMode(QProcess::SeparateChannels);
    QStringList command
        = m_launcher + QStringList{QStringLiteral(DAVIT_BUILD_DIR "/bin/davit")} + arguments;
    const QString program = command.takeFirst();
    m_process.start(program, command);
    return m_process.waitForStarted();
}

QByteArray HostProcess::outputText()
{
    m_output += m_process.readAllStandardOutput();
    return m_output;
}

QByteArray HostProcess::errorText()
{
    m_process.waitForReadyRead(1);
    m_errors += m_process.readAllStandardError();
    return m_errors;
}

QList<QJsonObject> HostProcess::lines()
{
    QList<QJsonObject> all;
    const QByteArray text = errorText();
    for (const QByteArray &line : text.left(text.lastIndexOf('\n')).split('\n')) {
        const QJsonObject object = QJsonDocument::fromJson(line).object();
        all << (object.isEmpty() ? QJsonObject{{QStringLiteral("raw"), QString::fromUtf8(line)}}
                                 : object);
    }
    return all;
}

QList<QJsonObject> HostProcess::linesWith(
    const char *message, const char *field, const QString &value)
{
    QList<QJsonObject> found;
    for (const QJsonObject &line : lines())
        if (line.value(QLatin1StringView("msg")).toString() == QString::fromUtf8(message)
            && (!field || line.value(QLatin1StringView(field)).toVariant().toString() == value))
            found << line;
    return found;
}

bool HostProcess::waitForLine(
    const char *message, const char *field, const QString &value, int seconds)
{
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < seconds * 1000) {
        if (!linesWith(message, field, value).isEmpty())
            return true;
        if (m_process.state() == QProcess::NotRunning)
            break;
        m_process.waitForReadyRead(50);
    }
    return !linesWith(message, field, value).isEmpty();
}

int HostProcess::waitForExit(int seconds)
{
    if (m_process.state() != QProcess::NotRunning && !m_process.waitForFinished(seconds * 1000))
        return -1;
    errorText();
    return m_process.exitStatus() == QProcess::NormalExit ? m_process.exitCode() : -2;
}

void HostProcess::signalOnce(int number)
{
    if (const qint64 pid = m_process.processId(); pid > 0) // 0 would be this program and its group
        ::kill(pid_t(pid), number);
}

bool HostProcess::isHalted() const
{
    QFile stat(QStringLiteral("/proc/%1/stat").arg(m_process.processId()));
    return stat.open(QIODevice::ReadOnly) && stat.readAll().contains(") T ");
}

int HostProcess::stop(int seconds)
{
    signalOnce(SIGTERM);
    return waitForExit(seconds);
}
