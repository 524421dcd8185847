// A real control plane for one test program: etcd, kube-apiserver and, if asked,
// kube-controller-manager on free loopback ports, with data in a temporary folder. Contract:
//   - Its processes end with this object, and also when the test program dies
//   (tests/controlplane/start --owner).
//   - An API server that was killed comes back on its port and its data by restartApiServer().
// Blocking; for tests only. The programs come from tests/controlplane/build.
#pragma once

#include <QtCore/qstringlist.h>
#include <QtCore/qtemporarydir.h>

class ControlPlane
{
public:
    enum class ControllerManager : quint8 { No, Yes };

    ControlPlane() = default;
    ~ControlPlane();
    Q_DISABLE_COPY_MOVE(ControlPlane)

    // Until /readyz says ok; false with errorText() otherwise.
    bool start(ControllerManager manager, const QStringList &apiServerFlags = {});
    // SIGKILL; returns when the process has gone.
    bool killApiServer();
    bool restartApiServer();
    // Ends all of it, keeps a copy of what etcd holds, and starts it again. No controller manager.
    bool backup();
    // The same with the copy instead: what was written since is lost, and versions go back.
    bool restore();

    QString errorText() const { return m_errorText; }
    QString folder() const { return m_folder.path(); } // holds ca.crt, admin.crt, admin.key
    QString kubeconfigPath() const { return m_folder.filePath(QStringLiteral("kubeconfig")); }
    quint16 apiServerPort() const;
    // Runs kubectl with the administrator's kubeconfig. Returns its exit code; 255 when it did not
    // end in 60 s.
    int kubectl(
        const QStringList &arguments, QByteArray *output, const QByteArray &input = {}) const;
    // The folder of the built programs, as tests/controlplane/common finds it.
    static QString assetsFolder();

private:
    bool runStart(const QStringList &arguments);
    bool startFrom(const QString &from, const QString &to);

    QTemporaryDir m_folder;
    QString m_errorText;
};
