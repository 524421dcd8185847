// The real process: what it refuses, what it waits for, how it ends.
#include "fixedserver.h"
#include "hostprocess.h"

#include <QJsonArray>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QTest>
#include <csignal>
#include <sys/stat.h>

using namespace Qt::StringLiterals;

class tst_Davit : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void texts_data();
    void texts();
    void refused_data();
    void refused();
    void denied_data();
    void denied();
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
    QString kubeconfig(const QString &server = u"http://127.0.0.1:1"_s);
    QStringList with(const QString &kubeconfig) const; // and a directory of no plugins

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
    return file(u"kubeconfig"_s,
        "apiVersion: v1\nkind: Config\ncurrent-context: t\n"
        "contexts: [{name: t, context: {cluster: c, user: u}}]\n"
        "clusters: [{name: c, cluster: {server: \""
            + server.toUtf8()
            + "\"}}]\n"
              "users: [{name: u, user: {token: abc}}]\n");
}

QStringList tst_Davit::with(const QString &kubeconfig) const
{
    return {u"--plugin-dir"_s, m_dir.filePath(u"plugins"_s), u"--kubeconfig"_s, kubeconfig};
}

void tst_Davit::initTestCase()
{
    std::signal(SIGHUP, SIG_DFL); // what the children inherit, also under nohup
    QVERIFY(QDir(m_dir.path()).mkpath(u"plugins"_s) && QDir(m_dir.path()).mkpath(u"closed"_s));
}

void tst_Davit::texts_data()
{
    QTest::addColumn<QString>("arguments");
    QTest::addColumn<QString>("pattern"); // of standard output
    QTest::newRow("--version")
        << u"--version"_s
        << u"^davit [0-9.]+ \\(SDK ABI 1, commit \\w+, built [0-9-]+, Qt [0-9.]+\\)\n$"_s;
    QTest::newRow("run --help") << u"run --help"_s << u"--plugin-dir DIR"_s;
}

