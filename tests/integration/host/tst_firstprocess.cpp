// Davit as PID 1, as in a container: what it does for processes that are not its own, and how it
// ends.
#include "ownnamespaces.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <sys/wait.h>
#include <unistd.h>

using namespace Qt::StringLiterals;

// Becomes davit after it left two orphans behind: one that ends soon, and one that says when
// nothing is left of the first, waits for the file "go" and does what the row wants.
static const char kScript[] = R"(
(sh -c 'echo $$ > orphan; sleep 0.2' &)
(sh -c 'while [ ! -s orphan ] || [ -e /proc/$(cat orphan) ]; do sleep 0.05; done
: > reaped
while [ ! -e go ]; do sleep 0.05; done
'"$1" &)
shift
exec "$@"
)";

// Of this program, as PID 1: waits until a child has ended, without reaping it, and becomes the
// command that follows.
static const QString kAfterOrphan = QStringLiteral("--after-orphan");

class tst_FirstProcess : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void reapsAndEnds_data();
    void reapsAndEnds();
    void orphansOfExecPlugins();

public:
    enum class When { AtOnce, OrphanHasEnded };
    Q_ENUM(When)

private:
    // What goes before the command that shall be PID 1.
    static QStringList asFirst()
    {
        return inOwnNamespaces({u"--pid"_s, u"--fork"_s, u"--kill-child"_s, u"--mount-proc"_s});
    }
    // davit on this cluster as PID 1, in the folder; `act` is for kScript, `when` davit begins.
    static void start(QProcess *container, const QTemporaryDir &folder, const QString &act,
        When when, const QStringList &cluster);
};

void tst_FirstProcess::start(QProcess *container, const QTemporaryDir &folder, const QString &act,
    When when, const QStringList &cluster)
{
    const QDir dir(folder.path());
    if (!dir.mkpath(u"plugins"_s) || !dir.mkpath(u"state"_s))
        qFatal("no folders");
    container->setWorkingDirectory(folder.path());
    QStringList command = asFirst()
        + QStringList{u"/bin/sh"_s, u"-c"_s, QString::fromLatin1(kScript), u"sh"_s, act};
    if (when == When::OrphanHasEnded)
        command += {QCoreApplication::applicationFilePath(), kAfterOrphan};
    command += {QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"), u"run"_s, u"--state-dir"_s,
        dir.filePath(u"state"_s), u"--plugin-dir"_s, dir.filePath(u"plugins"_s),
        u"--metrics-bind-address=0"_s, u"--health-probe-bind-address=0"_s, u"--zap-encoder=json"_s};
    const QString program = command.takeFirst();
    container->start(program, command + cluster);
}

void tst_FirstProcess::initTestCase()
{
    if (asFirst().isEmpty())
        QSKIP("this machine gives a user no PID namespace");
}

void tst_FirstProcess::reapsAndEnds_data()
{
    QTest::addColumn<When>("when"); // davit begins
    QTest::addColumn<QString>("act");
    QTest::addColumn<QByteArray>("cause"); // as davit tells it; empty: it cannot
    QTest::addColumn<int>("exitCode");
    QTest::newRow("B63 an orphan that ended before davit began")
        << When::OrphanHasEnded << u"kill -s TERM 1"_s << QByteArray("SIGTERM") << 0;
    QTest::newRow("B63 SIGTERM") << When::AtOnce << u"kill -s TERM 1"_s << QByteArray("SIGTERM")
                                 << 0;
    QTest::newRow("B63 SIGINT") << When::AtOnce << u"kill -s INT 1"_s << QByteArray("SIGINT") << 0;
    QTest::newRow("B63 two signals")
        << When::AtOnce
        << u"kill -s STOP -- -1; for i in $(seq 100); do "
           "grep -qs ') T ' /proc/[0-9]*/stat && break; sleep 0.05; done; "
           "kill -s TERM 1; kill -s INT 1; for i in $(seq 100); do "
           "grep -qs '^ShdPnd:.*4002$' /proc/[0-9]*/status && break; sleep 0.05; done; "
           "kill -s CONT -- -1"_s
        << QByteArray() << 1;
    QTest::newRow("B63 davit is killed")
        << When::AtOnce << u"kill -s KILL -- -1"_s << QByteArray() << 137;
}

