// The real process: what it refuses, what it waits for, how it ends.
#include "fixedserver.h"
#include "hostprocess.h"

#include <QJsonArray>
#include <QRegularExpression>
#include <QTest>
#include <csignal>
#include <sys/stat.h>

class tst_Davit : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void texts_data();
    void texts();
    void refused_data();
    void refused();
    void wrongEnvironment();
    void serverRefuses_data();
    void serverRefuses();
    void serverAway();
    void addressInUse();
    void standardFilesClosed();
    void stateDirKeepsWhatIsNotIts();
    void stateDirApart_data();
    void stateDirApart();
    void stateDirOfAnother();
    void execProgramEndsWithTheHost_data();
    void execProgramEndsWithTheHost();
    void tooLittle_data();
    void tooLittle();
    void firstSignal_data();
    void firstSignal();
    void nohup();
    void secondSignal();

private:
    QString file(const QString &name, const QByteArray &content);
    QString kubeconfig(const QString &server);

    QTemporaryDir m_dir;
};

QString tst_Davit::file(const QString &name, const QByteArray &content)
{
    QFile file(m_dir.filePath(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
        qFatal("cannot write a test file");
    return file.fileName();
}

QString tst_Davit::kubeconfig(const QString &server)
{
    return file(QStringLiteral("kubeconfig"),
        "apiVersion: v1\nkind: Config\ncurrent-context: t\n"
        "contexts: [{name: t, context: {cluster: c, user: u}}]\n"
        "clusters: [{name: c, cluster: {server: \""
            + server.toUtf8()
            + "\"}}]\n"
              "users: [{name: u, user: {token: abc}}]\n");
}

void tst_Davit::initTestCase()
{
    std::signal(SIGHUP, SIG_DFL); // what the children inherit, also under nohup
    QVERIFY(QDir(m_dir.path()).mkpath(QStringLiteral("plugins")));
}

void tst_Davit::texts_data()
{
    QTest::addColumn<QString>("arguments");
    QTest::addColumn<QString>("pattern"); // of standard output
    QTest::newRow("--version") << QStringLiteral("--version")
                               << QStringLiteral("^davit [0-9.]+ \\(SDK ABI 1, commit \\w+, built "
                                                 "[0-9-]+, Qt [0-9.]+\\)\n$");
    QTest::newRow("run --help") << QStringLiteral("run --help")
                                << QStringLiteral("--plugin-dir DIR");
}

void tst_Davit::texts()
{
    QFETCH(const QString, arguments);
    QFETCH(const QString, pattern);
    QProcess process;
    process.start(QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"), arguments.split(QLatin1Char(' ')));
    QVERIFY(process.waitForFinished());
    QCOMPARE(process.exitCode(), 0);
    const QString text = QString::fromUtf8(process.readAllStandardOutput());
    QVERIFY2(QRegularExpression(pattern).match(text).hasMatch(), qPrintable(text));
}

// NOLINTNEXTLINE(readability-function-size): a table
void tst_Davit::refused_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("sentence"); // its beginning
    const QString plugins = m_dir.filePath(QStringLiteral("plugins"));
    const QString none = m_dir.filePath(QStringLiteral("none"));
    const QString good = kubeconfig(QStringLiteral("http://127.0.0.1:1"));
    const QString noYaml = file(QStringLiteral("broken"), "a: [");
    const QString noContext = file(QStringLiteral("empty"), "apiVersion: v1\nkind: Config\n");
    const QString config = file(QStringLiteral("config.yaml"), "kind: Other\n");
    const QStringList base{
        QStringLiteral("--plugin-dir"), plugins, QStringLiteral("--kubeconfig"), good};
    const auto row = [](const char *name, const QStringList &arguments, const QString &sentence) {
        QTest::newRow(name) << arguments << sentence;
    };
    row("an unknown flag", {QStringLiteral("--plugins"), plugins},
        QStringLiteral("flag --plugins is not known; 'davit run --help' lists what there is"));
    row("a missing plugin directory", {QStringLiteral("--plugin-dir"), none},
        QStringLiteral("plugin directory %1 does not exist; create it or name another with "
                       "--plugin-dir")
            .arg(none));
    row("a plugin directory that is a file", {QStringLiteral("--plugin-dir"), good},
        QStringLiteral("plugin directory %1 is no directory; name one with --plugin-dir")
            .arg(good));
    row("a missing kubeconfig",
        {QStringLiteral("--plugin-dir"), plugins, QStringLiteral("--kubeconfig"), none},
        QStringLiteral("kubeconfig %1").arg(none));
    row("a kubeconfig that is no YAML",
        {QStringLiteral("--plugin-dir"), plugins, QStringLiteral("--kubeconfig"), noYaml},
        QStringLiteral("kubeconfig %1").arg(noYaml));
    row("a kubeconfig without a context",
        {QStringLiteral("--plugin-dir"), plugins, QStringLiteral("--kubeconfig"), noContext},
        QStringLiteral("no cluster is configured: %1 has no clusters, contexts or users; name a "
                       "kubeconfig with --kubeconfig")
            .arg(noContext));
    row("a context that is not there", base + QStringList{QStringLiteral("--context=x")},
        QStringLiteral("kubeconfig %1: context \"x\" does not exist; check --context, --kubeconfig "
                       "or KUBECONFIG")
            .arg(good));
    row("no kubeconfig anywhere", {QStringLiteral("--plugin-dir"), plugins}, QString());
    row("a wrong address",
        base + QStringList{QStringLiteral("--metrics-bind-address"), QStringLiteral("80")},
        QStringLiteral("--metrics-bind-address: address \"80\" has no port; write it as :8080"));
    row("an address of another machine",
        base
            + QStringList{QStringLiteral("--health-probe-bind-address"),
                QStringLiteral("192.0.2.1:80")},
        QStringLiteral("cannot listen on 192.0.2.1:80: the host's name or address is not one of "
                       "this machine; choose another with --health-probe-bind-address"));
    row("a missing state directory", base + QStringList{QStringLiteral("--state-dir"), none},
        QStringLiteral("state directory %1 does not exist; create it, or give one that is writable "
                       "and not mounted noexec with --state-dir")
            .arg(none));
    row("a read-only state directory",
        base + QStringList{QStringLiteral("--state-dir"), QStringLiteral("/proc/self")},
        QStringLiteral("state directory /proc/self is not writable; give one"));
    row("a configuration file that is a device",
        base + QStringList{QStringLiteral("--config"), QStringLiteral("/dev/zero")},
        QStringLiteral("configuration file /dev/zero cannot be read (it is a device); check"));
    const QString pipe = m_dir.filePath(QStringLiteral("pipe"));
    QCOMPARE(mkfifo(qPrintable(pipe), 0600), 0);
    row("a configuration file that is a pipe without a writer",
        base + QStringList{QStringLiteral("--config"), pipe},
        QStringLiteral("configuration file %1 cannot be read (it is a pipe that nobody writes to)")
            .arg(pipe));
    row("a kubeconfig that is a directory",
        {QStringLiteral("--plugin-dir"), plugins, QStringLiteral("--kubeconfig"), plugins},
        QStringLiteral("kubeconfig %1 cannot be read: it is a directory").arg(plugins));
    const QString programs = file(QStringLiteral("programs.yaml"),
        "apiVersion: davit.dev/v1alpha1\nkind: DavitConfiguration\n"
        "execPrograms: {policy: AllowList, allow: [/opt/good]}\n");
    const QString exec = file(QStringLiteral("exec"),
        "current-context: t\ncontexts: [{name: t, context: {cluster: c, user: u}}]\n"
        "clusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\"}}]\n"
        "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, "
        "command: /opt/bad, interactiveMode: Never}}}]\n");
    row("C-72 a program that is not allowed",
        {QStringLiteral("--plugin-dir"), plugins, QStringLiteral("--kubeconfig"), exec,
            QStringLiteral("--config"), programs},
        QStringLiteral("kubeconfig %1: user \"u\": execPrograms of the configuration file %2 does "
                       "not allow /opt/bad")
            .arg(exec, programs));
    const QString huge = file(QStringLiteral("huge"), {});
    QVERIFY(QFile::resize(huge, qint64(16) * 1024 * 1024 + 1));
    row("a kubeconfig larger than 16 MiB",
        {QStringLiteral("--plugin-dir"), plugins, QStringLiteral("--kubeconfig"), huge},
        QStringLiteral("kubeconfig %1 cannot be read: it is larger than 16 MiB").arg(huge));
    const auto elect = [&base](const QStringList &more) {
        return base + QStringList{QStringLiteral("--leader-elect")} + more;
    };
    row("M-16 leader election outside of a pod without a namespace", elect({}),
        QStringLiteral("--leader-elect: kubeconfig %1, context \"t\" names no pod whose namespace "
                       "the Lease could be in; name one with --leader-elect-resource-namespace")
            .arg(good));
    const QString space = QStringLiteral("--leader-elect-resource-namespace=ops");
    row("T88 a lease as long as its deadline",
        elect({space, QStringLiteral("--leader-elect-renew-deadline=15s")}),
        QStringLiteral("leader election: the lease duration of 15 s must be longer than the renew "
                       "deadline of 15 s; change --leader-elect-lease-duration, "
                       "--leader-elect-renew-deadline or --leader-elect-retry-period"));
    row("a name that no Lease can have",
        elect({space, QStringLiteral("--leader-elect-resource-name=My_Lease")}),
        QStringLiteral("leader election: \"ops/My_Lease\" is no namespace and name of a Lease"));
    row("a missing configuration file", base + QStringList{QStringLiteral("--config"), none},
        QStringLiteral("configuration file %1 cannot be read").arg(none));
    row("a wrong configuration file", base + QStringList{QStringLiteral("--config"), config},
        QStringLiteral("configuration file %1 must begin with").arg(config));
    row("a missing directory of objects",
        {QStringLiteral("--plugin-dir"), plugins, QStringLiteral("--embedded"),
            QStringLiteral("--embedded-objects"), none},
        QStringLiteral("directory of objects %1 does not exist; create it or name another with "
                       "--embedded-objects")
            .arg(none));
    QVERIFY(QDir(m_dir.path()).mkpath(QStringLiteral("objects")));
    const QByteArray object
        = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\n";
    file(QStringLiteral("objects/a.yaml"), object);
    file(QStringLiteral("objects/b.yaml"), object);
    row("one object in two files",
        {QStringLiteral("--plugin-dir"), plugins, QStringLiteral("--embedded"),
            QStringLiteral("--embedded-objects"), m_dir.filePath(QStringLiteral("objects")),
            QStringLiteral("--health-probe-bind-address=0"),
            QStringLiteral("--metrics-bind-address=0")},
        QStringLiteral("the embedded API server cannot start: objects file %1: document 1, "
                       "ConfigMap default/x is also in %2; remove it from one of the two\n")
            .arg(m_dir.filePath(QStringLiteral("objects/b.yaml")),
                m_dir.filePath(QStringLiteral("objects/a.yaml"))));
    row("two clusters", base + QStringList(QStringLiteral("--embedded")),
        QStringLiteral("--embedded and --kubeconfig name two clusters; leave one of them out"));
}

void tst_Davit::refused()
{
    QFETCH(const QStringList, arguments);
    QFETCH(const QString, sentence);
    HostProcess davit;
    // The last of repeated flags counts, so rows may name their own state directory.
    davit.start(QStringList{QStringLiteral("run"), QStringLiteral("--zap-encoder=json")}
        + (arguments.contains(QStringLiteral("--state-dir"))
                ? QStringList()
                : QStringList{QStringLiteral("--state-dir"), davit.stateDir()})
        + arguments);
    QCOMPARE(davit.waitForExit(), 2);
    const QByteArray text = davit.errorText();
    QCOMPARE(text.count('\n'), 1);
    const QString head = QStringLiteral("davit: ") + sentence;
    QCOMPARE(QString::fromUtf8(text).left(head.size()), head);
}

void tst_Davit::wrongEnvironment() // C-13
{
    HostProcess davit;
    davit.setEnvironment(QStringLiteral("KUBE_CLIENT_BACKOFF_BASE"), QStringLiteral("1m"));
    davit.run({QStringLiteral("--kubeconfig"), kubeconfig(QStringLiteral("http://127.0.0.1:1")),
        QStringLiteral("--plugin-dir"), m_dir.filePath(QStringLiteral("plugins"))});
    QCOMPARE(davit.waitForExit(), 2);
    QCOMPARE(davit.errorText(),
        QByteArray("davit: KUBE_CLIENT_BACKOFF_BASE in the environment is \"1m\"; write whole "
                   "seconds from 1 to 86400, or unset it\n"));
}

void tst_Davit::serverRefuses_data()
{
    QTest::addColumn<QByteArray>("reply");
    QTest::addColumn<QString>("scheme");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("401") << answer("401 Unauthorized") << QStringLiteral("http")
                         << QStringLiteral("does not accept the credentials (401 Unauthorized); "
                                           "check the user in");
    QTest::newRow("403") << answer("403 Forbidden") << QStringLiteral("http")
                         << QStringLiteral(
                                "does not let this user look at its API (403 Forbidden)");
    QTest::newRow("no TLS") << answer("400 Bad Request") << QStringLiteral("https")
                            << QStringLiteral("does not speak TLS (");
    QTest::newRow("a web page") << answer("200 OK", "<html>") << QStringLiteral("http")
                                << QStringLiteral("is no Kubernetes API server (HTTP 200");
}

void tst_Davit::serverRefuses()
{
    QFETCH(const QByteArray, reply);
    QFETCH(const QString, scheme);
    QFETCH(const QString, sentence);
    const FixedServer server(reply);
    HostProcess davit;
    davit.run({QStringLiteral("--plugin-dir"), m_dir.filePath(QStringLiteral("plugins")),
        QStringLiteral("--kubeconfig"),
        kubeconfig(QStringLiteral("%1://127.0.0.1:%2").arg(scheme).arg(server.port()))});
    QCOMPARE(davit.waitForExit(), 2);
    const QByteArray text = davit.errorText();
    const QByteArray last = text.trimmed().split('\n').last();
    QVERIFY2(last.startsWith("davit: ") && last.contains(sentence.toUtf8()), text.constData());
    QCOMPARE(davit.linesWith("davit begins").size(), 1);
    QCOMPARE(text.count('\n'), 2);
}

void tst_Davit::serverAway()
{
    QTcpServer probe;
    QVERIFY(probe.listen(QHostAddress::LocalHost));
    const quint16 port = probe.serverPort();
    probe.close();
    HostProcess davit;
    davit.run({QStringLiteral("--plugin-dir"), m_dir.filePath(QStringLiteral("plugins")),
        QStringLiteral("--kubeconfig"),
        kubeconfig(QStringLiteral("http://127.0.0.1:%1").arg(port))});
    QVERIFY2(davit.waitForLine("waiting for the API server", "server",
                 QStringLiteral("http://127.0.0.1:%1").arg(port)),
        davit.errorText().constData());
    QTRY_VERIFY2_WITH_TIMEOUT(davit.linesWith("waiting for the API server").size() >= 2,
        davit.errorText().constData(), 10000);
    QVERIFY(!davit.linesWith("waiting for the API server")
                 .first()
                 .value(QLatin1StringView("error"))
                 .toString()
                 .isEmpty());
    // What runs, where it listens and what it reads stand in the first line.
    const QJsonObject begins = davit.lines().first();
    QCOMPARE(begins.value(QLatin1StringView("msg")).toString(), QStringLiteral("davit begins"));
    for (const auto &[field, value] : {std::pair("qt", QString::fromUtf8(qVersion())),
             std::pair("stateDir", davit.stateDir()), std::pair("probes", QStringLiteral("off")),
             std::pair("metrics", QStringLiteral("off"))})
        QCOMPARE(begins.value(QLatin1StringView(field)).toString(), value);
    QVERIFY(!begins.value(QLatin1StringView("version")).toString().isEmpty());
    QCOMPARE(begins.value(QLatin1StringView("pluginDirs")).toArray().first().toString(),
        m_dir.filePath(QStringLiteral("plugins")));
    // It may be stopped while it waits.
    QCOMPARE(davit.stop(), 0);
}

void tst_Davit::addressInUse()
{
    QTcpServer taken;
    QVERIFY(taken.listen(QHostAddress::LocalHost));
    HostProcess davit;
    const QString address = QStringLiteral("127.0.0.1:%1").arg(taken.serverPort());
    davit.start({QStringLiteral("run"), QStringLiteral("--state-dir"), davit.stateDir(),
        QStringLiteral("--plugin-dir"), m_dir.filePath(QStringLiteral("plugins")),
        QStringLiteral("--kubeconfig"), kubeconfig(QStringLiteral("http://127.0.0.1:1")),
        QStringLiteral("--health-probe-bind-address=0"), QStringLiteral("--metrics-bind-address"),
        address});
    QCOMPARE(davit.waitForExit(), 2);
    QCOMPARE(QString::fromUtf8(davit.errorText()),
        QStringLiteral(
            "davit: cannot listen on %1: another process listens there; choose another "
            "with --metrics-bind-address, or turn it off with --metrics-bind-address 0\n")
            .arg(address));
}

// Started as "davit run <&- >&- 2>&-": none of its own pipes and sockets may be standard error.
void tst_Davit::standardFilesClosed()
{
    const QTemporaryDir state;
    QProcess shell;
    shell.start(QStringLiteral("/bin/sh"),
        {QStringLiteral("-c"), QStringLiteral("exec \"$0\" \"$@\" <&- >&- 2>&-"),
            QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"), QStringLiteral("run"),
            QStringLiteral("--state-dir"), state.path(), QStringLiteral("--plugin-dir"),
            m_dir.filePath(QStringLiteral("plugins")), QStringLiteral("--kubeconfig"),
            kubeconfig(QStringLiteral("http://127.0.0.1:1")),
            QStringLiteral("--metrics-bind-address=0"),
            QStringLiteral("--health-probe-bind-address=0"),
            QStringLiteral("--allow-core-dumps")}); // else its /proc/PID/fd is root's alone
    QVERIFY(shell.waitForStarted());
    for (int number = 0; number < 3; ++number) {
        const QString path = QStringLiteral("/proc/%1/fd/%2").arg(shell.processId()).arg(number);
        QTRY_COMPARE(QFile::symLinkTarget(path), QStringLiteral("/dev/null"));
    }
    shell.terminate();
    QVERIFY(shell.waitForFinished());
}

// Only copies that processes left, which are no more, are removed.
void tst_Davit::stateDirKeepsWhatIsNotIts()
{
    HostProcess davit;
    const QDir state(davit.stateDir());
    const QDir outside(m_dir.filePath(QStringLiteral("outside")));
    const QString dead = QStringLiteral("plugin-copies/2147483647");
    for (const QString &folder : {QStringLiteral("plugins/foo.davit"), dead,
             QStringLiteral("plugin-copies/mine"), QStringLiteral("plugin-copies/+5")})
        QVERIFY(state.mkpath(folder));
    QVERIFY(outside.mkpath(QStringLiteral("inner")));
    const QStringList links{QStringLiteral("plugins/link"),
        QStringLiteral("plugin-copies/2147483646"), dead + QStringLiteral("/link")};
    for (const QString &link : links)
        QVERIFY(QFile::link(outside.path(), state.filePath(link)));
    davit.run({QStringLiteral("--plugin-dir"), m_dir.filePath(QStringLiteral("plugins")),
        QStringLiteral("--kubeconfig"), kubeconfig(QStringLiteral("http://127.0.0.1:1"))});
    QVERIFY2(davit.waitForLine("waiting for the API server"), davit.errorText().constData());
    QVERIFY(!state.exists(dead));
    QVERIFY(outside.exists(QStringLiteral("inner")));
    for (const QString &kept : {QStringLiteral("plugins/foo.davit"), links.at(0), links.at(1),
             QStringLiteral("plugin-copies/mine"), QStringLiteral("plugin-copies/+5")})
        QVERIFY2(state.exists(kept), qPrintable(kept));
    QCOMPARE(davit.stop(), 0);
}

void tst_Davit::stateDirApart_data()
{
    QTest::addColumn<QString>("plugins"); // in the state directory
    QTest::addColumn<QString>("link"); // to what is made of plugin-copies
    QTest::addColumn<QString>("sentence");
    const QString overlaps = QStringLiteral("it overlaps with");
    QTest::newRow("it lies in a plugin directory") << QStringLiteral(".") << QString() << overlaps;
    QTest::newRow("it is a plugin directory")
        << QStringLiteral("plugin-copies") << QString() << overlaps;
    QTest::newRow("it holds a plugin directory")
        << QStringLiteral("plugin-copies/mine") << QString() << overlaps;
    QTest::newRow("it is a link") << QStringLiteral("plugins") << QStringLiteral("plugins")
                                  << QStringLiteral("it is a symbolic link");
    QTest::newRow("it is a file") << QStringLiteral("plugins") << QStringLiteral("a file")
                                  << QStringLiteral("it is no directory that can be written to");
}

void tst_Davit::stateDirApart()
{
    QFETCH(const QString, plugins);
    QFETCH(const QString, link);
    QFETCH(const QString, sentence);
    HostProcess davit;
    const QDir state(davit.stateDir());
    QVERIFY(state.mkpath(plugins));
    if (link == QLatin1StringView("a file")) {
        QFile file(state.filePath(QStringLiteral("plugin-copies")));
        QVERIFY(file.open(QIODevice::WriteOnly));
    } else if (!link.isEmpty())
        QVERIFY(QFile::link(state.filePath(link), state.filePath(QStringLiteral("plugin-copies"))));
    davit.run({QStringLiteral("--plugin-dir"), state.filePath(plugins),
        QStringLiteral("--kubeconfig"), kubeconfig(QStringLiteral("http://127.0.0.1:1"))});
    QCOMPARE(davit.waitForExit(), 2);
    const QByteArray text = davit.errorText();
    QVERIFY2(text.contains(sentence.toUtf8()), text.constData());
}

void tst_Davit::stateDirOfAnother()
{
    const QStringList arguments{QStringLiteral("run"), QStringLiteral("--plugin-dir"),
        m_dir.filePath(QStringLiteral("plugins")), QStringLiteral("--kubeconfig"),
        kubeconfig(QStringLiteral("http://127.0.0.1:1")), QStringLiteral("--zap-encoder=json"),
        QStringLiteral("--metrics-bind-address=0"), QStringLiteral("--health-probe-bind-address=0"),
        QStringLiteral("--state-dir"), m_dir.path()};
    HostProcess first;
    first.start(arguments);
    QVERIFY2(first.waitForLine("waiting for the API server"), first.errorText().constData());
    HostProcess second;
    second.start(arguments);
    QCOMPARE(second.waitForExit(), 2);
    QCOMPARE(QString::fromUtf8(second.errorText()),
        QStringLiteral("davit: state directory %1 is in use by another davit (process %2); stop "
                       "that one, or give this one another directory with --state-dir\n")
            .arg(m_dir.path())
            .arg(first.processId()));
    first.signalOnce(SIGKILL);
    QCOMPARE(first.waitForExit(), -2);
    HostProcess third; // what was killed leaves nothing behind
    third.start(arguments);
    QVERIFY2(third.waitForLine("waiting for the API server"), third.errorText().constData());
    QCOMPARE(third.stop(), 0);
}

void tst_Davit::execProgramEndsWithTheHost_data()
{
    QTest::addColumn<int>("number");
    QTest::addColumn<QStringList>("ended"); // files with process numbers
    QTest::newRow("asked to") << SIGTERM
                              << QStringList{QStringLiteral("program"), QStringLiteral("child")};
    QTest::newRow("killed") << SIGKILL << QStringList{QStringLiteral("program")};
}

void tst_Davit::execProgramEndsWithTheHost()
{
    QFETCH(const int, number);
    QFETCH(const QStringList, ended);
    const QTemporaryDir folder;
    const QByteArray path = folder.path().toUtf8();
    const QString config = file(QStringLiteral("exec"),
        "apiVersion: v1\nkind: Config\ncurrent-context: t\n"
        "contexts: [{name: t, context: {cluster: c, user: u}}]\n"
        "clusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\"}}]\n"
        "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, "
        "interactiveMode: Never, command: /bin/sh, args: [-c, \"sleep 300 & echo $! > "
            + path + "/child; echo $$ > " + path + "/program; wait\"]}}}]\n");
    HostProcess davit;
    davit.run({QStringLiteral("--plugin-dir"), m_dir.filePath(QStringLiteral("plugins")),
        QStringLiteral("--kubeconfig"), config});
    const auto numberIn = [&](const QString &name) {
        QFile file(folder.filePath(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll().trimmed() : QByteArray();
    };
    QTRY_VERIFY2_WITH_TIMEOUT(
        !numberIn(QStringLiteral("program")).isEmpty(), davit.errorText().constData(), 20000);
    davit.signalOnce(number);
    QCOMPARE(davit.waitForExit(), number == SIGTERM ? 0 : -2);
    for (const QString &name : ended) {
        const QString stat
            = QStringLiteral("/proc/%1/stat").arg(QString::fromLatin1(numberIn(name)));
        const auto isThere = [&stat] {
            QFile file(stat); // a zombie waits for its new parent only
            return file.open(QIODevice::ReadOnly) && !file.readAll().contains(") Z ");
        };
        QTRY_VERIFY2(!isThere(), qPrintable(name));
    }
    const int child = numberIn(QStringLiteral("child")).toInt();
    if (number == SIGKILL && child > 0) // what a killed host could not end
        ::kill(pid_t(child), SIGKILL);
}

// Told at the start, and not found by a thread or a socket that cannot be had later.
void tst_Davit::tooLittle_data()
{
    QTest::addColumn<QString>("limits"); // for a shell
    QTest::addColumn<QString>("sentence");
    QTest::newRow("open files") << QStringLiteral("ulimit -n 32")
                                << QStringLiteral("this process may open 32 files");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // which need the addresses
    QTest::newRow("no memory for threads")
        << QStringLiteral("ulimit -s 1000000; ulimit -v 4000000")
        << QStringLiteral("this process cannot have the threads that it needs");
#endif
}

void tst_Davit::tooLittle()
{
    QFETCH(const QString, limits);
    QFETCH(const QString, sentence);
    const QTemporaryDir state;
    QProcess shell;
    shell.start(QStringLiteral("/bin/sh"),
        {QStringLiteral("-c"), limits + QStringLiteral("; exec \"$0\" \"$@\""),
            QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"), QStringLiteral("run"),
            QStringLiteral("--embedded"), QStringLiteral("--state-dir"), state.path(),
            QStringLiteral("--plugin-dir"), m_dir.filePath(QStringLiteral("plugins")),
            QStringLiteral("--metrics-bind-address=127.0.0.1:0"),
            QStringLiteral("--health-probe-bind-address=127.0.0.1:0")});
    QVERIFY(shell.waitForFinished());
    QCOMPARE(shell.exitStatus(), QProcess::NormalExit);
    const QByteArray text = shell.readAllStandardError();
    QVERIFY2(text.startsWith(QByteArray("davit: ") + sentence.toUtf8()), text.constData());
    QCOMPARE(text.count('\n'), 1);
    QCOMPARE(shell.exitCode(), 2);
}

void tst_Davit::firstSignal_data()
{
    QTest::addColumn<int>("number");
    QTest::newRow("SIGHUP") << SIGHUP;
    QTest::newRow("SIGINT") << SIGINT;
    QTest::newRow("SIGTERM") << SIGTERM;
}

void tst_Davit::firstSignal()
{
    QFETCH(const int, number);
    HostProcess davit;
    davit.run({QStringLiteral("--plugin-dir"), m_dir.filePath(QStringLiteral("plugins")),
        QStringLiteral("--kubeconfig"), kubeconfig(QStringLiteral("http://127.0.0.1:1"))});
    QVERIFY2(davit.waitForLine("waiting for the API server"), davit.errorText().constData());
    davit.signalOnce(number);
    QCOMPARE(davit.waitForExit(), 0);
    QCOMPARE(
        davit.linesWith("stopping", "cause", QString::fromLatin1(QTest::currentDataTag())).size(),
        1);
}

// Under nohup SIGHUP comes ignored, and stays so.
void tst_Davit::nohup()
{
    std::signal(SIGHUP, SIG_IGN);
    HostProcess davit;
    davit.run({QStringLiteral("--plugin-dir"), m_dir.filePath(QStringLiteral("plugins")),
        QStringLiteral("--kubeconfig"), kubeconfig(QStringLiteral("http://127.0.0.1:1"))});
    const bool isWaiting = davit.waitForLine("waiting for the API server");
    std::signal(SIGHUP, SIG_DFL);
    QVERIFY2(isWaiting, davit.errorText().constData());
    davit.signalOnce(SIGHUP);
    davit.signalOnce(SIGTERM);
    QCOMPARE(davit.waitForExit(), 0);
    QCOMPARE(davit.linesWith("stopping", "cause", QStringLiteral("SIGTERM")).size(), 1);
}

// The first signal of this process meets a host that waits for its server; the second one may come
// before the first was handled, and ends it at once either way.
void tst_Davit::secondSignal()
{
    HostProcess davit;
    davit.run({QStringLiteral("--plugin-dir"), m_dir.filePath(QStringLiteral("plugins")),
        QStringLiteral("--kubeconfig"), kubeconfig(QStringLiteral("http://127.0.0.1:1"))});
    QVERIFY(davit.waitForLine("waiting for the API server"));
    davit.signalOnce(SIGSTOP); // so that both wait for it
    QTRY_VERIFY(davit.isHalted());
    davit.signalOnce(SIGTERM);
    davit.signalOnce(SIGINT);
    davit.signalOnce(SIGCONT);
    QCOMPARE(davit.waitForExit(), 1);
    QVERIFY2(davit.errorText().endsWith(
                 "davit: a second signal: it ends at once, what runs is cut off\n"),
        davit.errorText().constData());
}

QTEST_GUILESS_MAIN(tst_Davit)
#include "tst_davit.moc"