void tst_Davit::texts()
{
    QFETCH(const QString, arguments);
    QFETCH(const QString, pattern);
    QProcess process;
    process.start(QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"), arguments.split(u' '));
    QVERIFY(process.waitForFinished());
    QCOMPARE(process.exitCode(), 0);
    const QString text = QString::fromUtf8(process.readAllStandardOutput());
    QVERIFY2(QRegularExpression(pattern).match(text).hasMatch(), qPrintable(text));
}

// NOLINTNEXTLINE(readability-function-size): a table
void tst_Davit::refused_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("sentence"); // all of it
    const QString plugins = m_dir.filePath(u"plugins"_s);
    const QString none = m_dir.filePath(u"none"_s);
    const QString good = kubeconfig();
    const QString noYaml = file(u"broken"_s, "a: [");
    const QString noContext = file(u"empty"_s, "apiVersion: v1\nkind: Config\n");
    const QString config = file(u"config.yaml"_s, "kind: Other\n");
    const QStringList base = with(good);
    const auto row = [](const char *name, const QStringList &arguments, const QString &sentence) {
        QTest::newRow(name) << arguments << sentence;
    };
    row("an unknown flag", {u"--plugins"_s, plugins},
        u"flag --plugins is not known; 'davit run --help' lists what there is"_s);
    row("a missing plugin directory", {u"--plugin-dir"_s, none},
        u"plugin directory %1 does not exist; create it or name another with --plugin-dir"_s.arg(
            none));
    row("a plugin directory that is a file", {u"--plugin-dir"_s, good},
        u"plugin directory %1 is no directory; name one with --plugin-dir"_s.arg(good));
    row("a missing kubeconfig", with(none),
        u"kubeconfig %1 does not exist; correct --kubeconfig"_s.arg(none));
    row("a kubeconfig that is no YAML", with(noYaml),
        u"kubeconfig %1: line 1: end of sequence flow not found; mend it there"_s.arg(noYaml));
    row("a kubeconfig without a context", with(noContext),
        u"no cluster is configured: %1 has no clusters, contexts or users; name a kubeconfig with "
        "--kubeconfig"_s.arg(noContext));
    row("a context that is not there", base + QStringList{u"--context=x"_s},
        u"kubeconfig %1: context \"x\" does not exist; correct it: there is t"_s.arg(good));
    row("no kubeconfig anywhere", {u"--plugin-dir"_s, plugins},
        u"no cluster is configured: $HOME/.kube/config does not exist or names none, and this is "
        "no pod; name a kubeconfig with --kubeconfig or KUBECONFIG"_s);
    row("a wrong address", base + QStringList{u"--metrics-bind-address"_s, u"80"_s},
        u"--metrics-bind-address: address \"80\" has no port; write it as :8080, "
        "127.0.0.1:8080 or [::1]:8080, or 0 to turn the server off"_s);
    row("an address of another machine",
        base + QStringList{u"--health-probe-bind-address"_s, u"192.0.2.1:80"_s},
        u"cannot listen on 192.0.2.1:80: the host's name or address is not one of this machine; "
        "choose another with --health-probe-bind-address, or turn it off with "
        "--health-probe-bind-address 0"_s);
    row("a missing state directory", base + QStringList{u"--state-dir"_s, none},
        u"state directory %1 does not exist; create it, or give one that is writable and not "
        "mounted noexec with --state-dir"_s.arg(none));
    row("a read-only state directory", base + QStringList{u"--state-dir"_s, u"/proc/self"_s},
        u"state directory /proc/self is not writable; give one that is writable and not mounted "
        "noexec with --state-dir"_s);
    row("a configuration file that is a device", base + QStringList{u"--config"_s, u"/dev/zero"_s},
        u"configuration file /dev/zero cannot be read (it is a device); check --config"_s);
    const QString pipe = m_dir.filePath(u"pipe"_s);
    QCOMPARE(mkfifo(qPrintable(pipe), 0600), 0);
    row("a configuration file that is a pipe without a writer",
        base + QStringList{u"--config"_s, pipe},
        u"configuration file %1 cannot be read (it is a pipe that nobody writes to); check "
        "--config"_s.arg(pipe));
    row("a kubeconfig that is a directory", with(plugins),
        u"kubeconfig %1 cannot be read: it is a directory; name another file, or make that one readable"_s
            .arg(plugins));
    const QString programs = file(u"programs.yaml"_s,
        "apiVersion: davit.dev/v1alpha1\nkind: DavitConfiguration\n"
        "execPrograms: {policy: AllowList, allow: [/opt/good]}\n");
    const QString exec = file(u"exec"_s,
        "current-context: t\ncontexts: [{name: t, context: {cluster: c, user: u}}]\n"
        "clusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\"}}]\n"
        "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, "
        "command: /opt/bad, interactiveMode: Never}}}]\n");
    row("C-72 a program that is not allowed", with(exec) + QStringList{u"--config"_s, programs},
        u"kubeconfig %1: user \"u\": execPrograms of the configuration file %2 does not allow "
        "/opt/bad; allow it there or name another user"_s.arg(exec, programs));
    const QString huge = file(u"huge"_s, {});
    QVERIFY(QFile::resize(huge, qint64(16) * 1024 * 1024 + 1));
    row("a kubeconfig larger than 16 MiB", with(huge),
        u"kubeconfig %1 cannot be read: it is larger than 16 MiB; name another file, or make that "
        "one readable"_s.arg(huge));
    const auto elect = [&base](const QStringList &more) {
        return base + QStringList{u"--leader-elect"_s} + more;
    };
    row("M-16 leader election outside of a pod without a namespace", elect({}),
        u"--leader-elect: kubeconfig %1, context \"t\" names no pod whose namespace the Lease "
        "could be in; name one with --leader-elect-resource-namespace"_s.arg(good));
    const QString space = u"--leader-elect-resource-namespace=ops"_s;
    row("T88 a lease as long as its deadline",
        elect({space, u"--leader-elect-renew-deadline=15s"_s}),
        u"leader election: the lease duration of 15 s must be longer than the renew deadline of "
        "15 s; change --leader-elect-lease-duration, --leader-elect-renew-deadline or "
        "--leader-elect-retry-period"_s);
    row("a name that no Lease can have", elect({space, u"--leader-elect-resource-name=My_Lease"_s}),
        u"leader election: \"ops/My_Lease\" is no namespace and name of a Lease: lower-case "
        "letters, digits and '-' only, in the name '.' too; change --leader-elect-resource-name "
        "or --leader-elect-resource-namespace"_s);
    row("a missing configuration file", base + QStringList{u"--config"_s, none},
        u"configuration file %1 cannot be read (No such file or directory); check --config"_s.arg(
            none));
    row("a wrong configuration file", base + QStringList{u"--config"_s, config},
        u"configuration file %1 must begin with \"apiVersion: davit.dev/v1alpha1\" and \"kind: "
        "DavitConfiguration\""_s.arg(config));
    row("a missing directory of objects",
        {u"--plugin-dir"_s, plugins, u"--embedded"_s, u"--embedded-objects"_s, none},
        u"directory of objects %1 does not exist; create it or name another with "
        "--embedded-objects"_s.arg(none));
    QVERIFY(QDir(m_dir.path()).mkpath(u"objects"_s));
    const QByteArray object
        = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\n";
    file(u"objects/a.yaml"_s, object);
    file(u"objects/b.yaml"_s, object);
    row("one object in two files",
        {u"--plugin-dir"_s, plugins, u"--embedded"_s, u"--embedded-objects"_s,
            m_dir.filePath(u"objects"_s), u"--health-probe-bind-address=0"_s,
            u"--metrics-bind-address=0"_s},
        u"the embedded API server cannot start: objects file %1: document 1, ConfigMap default/x "
        "is also in %2; remove it from one of the two"_s.arg(
            m_dir.filePath(u"objects/b.yaml"_s), m_dir.filePath(u"objects/a.yaml"_s)));
    row("two clusters", base + QStringList(u"--embedded"_s),
        u"--embedded and --kubeconfig name two clusters; leave one of them out"_s);
}