void tst_FirstProcess::reapsAndEnds()
{
    QFETCH(const When, when);
    QFETCH(const QString, act);
    QFETCH(const QByteArray, cause);
    const QTemporaryDir folder;
    const QDir dir(folder.path());
    QProcess container;
    start(&container, folder, act, when, {u"--embedded"_s});
    QByteArray log;
    QTRY_VERIFY2_WITH_TIMEOUT(
        (log += container.readAllStandardError()).contains("\"msg\":\"ready\""), log.constData(),
        30000);
    QTRY_VERIFY2_WITH_TIMEOUT(dir.exists(u"reaped"_s), "the orphan is a zombie still", 20000);
    QVERIFY(QFile(dir.filePath(u"go"_s)).open(QIODevice::WriteOnly));
    QVERIFY2(container.waitForFinished(), log.constData());
    log += container.readAllStandardError();
    QTEST(container.exitCode(), "exitCode");
    QCOMPARE(container.exitStatus(), QProcess::NormalExit);
    QVERIFY2(cause.isEmpty() || log.contains("\"cause\":\"" + cause + '"'), log.constData());
}

// B63's program two hundred times side by side: davit hears how its own child ended, and none of
// their orphans stays a zombie.
void tst_FirstProcess::orphansOfExecPlugins()
{
    const QTemporaryDir folder;
    const QDir dir(folder.path());
    QFile plugin(dir.filePath(u"plugin.sh"_s));
    QVERIFY(plugin.open(QIODevice::WriteOnly));
    plugin.write("for i in $(seq 200); do sh " DAVIT_TEST_DATA
                 "/cases/B63-exec-orphan.sh >/dev/null & done\nwait\n: > ran\n"
                 "exec sh " DAVIT_TEST_DATA "/cases/B63-exec-orphan.sh\n");
    plugin.close();
    QFile kubeconfig(dir.filePath(u"kubeconfig"_s));
    QVERIFY(kubeconfig.open(QIODevice::WriteOnly));
    kubeconfig.write("apiVersion: v1\nkind: Config\ncurrent-context: t\n"
                     "contexts: [{name: t, context: {cluster: c, user: u}}]\n"
                     "clusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\"}}]\n"
                     "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, "
                     "interactiveMode: Never, command: /bin/sh, args: [plugin.sh]}}}]\n");
    kubeconfig.close();
    QProcess container;
    start(&container, folder,
        u"sleep 3; ! grep -qs ') Z 1 ' /proc/[0-9]*/stat || : > zombies; kill -s TERM 1"_s,
        When::AtOnce, {u"--kubeconfig"_s, kubeconfig.fileName()});
    QByteArray log;
    // The server is not there, which is found out with a credential alone.
    QTRY_VERIFY2_WITH_TIMEOUT(dir.exists(u"ran"_s)
            && (log += container.readAllStandardError()).contains("onnection refused"),
        log.constData(), 60000);
    QVERIFY(QFile(dir.filePath(u"go"_s)).open(QIODevice::WriteOnly));
    QVERIFY2(container.waitForFinished(), log.constData());
    QCOMPARE(container.exitCode(), 0);
    QVERIFY(dir.exists(u"reaped"_s));
    QVERIFY(!dir.exists(u"zombies"_s));
}

int main(int argc, char **argv)
{
    if (argc > 2 && kAfterOrphan == QLatin1StringView(argv[1])) {
        siginfo_t ended{};
        ::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT);
        ::execv(argv[2], argv + 2);
        return 1;
    }
    QCoreApplication application(argc, argv);
    tst_FirstProcess test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_firstprocess.moc"
