// One davit process of this build, as a user runs it, and what it logs.
#pragma once

#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>

// Whether this build's process has a sanitizer, whose library must be the first that is loaded.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

// The whole answer of a web server on this machine, head first; empty without one.
QByteArray httpGet(quint16 port, const QByteArray &target);
quint16 freePort();

class HostProcess
{
public:
    HostProcess();
    ~HostProcess(); // kills it when it still runs
    Q_DISABLE_COPY_MOVE(HostProcess)

    // A state directory of its own, no web servers, JSON lines; `arguments` follow. False: it may
    // not be executed.
    bool run(const QStringList &arguments);
    // Exactly these arguments.
    bool start(const QStringList &arguments);
    void setEnvironment(const QString &name, const QString &value);
    // The rights of files count for it, also where root starts it.
    void obeyFileRights();
    // As in a pod on this API server, whose service account has the files of the folder: in a mount
    // namespace of its own, with the variables that the kubelet sets.
    void liveInPod(const QString &serviceAccountFolder, quint16 apiServerPort);
    // Whether this machine gives its user such a namespace.
    static bool canLiveInPod();

    // Everything on standard output so far.
    QByteArray outputText();
    // Everything on standard error so far.
    QByteArray errorText();
    // Its JSON lines; others have a "raw" member.
    QList<QJsonObject> lines();
    // Lines with this message, and, when given, this value of a field.
    QList<QJsonObject> linesWith(
        const char *message, const char *field = nullptr, const QString &value = {});
    bool waitForLine(const char *message, const char *field = nullptr, const QString &value = {},
        int seconds = 20);
    // SIGTERM; the exit code, or -1 when it does not end in time, -2 when it crashed.
    int stop(int seconds = 20);
    int waitForExit(int seconds = 20);
    void signalOnce(int number);
    qint64 processId() const { return m_process.processId(); } // 0 once it has ended
    bool isHalted() const; // by SIGSTOP

    QString stateDir() const { return m_dir.path(); }

private:
    QTemporaryDir m_dir;
    QProcess m_process;
    QProcessEnvironment m_environment;
    QStringList m_launcher; // runs davit; empty: nothing has to
    QByteArray m_output;
    QByteArray m_errors;
};