void tst_Davit::refused()
{
    QFETCH(const QStringList, arguments);
    QFETCH(const QString, sentence);
    HostProcess davit;
    // The last of repeated flags counts, so rows may name their own state directory.
    davit.start(QStringList{u"run"_s, u"--zap-encoder=json"_s}
        + (arguments.contains(u"--state-dir"_s) ? QStringList()
                                                : QStringList{u"--state-dir"_s, davit.stateDir()})
        + arguments);
    QCOMPARE(davit.waitForExit(), 2);
    QCOMPARE(QString::fromUtf8(davit.errorText()).replace(davit.stateDir(), u"$HOME"_s),
        u"davit: "_s + sentence + u'\n');
}

void tst_Davit::denied_data()
{
    QTest::addColumn<QString>("flag");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("closed"); // chmod 0
    QTest::addColumn<QString>("sentence");
    const QString folder = u"closed"_s;
    const QString inside = u"closed/file"_s;
    const QString denied
        = u"kubeconfig %1 cannot be read: Permission denied; name another file, or make "
          "that one readable"_s;
    QTest::newRow("a kubeconfig") << u"--kubeconfig"_s << inside << inside << denied;
    QTest::newRow("the folder of a kubeconfig") << u"--kubeconfig"_s << inside << folder << denied;
    QTest::newRow("the folder of KUBECONFIG's file")
        << u"KUBECONFIG"_s << inside << folder << denied;
    QTest::newRow("a configuration file")
        << u"--config"_s << inside << inside
        << u"configuration file %1 cannot be read (Permission denied); check --config"_s;
    QTest::newRow("a plugin directory")
        << u"--plugin-dir"_s << folder << folder
        << u"plugin directory %1 cannot be read; change its rights or name another with "
           "--plugin-dir"_s;
}

void tst_Davit::denied()
{
    QFETCH(const QString, flag);
    QFETCH(const QString, path);
    QFETCH(const QString, closed);
    QFETCH(const QString, sentence);
    file(u"closed/file"_s, "apiVersion: v1\nkind: Config\n");
    const QByteArray name = QFile::encodeName(m_dir.filePath(closed));
    QCOMPARE(::chmod(name.constData(), 0), 0);
    const auto reopen = qScopeGuard([&name] { ::chmod(name.constData(), 0755); });
    HostProcess davit;
    davit.obeyFileRights();
    QStringList arguments{u"--plugin-dir"_s, m_dir.filePath(u"plugins"_s)};
    if (flag == u"KUBECONFIG")
        davit.setEnvironment(flag, m_dir.filePath(path));
    else
        arguments += {flag, m_dir.filePath(path)};
    QVERIFY(davit.run(arguments));
    QCOMPARE(davit.waitForExit(), 2);
    QCOMPARE(QString::fromUtf8(davit.errorText()),
        u"davit: "_s + sentence.arg(m_dir.filePath(path)) + u'\n');
}

void tst_Davit::wrongEnvironment() // C-13
{
    HostProcess davit;
    davit.setEnvironment(u"KUBE_CLIENT_BACKOFF_BASE"_s, u"1m"_s);
    davit.run(with(kubeconfig()));
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
    QTest::newRow("401")
        << answer("401 Unauthorized") << u"http"_s
        << u"does not accept the credentials (401 Unauthorized); check the user in"_s;
    QTest::newRow("403") << answer("403 Forbidden") << u"http"_s
                         << u"does not let this user look at its API (403 Forbidden)"_s;
    QTest::newRow("no TLS") << answer("400 Bad Request") << u"https"_s << u"does not speak TLS ("_s;
    QTest::newRow("a web page") << answer("200 OK", "<html>") << u"http"_s
                                << u"is no Kubernetes API server (HTTP 200"_s;
}

void tst_Davit::serverRefuses()
{
    QFETCH(const QByteArray, reply);
    QFETCH(const QString, scheme);
    QFETCH(const QString, sentence);
    const FixedServer server(reply);
    HostProcess davit;
    davit.run(with(kubeconfig(u"%1://127.0.0.1:%2"_s.arg(scheme).arg(server.port()))));
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
    davit.run(with(kubeconfig(u"http://127.0.0.1:%1"_s.arg(port))));
    QVERIFY2(davit.waitForLine(
                 "waiting for the API server", "server", u"http://127.0.0.1:%1"_s.arg(port)),
        davit.errorText().constData());
    QTRY_VERIFY2_WITH_TIMEOUT(davit.linesWith("waiting for the API server").size() >= 2,
        davit.errorText().constData(), 10000);
    QVERIFY(!davit.linesWith("waiting for the API server")
                 .first()
                 .value("error"_L1)
                 .toString()
                 .isEmpty());
    // What runs, where it listens and what it reads stand in the first line.
    const QJsonObject begins = davit.lines().first();
    QCOMPARE(begins.value("msg"_L1).toString(), u"davit begins"_s);
    for (const auto &[field, value] :
        {std::pair("qt", QString::fromUtf8(qVersion())), std::pair("stateDir", davit.stateDir()),
            std::pair("probes", u"off"_s), std::pair("metrics", u"off"_s)})
        QCOMPARE(begins.value(QLatin1StringView(field)).toString(), value);
    QVERIFY(!begins.value("version"_L1).toString().isEmpty());
    QCOMPARE(
        begins.value("pluginDirs"_L1).toArray().first().toString(), m_dir.filePath(u"plugins"_s));
    // It may be stopped while it waits.
    QCOMPARE(davit.stop(), 0);
}

void tst_Davit::addressInUse()
{
    QTcpServer taken;
    QVERIFY(taken.listen(QHostAddress::LocalHost));
    HostProcess davit;
    const QString address = u"127.0.0.1:%1"_s.arg(taken.serverPort());
    davit.run(with(kubeconfig()) + QStringList{u"--metrics-bind-address"_s, address});
    QCOMPARE(davit.waitForExit(), 2);
    QCOMPARE(QString::fromUtf8(davit.errorText()),
        u"davit: cannot listen on %1: another process listens there; choose another with "
        "--metrics-bind-address, or turn it off with --metrics-bind-address 0\n"_s.arg(address));
}

// Started as "davit run <&- >&- 2>&-": none of its own pipes and sockets may be standard error.
void tst_Davit::standardFilesClosed()
{
    const QTemporaryDir state;
    QProcess shell;
    shell.start(u"/bin/sh"_s,
        QStringList{u"-c"_s, u"exec \"$0\" \"$@\" <&- >&- 2>&-"_s,
            QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"), u"run"_s, u"--state-dir"_s, state.path(),
            u"--metrics-bind-address=0"_s, u"--health-probe-bind-address=0"_s,
            u"--allow-core-dumps"_s} // else its /proc/PID/fd is root's alone
            + with(kubeconfig()));
    QVERIFY(shell.waitForStarted());
    for (int number = 0; number < 3; ++number) {
        const QString path = u"/proc/%1/fd/%2"_s.arg(shell.processId()).arg(number);
        QTRY_COMPARE(QFile::symLinkTarget(path), u"/dev/null"_s);
    }
    shell.terminate();
    QVERIFY(shell.waitForFinished());
}

// Only copies that processes left, which are no more, are removed.
void tst_Davit::stateDirKeepsWhatIsNotIts()
{
    HostProcess davit;
    const QDir state(davit.stateDir());
    const QDir outside(m_dir.filePath(u"outside"_s));
    const QString dead = u"plugin-copies/2147483647"_s;
    for (const QString &folder :
        {u"plugins/foo.davit"_s, dead, u"plugin-copies/mine"_s, u"plugin-copies/+5"_s})
        QVERIFY(state.mkpath(folder));
    QVERIFY(outside.mkpath(u"inner"_s));
    const QStringList links{u"plugins/link"_s, u"plugin-copies/2147483646"_s, dead + u"/link"_s};
    for (const QString &link : links)
        QVERIFY(QFile::link(outside.path(), state.filePath(link)));
    davit.run(with(kubeconfig()));
    QVERIFY2(davit.waitForLine("waiting for the API server"), davit.errorText().constData());
    QVERIFY(!state.exists(dead));
    QVERIFY(outside.exists(u"inner"_s));
    for (const QString &kept : {u"plugins/foo.davit"_s, links.at(0), links.at(1),
             u"plugin-copies/mine"_s, u"plugin-copies/+5"_s})
        QVERIFY2(state.exists(kept), qPrintable(kept));
    QCOMPARE(davit.stop(), 0);
}

void tst_Davit::stateDirApart_data()
{
    QTest::addColumn<QString>("plugins"); // in the state directory
    QTest::addColumn<QString>("link"); // to what is made of plugin-copies
    QTest::addColumn<QString>("sentence");
    const QString overlaps = u"it overlaps with"_s;
    QTest::newRow("it lies in a plugin directory") << u"."_s << QString() << overlaps;
    QTest::newRow("it is a plugin directory") << u"plugin-copies"_s << QString() << overlaps;
    QTest::newRow("it holds a plugin directory")
        << u"plugin-copies/mine"_s << QString() << overlaps;
    QTest::newRow("it is a link") << u"plugins"_s << u"plugins"_s << u"it is a symbolic link"_s;
    QTest::newRow("it is a file") << u"plugins"_s << u"a file"_s
                                  << u"it is no directory that can be written to"_s;
}

void tst_Davit::stateDirApart()
{
    QFETCH(const QString, plugins);
    QFETCH(const QString, link);
    QFETCH(const QString, sentence);
    HostProcess davit;
    const QDir state(davit.stateDir());
    QVERIFY(state.mkpath(plugins));
    if (link == "a file"_L1) {
        QFile file(state.filePath(u"plugin-copies"_s));
        QVERIFY(file.open(QIODevice::WriteOnly));
    } else if (!link.isEmpty())
        QVERIFY(QFile::link(state.filePath(link), state.filePath(u"plugin-copies"_s)));
    davit.run({u"--plugin-dir"_s, state.filePath(plugins), u"--kubeconfig"_s, kubeconfig()});
    QCOMPARE(davit.waitForExit(), 2);
    const QByteArray text = davit.errorText();
    QVERIFY2(text.contains(sentence.toUtf8()), text.constData());
}

void tst_Davit::stateDirOfAnother()
{
    const QStringList arguments = with(kubeconfig()) + QStringList{u"--state-dir"_s, m_dir.path()};
    HostProcess first;
    first.run(arguments);
    QVERIFY2(first.waitForLine("waiting for the API server"), first.errorText().constData());
    HostProcess second;
    second.run(arguments);
    QCOMPARE(second.waitForExit(), 2);
    QCOMPARE(QString::fromUtf8(second.errorText()),
        u"davit: state directory %1 is in use by another davit (process %2); stop that one, or "
        "give this one another directory with --state-dir\n"_s.arg(m_dir.path())
            .arg(first.processId()));
    first.signalOnce(SIGKILL);
    QCOMPARE(first.waitForExit(), -2);
    HostProcess third; // what was killed leaves nothing behind
    third.run(arguments);
    QVERIFY2(third.waitForLine("waiting for the API server"), third.errorText().constData());
    QCOMPARE(third.stop(), 0);
}

void tst_Davit::execProgramEndsWithTheHost_data()
{
    QTest::addColumn<int>("number");
    QTest::addColumn<QStringList>("ended"); // files with process numbers
    QTest::newRow("asked to") << SIGTERM << QStringList{u"program"_s, u"child"_s};
    QTest::newRow("killed") << SIGKILL << QStringList{u"program"_s};
}

void tst_Davit::execProgramEndsWithTheHost()
{
    QFETCH(const int, number);
    QFETCH(const QStringList, ended);
    const QTemporaryDir folder;
    const QByteArray path = folder.path().toUtf8();
    const QString config = file(u"exec"_s,
        "apiVersion: v1\nkind: Config\ncurrent-context: t\n"
        "contexts: [{name: t, context: {cluster: c, user: u}}]\n"
        "clusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\"}}]\n"
        "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, "
        "interactiveMode: Never, command: /bin/sh, args: [-c, \"sleep 300 & echo $! > "
            + path + "/child; echo $$ > " + path + "/program; wait\"]}}}]\n");
    HostProcess davit;
    davit.run(with(config));
    const auto numberIn = [&](const QString &name) {
        QFile file(folder.filePath(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll().trimmed() : QByteArray();
    };
    QTRY_VERIFY2_WITH_TIMEOUT(
        !numberIn(u"program"_s).isEmpty(), davit.errorText().constData(), 20000);
    davit.signalOnce(number);
    QCOMPARE(davit.waitForExit(), number == SIGTERM ? 0 : -2);
    for (const QString &name : ended) {
        const QString stat = u"/proc/%1/stat"_s.arg(QString::fromLatin1(numberIn(name)));
        const auto isThere = [&stat] {
            QFile file(stat); // a zombie waits for its new parent only
            return file.open(QIODevice::ReadOnly) && !file.readAll().contains(") Z ");
        };
        QTRY_VERIFY2(!isThere(), qPrintable(name));
    }
    const int child = numberIn(u"child"_s).toInt();
    if (number == SIGKILL && child > 0) // what a killed host could not end
        ::kill(pid_t(child), SIGKILL);
}

// Told at the start, and not found by a thread or a socket that cannot be had later.
void tst_Davit::tooLittle_data()
{
    QTest::addColumn<QString>("limits"); // for a shell
    QTest::addColumn<QString>("sentence");
    QTest::newRow("open files") << u"ulimit -n 32"_s << u"this process may open 32 files"_s;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // which need the addresses
    QTest::newRow("no memory for threads")
        << u"ulimit -s 1000000; ulimit -v 4000000"_s
        << u"this process cannot have the threads that it needs"_s;
#endif
}

void tst_Davit::tooLittle()
{
    QFETCH(const QString, limits);
    QFETCH(const QString, sentence);
    const QTemporaryDir state;
    QProcess shell;
    shell.start(u"/bin/sh"_s,
        {u"-c"_s, limits + u"; exec \"$0\" \"$@\""_s, QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"),
            u"run"_s, u"--embedded"_s, u"--state-dir"_s, state.path(), u"--plugin-dir"_s,
            m_dir.filePath(u"plugins"_s), u"--metrics-bind-address=127.0.0.1:0"_s,
            u"--health-probe-bind-address=127.0.0.1:0"_s});
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
    davit.run(with(kubeconfig()));
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
    davit.run(with(kubeconfig()));
    const bool isWaiting = davit.waitForLine("waiting for the API server");
    std::signal(SIGHUP, SIG_DFL);
    QVERIFY2(isWaiting, davit.errorText().constData());
    davit.signalOnce(SIGHUP);
    davit.signalOnce(SIGTERM);
    QCOMPARE(davit.waitForExit(), 0);
    QCOMPARE(davit.linesWith("stopping", "cause", u"SIGTERM"_s).size(), 1);
}

// The first signal of this process meets a host that waits for its server; the second one may come
// before the first was handled, and ends it at once either way.
void tst_Davit::secondSignal()
{
    HostProcess davit;
    davit.run(with(kubeconfig()));
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
