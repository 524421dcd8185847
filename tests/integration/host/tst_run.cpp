// "davit run" from its start to its end, on the embedded server and on one that is slow.
#include "apidriver.h"
#include "hostprocess.h"
#include "slowserver.h"

#include <testing/embeddedapiserver.h>

#include <QRegularExpression>
#include <QTest>
#include <algorithm>
#include <array>
#include <csignal>

using namespace Qt::StringLiterals;

class tst_Run : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void embedded();
    void embeddedObjectsThatAreWrong();
    void slowFirstSync();
    void oddDiscovery();
    void b32_oneRuleIsMissing();
    void serverComesLater();
    void badPluginBesideAGoodOne();
    void lastWords_data();
    void lastWords();
    void ownThread();
    void slowSlot();
    void stops_data();
    void stops();
    void eventsAreWrittenBeforeTheEnd_data();
    void eventsAreWrittenBeforeTheEnd();
    void secondSignalWhileStopping();
    void debuggingAids_data();
    void debuggingAids();
    void metrics();

private:
    QString file(const QString &name, const QByteArray &content);
    QString kubeconfigFor(quint16 port);
    // One ConfigMap that the sleeper works on for so long, once it heard of it. Its slot waits for
    // a file; the entry-counter counts it too.
    bool addSleeper(ApiDriver &api, const QString &name, const QString &seconds,
        const QString &slotWaitsFor = {});

    QTemporaryDir m_dir;
};

static const QString kReplicator = QStringLiteral(DAVIT_BUILD_DIR "/plugins");
static const QString kExamples = QStringLiteral(DAVIT_BUILD_DIR "/examples");
static const QString kSleeper = QStringLiteral(DAVIT_BUILD_DIR "/tests/sleeper");

QString tst_Run::file(const QString &name, const QByteArray &content)
{
    const QString path = m_dir.filePath(name);
    QDir().mkpath(path.section(u'/', 0, -2));
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
        qFatal("cannot write a test file");
    return path;
}

QString tst_Run::kubeconfigFor(quint16 port)
{
    return file(u"kubeconfig"_s,
        "apiVersion: v1\nkind: Config\ncurrent-context: t\n"
        "contexts: [{name: t, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\n"
        "clusters: [{name: c, cluster: {server: \"http://127.0.0.1:"
            + QByteArray::number(port) + "\"}}]\n");
}

bool tst_Run::addSleeper(
    ApiDriver &api, const QString &name, const QString &seconds, const QString &slotWaitsFor)
{
    const QJsonObject labels{{u"sleep"_s, u"yes"_s}, {u"example.davit.dev/counted"_s, u"true"_s}};
    return api.create(u"configmaps"_s, u"default"_s,
        {{u"apiVersion"_s, u"v1"_s}, {u"kind"_s, u"ConfigMap"_s},
            {u"metadata"_s, QJsonObject{{u"name"_s, name}, {u"labels"_s, labels}}},
            {u"data"_s, QJsonObject{{u"seconds"_s, seconds}, {u"until"_s, slotWaitsFor}}}});
}

void tst_Run::embedded()
{
    HostProcess davit;
    davit.run({u"--embedded"_s, u"--embedded-objects"_s,
        QStringLiteral(DAVIT_SOURCE_DIR "/examples/sample-objects"), u"--plugin-dir"_s, kReplicator,
        u"--plugin-dir"_s, kExamples});
    const QString kubeconfig = davit.stateDir() + u"/embedded.kubeconfig"_s;
    QVERIFY2(davit.waitForLine("this API server is embedded", "try",
                 u"KUBECONFIG=%1 kubectl get secrets -A"_s.arg(kubeconfig)),
        davit.errorText().constData());
    QVERIFY2(davit.waitForLine("copied", "to", u"team-red/registry-login"_s),
        davit.errorText().constData());
    QVERIFY2(
        davit.waitForLine("copied", "to", u"ops/registry-login"_s), davit.errorText().constData());
    QVERIFY2(davit.waitForLine("counted", "name", u"defaults"_s), davit.errorText().constData());
    QVERIFY2(
        davit.waitForLine("pod is there", "pod", u"ops/job-7"_s), davit.errorText().constData());
    ApiDriver api(kubeconfig);
    QCOMPARE(api.find(u"secrets"_s, u"team-blue"_s, u"registry-login"_s)["data"_L1],
        api.find(u"secrets"_s, u"shared"_s, u"registry-login"_s)["data"_L1]);
    // Signals arrive: added, updated, deleted.
    QVERIFY2(api.mergePatch(u"pods"_s, u"ops"_s, u"job-7"_s,
                 {{u"metadata"_s, QJsonObject{{u"labels"_s, QJsonObject{{u"a"_s, u"b"_s}}}}}}),
        qPrintable(api.lastError));
    QVERIFY2(
        davit.waitForLine("pod updated", "pod", u"ops/job-7"_s), davit.errorText().constData());
    QVERIFY(api.remove(u"pods"_s, u"ops"_s, u"job-7"_s));
    QVERIFY2(
        davit.waitForLine("pod deleted", "pod", u"ops/job-7"_s), davit.errorText().constData());
    QVERIFY(!davit.errorText().contains("not-a-real-one"));
    QVERIFY(!davit.errorText().contains("bm90LWEtcmVhbC1vbmU")); // its base64
    QCOMPARE(davit.stop(), 0);
    QCOMPARE(davit.linesWith("stopped").size(), 1);
}

void tst_Run::embeddedObjectsThatAreWrong()
{
    const QString path
        = file(u"objects/wrong.yaml"_s, "apiVersion: v1\nkind: ConfigMap\nmetadata: [\n");
    HostProcess davit;
    davit.run({u"--embedded"_s, u"--embedded-objects"_s, m_dir.filePath(u"objects"_s),
        u"--plugin-dir"_s, kReplicator});
    QCOMPARE(davit.waitForExit(), 2);
    const QByteArray text = davit.errorText();
    QVERIFY2(text.startsWith("davit: the embedded API server cannot start: "), text.constData());
    QVERIFY2(text.contains("wrong.yaml"), text.constData());
    QCOMPARE(text.count('\n'), 1);
}

// 800 objects, one every 10 ms: the log and /readyz?verbose both show how far it is.
void tst_Run::slowFirstSync()
{
    const SlowServer server(800);
    const quint16 probePort = freePort();
    HostProcess davit;
    davit.run({u"--plugin-dir"_s, kExamples, u"--kubeconfig"_s, kubeconfigFor(server.port()),
        u"--health-probe-bind-address=127.0.0.1:%1"_s.arg(probePort)});
    const QRegularExpression shown(
        u"sync v1 ConfigMap[^:]*: (\\d+) objects, ([\\d.]+) (k?B) of JSON in ([\\d.]+) s"_s);
    QList<std::array<double, 3>> seen; // objects, bytes and seconds, once all have grown
    QVERIFY2(davit.waitForLine("first sync"), davit.errorText().constData());
    while (davit.linesWith("first sync").size() < 3) {
        const QByteArray page = httpGet(probePort, "/readyz?verbose");
        QVERIFY2(page.startsWith("HTTP/1.1 500"), page.constData()); // not ready
        QVERIFY2(page.contains("[-]caches failed"), page.constData());
        const QRegularExpressionMatch match = shown.match(QString::fromUtf8(page));
        QVERIFY2(match.hasMatch(), page.constData());
        const double unit = match.captured(3) == u"kB" ? 1000 : 1;
        const std::array look{match.captured(1).toDouble(), match.captured(2).toDouble() * unit,
            match.captured(4).toDouble()};
        if (seen.isEmpty()
            || std::equal(look.begin(), look.end(), seen.last().begin(), std::greater<>()))
            seen << look;
        QTest::qWait(300);
    }
    QVERIFY2(seen.size() >= 3, qPrintable(QString::number(seen.size())));
    const QList<QJsonObject> lines = davit.linesWith("first sync");
    for (qsizetype i = 1; i < 3; ++i)
        for (const char *field : {"objects", "receivedBytes", "seconds"})
            QVERIFY2(lines[i][QLatin1StringView(field)].toDouble()
                    > lines[i - 1][QLatin1StringView(field)].toDouble(),
                davit.errorText().constData());
    QVERIFY2(
        davit.waitForLine("first sync done", "objects", u"800"_s), davit.errorText().constData());
    QTRY_VERIFY_WITH_TIMEOUT(httpGet(probePort, "/readyz").startsWith("HTTP/1.1 200"), 5000);
    // This server has no Pods: the plugin that wants them waits, visibly, and nobody else does.
    const QByteArray page = httpGet(probePort, "/readyz?verbose");
    QVERIFY2(page.contains("plugin log-events 1.0.0: Checked, "), page.constData());
    QVERIFY2(page.contains("plugin reconcile-configmap 1.0.0: Running\n"), page.constData());
    QCOMPARE(davit.stop(), 0);
}

// A plugin that waits because of the server says what the server does wrong.
void tst_Run::oddDiscovery()
{
    const SlowServer server(0, R"({"kind":"APIResourceList","resources":5})");
    const quint16 probePort = freePort();
    HostProcess davit;
    davit.run({u"--plugin-dir"_s, kReplicator, u"--kubeconfig"_s, kubeconfigFor(server.port()),
        u"--health-probe-bind-address=127.0.0.1:%1"_s.arg(probePort)});
    QVERIFY2(
        davit.waitForLine("plugin state", "state", u"Checked"_s), davit.errorText().constData());
    const QString sentence
        = u"discover v1: what http://127.0.0.1:%1 answers to GET /api/v1 is no APIResourceList: it "
          "has resources that are no list; check what serves that path there, a proxy or the "
          "group's APIService"_s.arg(server.port());
    const QString reason
        = davit.linesWith("plugin state", "state", u"Checked"_s).first()["reason"_L1].toString();
    QVERIFY2(reason.contains(sentence), qPrintable(reason));
    const QByteArray page = httpGet(probePort, "/readyz?verbose");
    QVERIFY2(page.contains(sentence.toUtf8()), page.constData());
    QCOMPARE(davit.stop(), 0);
}

// B32: X needs ConfigMaps, Y Secrets as well, which it may not list until the rule is granted.
void tst_Run::b32_oneRuleIsMissing()
{
    davit::testing::EmbeddedApiServer server;
    QVERIFY(server.start().isOk());
    davit::testing::ApiServerFault forbidden;
    forbidden.pathContains = "/secrets";
    forbidden.times = -1;
    forbidden.httpStatus = 403;
    server.addFault(forbidden);
    const quint16 probePort = freePort();
    HostProcess davit;
    davit.run({u"--plugin-dir"_s, kReplicator, u"--plugin-dir"_s, kExamples, u"--kubeconfig"_s,
        kubeconfigFor(server.port()), u"--cache-sync-timeout=3s"_s,
        u"--health-probe-bind-address=127.0.0.1:%1"_s.arg(probePort)});
    QVERIFY2(davit.waitForLine(
                 "plugins wait for the first list of a resource", "resource", u"v1 Secret"_s),
        davit.errorText().constData());
    const QJsonObject line
        = davit.linesWith("plugins wait for the first list of a resource").first();
    QCOMPARE(line["plugins"_L1].toArray(), QJsonArray{u"replicator"_s});
    QVERIFY2(line["error"_L1].toString().startsWith("list v1 Secret: "_L1)
            && line["error"_L1].toString().endsWith(" (HTTP 403)"_L1),
        davit.errorText().constData());
    const QByteArray waiting = httpGet(probePort, "/readyz?verbose");
    QVERIFY2(waiting.contains(": Running, waits for the first list of v1 Secret: list v1 Secret: "),
        waiting.constData());
    QVERIFY2(waiting.contains("plugin reconcile-configmap 1.0.0: Running\n"), waiting.constData());
    // It is late, and the others work.
    QVERIFY2(davit.waitForLine("first sync is slow"), davit.errorText().constData());
    QVERIFY2(httpGet(probePort, "/readyz?verbose")
                 .contains("is late: it waits longer than --cache-sync-timeout (3 s)"),
        httpGet(probePort, "/readyz?verbose").constData());
    QVERIFY2(davit.waitForLine("workers begin", "controller", u"entry-counter"_s),
        davit.errorText().constData());
    server.clearFaults(); // the rule is granted
    QTRY_VERIFY2_WITH_TIMEOUT(httpGet(probePort, "/readyz").contains(" 200 "),
        davit.errorText().constData(), 60000); // the next try comes within 30 s
    QVERIFY(!httpGet(probePort, "/readyz?verbose").contains("waits"));
    QCOMPARE(davit.stop(), 0);
}

void tst_Run::serverComesLater()
{
    const quint16 port = freePort();
    HostProcess davit;
    const quint16 probePort = freePort();
    davit.run({u"--plugin-dir"_s, kReplicator, u"--kubeconfig"_s, kubeconfigFor(port),
        u"--health-probe-bind-address=127.0.0.1:%1"_s.arg(probePort)});
    QVERIFY2(davit.waitForLine("waiting for the API server"), davit.errorText().constData());
    const QByteArray waiting = httpGet(probePort, "/readyz?verbose");
    QVERIFY2(waiting.startsWith("HTTP/1.1 500"), waiting.constData());
    QVERIFY2(waiting.contains("[-]caches failed"), waiting.constData());
    QVERIFY2(waiting.contains("    server: waiting for the API server http://127.0.0.1:"
                 + QByteArray::number(port) + ": "),
        waiting.constData());
    davit::testing::EmbeddedApiServerOptions options;
    options.port = port;
    davit::testing::EmbeddedApiServer server(options);
    QVERIFY(server.start().isOk());
    QVERIFY2(davit.waitForLine("connected"), davit.errorText().constData());
    QVERIFY2(
        davit.waitForLine("plugin state", "state", u"Running"_s), davit.errorText().constData());
    // It goes away and comes back while plugins run.
    server.stop();
    QTest::qWait(300);
    QVERIFY(server.start().isOk());
    QVERIFY(
        server.put(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"there"}})").isOk());
    QVERIFY(
        server
            .put(
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"default",)"
                R"("annotations":{"replicator.davit.dev/to-namespaces":"there"}},"data":{"a":"b"}})")
            .isOk());
    QVERIFY2(davit.waitForLine("copied", "to", u"there/x"_s, 40), davit.errorText().constData());
    QCOMPARE(davit.stop(), 0);
}

void tst_Run::badPluginBesideAGoodOne()
{
    file(u"plugins/broken.so"_s, "this is no library");
    QVERIFY(
        QFile::copy(kReplicator + u"/replicator.so"_s, m_dir.filePath(u"plugins/replicator.so"_s)));
    const quint16 probePort = freePort();
    HostProcess davit;
    davit.run({u"--embedded"_s, u"--plugin-dir"_s, m_dir.filePath(u"plugins"_s),
        u"--health-probe-bind-address=127.0.0.1:%1"_s.arg(probePort)});
    QVERIFY2(
        davit.waitForLine("plugin state", "state", u"Running"_s), davit.errorText().constData());
    QCOMPARE(davit.linesWith("plugin state", "state", u"Refused"_s).size(), 1);
    QCOMPARE(davit.linesWith("plugin state", "plugin", u"broken.so"_s).size(), 1);
    QVERIFY2(davit.waitForLine("not every plugin runs; /readyz is about the others, "
                               "/readyz?verbose says why",
                 "running", u"1"_s),
        davit.errorText().constData());
    QTRY_VERIFY_WITH_TIMEOUT(httpGet(probePort, "/readyz").startsWith("HTTP/1.1 200"), 5000);
    const QByteArray page = httpGet(probePort, "/readyz?verbose");
    QVERIFY2(page.contains("plugin replicator 1.0.0: Running\n"), page.constData());
    QVERIFY2(page.contains("plugin broken.so: Refused, "), page.constData());
    QCOMPARE(davit.stop(), 0);
}

void tst_Run::lastWords_data()
{
    QTest::addColumn<QString>("where");
    QTest::addColumn<QString>("how");
    QTest::addColumn<QString>("words");
    QTest::addColumn<int>("exitCode"); // -2: a signal
    const auto row = [](const char *where, const char *how, const char *words, int exitCode) {
        QTest::addRow("%s in %s", how, where)
            << QString::fromLatin1(where) << QString::fromLatin1(how) << QString::fromLatin1(words)
            << exitCode;
    };
    row("load", "throw", "it threw, and nobody caught: the sleeper threw", -2);
    row("thread", "exit", "it called exit()", 1);
    row("thread", "abort", "it called abort() or qFatal()", -2);
    row("thread", "throw", "it threw, and nobody caught: the sleeper threw", -2);
    row("initialize", "exit", "it called exit()", 1);
    row("event", "quick_exit", "it called exit()", 1);
    row("reconcile", "exit", "it called exit()", 1);
    row("initialize", "qFatal", "it called abort() or qFatal()", -2);
    row("reconcile", "abort", "it called abort() or qFatal()", -2);
    row("event", "terminate", "it threw, and nobody caught: std::terminate was called", -2);
    row("reconcile", "throw", "it threw, and nobody caught: the sleeper threw", -2);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // which have that signal
    row("event", "SIGSEGV", "SIGSEGV", -2);
    row("thread", "SIGSEGV", "SIGSEGV", -2);
    row("thread", "null", "SIGSEGV", -2);
#endif
}

// A plugin that ends the process is named, and what it was at; other threads may still have a line
// to write.
void tst_Run::lastWords()
{
    QFETCH(const QString, where);
    QFETCH(const QString, how);
    QFETCH(const QString, words);
    QFETCH(const int, exitCode);
    HostProcess davit;
    davit.setEnvironment(u"SLEEPER_ENDS"_s, where + u':' + how);
    QStringList arguments{u"--embedded"_s, u"--plugin-dir"_s, kSleeper};
    if (where
        == u"reconcile") { // it is there at the start: nobody waits for an answer to its write
        file(u"sleepers/one.yaml"_s,
            "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one, namespace: default, labels: "
            "{ sleep: \"yes\" } }\ndata: { seconds: \"0\" }\n");
        arguments += {u"--embedded-objects"_s, m_dir.filePath(u"sleepers"_s)};
    }
    davit.run(arguments);
    QCOMPARE(davit.waitForExit(), exitCode);
    const QHash<QString, QString> about{{u"load"_s, u"sleeper"_s}, {u"initialize"_s, u"sleeper"_s},
        {u"event"_s, u"SleeperPlugin"_s}, {u"reconcile"_s, u"sleeper default/one"_s}};
    const QString told
        = u"\ndavit: plugin \"sleeper\" ended the process %1: %2; mend the plugin or remove it\n"_s
              .arg(where == u"thread" ? u"outside of the host's calls"_s
                                      : u"in its %1 (%2)"_s.arg(where, about.value(where)),
                  words);
    QVERIFY2(davit.errorText().contains(told.toUtf8()), davit.errorText().constData());
}

// initialize() and slots run on the plugin's own thread, reconciles on others.
void tst_Run::ownThread()
{
    HostProcess davit;
    davit.run({u"--embedded"_s, u"--plugin-dir"_s, kSleeper});
    QVERIFY2(davit.waitForLine("connected"), davit.errorText().constData());
    ApiDriver api(davit.stateDir() + u"/embedded.kubeconfig"_s);
    QVERIFY2(addSleeper(api, u"one"_s, u"0"_s), qPrintable(api.lastError));
    QVERIFY2(davit.waitForLine("hears", "name", u"one"_s), davit.errorText().constData());
    QVERIFY2(davit.waitForLine("falls asleep", "name", u"one"_s), davit.errorText().constData());
    const auto threadOf = [&davit](const char *message) {
        return davit.linesWith(message).first()["thread"_L1].toInteger();
    };
    const qint64 own = threadOf("initializes");
    QFile name(u"/proc/%1/task/%2/comm"_s.arg(davit.processId()).arg(own));
    QVERIFY2(name.open(QIODevice::ReadOnly), qPrintable(name.fileName()));
    QCOMPARE(name.readAll(), QByteArray("plugin sleeper\n"));
    QCOMPARE(threadOf("hears"), own);
    QVERIFY(own != davit.processId()); // which is the number of the main thread
    QVERIFY(threadOf("falls asleep") != own && threadOf("falls asleep") != davit.processId());
    QCOMPARE(davit.stop(), 0);
}

// informer.h: a slow slot delays only its own plugin.
void tst_Run::slowSlot()
{
    HostProcess davit;
    davit.run({u"--embedded"_s, u"--plugin-dir"_s, kSleeper, u"--plugin-dir"_s, kExamples});
    QVERIFY2(davit.waitForLine("all Pods are known"), davit.errorText().constData());
    ApiDriver api(davit.stateDir() + u"/embedded.kubeconfig"_s);
    QVERIFY2(
        addSleeper(api, u"one"_s, u"0"_s, m_dir.filePath(u"enough"_s)), qPrintable(api.lastError));
    QVERIFY2(davit.waitForLine("hears", "name", u"one"_s), davit.errorText().constData());
    QVERIFY2(addSleeper(api, u"two"_s, u"0"_s), qPrintable(api.lastError));
    const QJsonObject container{{u"name"_s, u"c"_s}, {u"image"_s, u"i"_s}};
    QVERIFY2(api.create(u"pods"_s, u"default"_s,
                 {{u"apiVersion"_s, u"v1"_s}, {u"kind"_s, u"Pod"_s},
                     {u"metadata"_s, QJsonObject{{u"name"_s, u"late"_s}}},
                     {u"spec"_s, QJsonObject{{u"containers"_s, QJsonArray{container}}}}}),
        qPrintable(api.lastError));
    // Others hear, and reconcile, of this kind and of another one.
    QVERIFY2(davit.waitForLine("counted", "name", u"two"_s), davit.errorText().constData());
    QVERIFY2(
        davit.waitForLine("pod added", "pod", u"default/late"_s), davit.errorText().constData());
    QCOMPARE(davit.linesWith("hears").size(), 1);
    QCOMPARE(davit.linesWith("falls asleep", "name", u"two"_s).size(), 0);
    file(u"enough"_s, {});
    QVERIFY2(davit.waitForLine("hears", "name", u"two"_s), davit.errorText().constData());
    QVERIFY2(davit.waitForLine("falls asleep", "name", u"two"_s), davit.errorText().constData());
    QCOMPARE(davit.stop(), 0);
}

void tst_Run::stops_data()
{
    QTest::addColumn<QString>("seconds"); // of the reconcile
    QTest::addColumn<QString>("timeout");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<int>("abandoned");
    QTest::newRow("in flight, ends in time") << u"1.5"_s << u"20s"_s << 0 << 0;
    QTest::newRow("in flight, does not end in time") << u"30"_s << u"500ms"_s << 3 << 1;
    QTest::newRow("M-13 zero does not wait") << u"30"_s << u"0"_s << 3 << 1;
    QTest::newRow("M-13 negative waits for ever") << u"1.5"_s << u"-1s"_s << 0 << 0;
}

void tst_Run::stops()
{
    QFETCH(const QString, seconds);
    QFETCH(const QString, timeout);
    QFETCH(const int, exitCode);
    QFETCH(const int, abandoned);
    HostProcess davit;
    davit.run(
        {u"--embedded"_s, u"--plugin-dir"_s, kSleeper, u"--graceful-shutdown-timeout"_s, timeout});
    QVERIFY2(davit.waitForLine("connected"), davit.errorText().constData());
    ApiDriver api(davit.stateDir() + u"/embedded.kubeconfig"_s);
    QVERIFY2(addSleeper(api, u"one"_s, seconds), qPrintable(api.lastError));
    QVERIFY2(davit.waitForLine("falls asleep", "name", u"one"_s), davit.errorText().constData());
    const int ended = davit.stop();
    // It left by _exit: a plugin's thread may be in the middle of its code.
    QVERIFY2(!davit.errorText().contains("static destructor"), davit.errorText().constData());
    QCOMPARE(ended, exitCode);
    const QList<QJsonObject> named = davit.linesWith("abandoned a reconcile that did not end");
    QCOMPARE(named.size(), abandoned);
    if (abandoned > 0)
        QVERIFY2(named.first()["reconcile"_L1].toString().contains("default/one"_L1),
            davit.errorText().constData());
    QCOMPARE(davit.linesWith("woke up").size(), 1 - abandoned);
    QCOMPARE(davit.linesWith("stopped", "exitCode", QString::number(exitCode)).size(), 1);
}

void tst_Run::eventsAreWrittenBeforeTheEnd_data()
{
    QTest::addColumn<int>("delayMs"); // of the server, for each Event
    QTest::addColumn<bool>("areAllWritten");
    QTest::newRow("a slow server") << 30 << true;
    QTest::newRow("a server that nobody can wait for") << 1000 << false;
}

void tst_Run::eventsAreWrittenBeforeTheEnd()
{
    QFETCH(const int, delayMs);
    QFETCH(const bool, areAllWritten);
    constexpr int kEvents = 20;
    davit::testing::EmbeddedApiServer server;
    QVERIFY(server.start().isOk());
    davit::testing::ApiServerFault slow;
    slow.method = "POST";
    slow.pathContains = "/events";
    slow.times = -1;
    slow.delay = std::chrono::milliseconds(delayMs);
    server.addFault(slow);
    HostProcess davit;
    davit.run({u"--plugin-dir"_s, kSleeper, u"--kubeconfig"_s, kubeconfigFor(server.port())});
    QVERIFY2(davit.waitForLine("connected"), davit.errorText().constData());
    QVERIFY(
        server
            .put(
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","labels":{"sleep":"yes"}},)"
                R"("data":{"seconds":"1","events":"20"}})")
            .isOk());
    QVERIFY2(davit.waitForLine("falls asleep"), davit.errorText().constData());
    QCOMPARE(davit.stop(), 0); // it wakes up and records while the host stops
    const int written = server.countRequests("POST", "/events");
    QVERIFY2(
        written > 0 && (written == kEvents) == areAllWritten, qPrintable(QString::number(written)));
}

void tst_Run::secondSignalWhileStopping()
{
    HostProcess davit;
    const quint16 probePort = freePort();
    davit.run({u"--embedded"_s, u"--plugin-dir"_s, kSleeper,
        u"--health-probe-bind-address=127.0.0.1:%1"_s.arg(probePort)});
    QVERIFY2(davit.waitForLine("ready"), davit.errorText().constData());
    QVERIFY(httpGet(probePort, "/readyz").startsWith("HTTP/1.1 200"));
    ApiDriver api(davit.stateDir() + u"/embedded.kubeconfig"_s);
    QVERIFY2(addSleeper(api, u"one"_s, u"30"_s), qPrintable(api.lastError));
    QVERIFY2(davit.waitForLine("falls asleep"), davit.errorText().constData());
    davit.signalOnce(SIGTERM);
    QVERIFY2(davit.waitForLine("stopping"), davit.errorText().constData());
    // What drains gets no new work sent, and is not begun anew either.
    const QByteArray draining = httpGet(probePort, "/readyz?verbose");
    QVERIFY2(draining.startsWith("HTTP/1.1 500") && draining.contains("[-]shutdown failed")
            && draining.contains("[+]server-reached ok"),
        draining.constData());
    QVERIFY(httpGet(probePort, "/healthz").startsWith("HTTP/1.1 200"));
    davit.signalOnce(SIGTERM);
    QCOMPARE(davit.waitForExit(5), 1);
}

void tst_Run::debuggingAids_data()
{
    QTest::addColumn<QString>("variable");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("isOn");
    QTest::addColumn<QString>("staysOff");
    const QString consistency = u"KUBE_WATCHLIST_INCONSISTENCY_DETECTOR"_s;
    const QString mutation = u"KUBE_CACHE_MUTATION_DETECTOR"_s;
    QTest::newRow("1.8: on") << consistency << u"true"_s << consistency << QString();
    QTest::newRow("4.7: on") << mutation << u"1"_s << mutation << QString();
    QTest::newRow("off") << mutation << u"False"_s << QString() << QString();
    QTest::newRow("no bool") << consistency << u"yes"_s << QString() << consistency;
}

void tst_Run::debuggingAids()
{
    QFETCH(const QString, variable);
    QFETCH(const QString, value);
    HostProcess davit;
    davit.setEnvironment(variable, value);
    davit.run({u"--embedded"_s, u"--plugin-dir"_s, kReplicator});
    QVERIFY(davit.waitForLine("connected"));
    const auto toldOf = [&davit](const char *message) {
        const QList<QJsonObject> lines = davit.linesWith(message);
        return lines.isEmpty() ? QString() : lines.first()[u"variable"].toString();
    };
    QTRY_COMPARE(davit.linesWith("plugin state", "state", u"Running"_s).size(), 1);
    QTEST(toldOf("a debugging aid is on"), "isOn");
    QTEST(toldOf("a debugging aid stays off: its value is neither true nor false"), "staysOff");
    QCOMPARE(davit.stop(), 0);
}

void tst_Run::metrics()
{
    const quint16 port = freePort();
    HostProcess davit;
    davit.run({u"--embedded"_s, u"--embedded-objects"_s,
        QStringLiteral(DAVIT_SOURCE_DIR "/examples/sample-objects"), u"--plugin-dir"_s, kReplicator,
        u"--metrics-bind-address=127.0.0.1:%1"_s.arg(port)});
    QVERIFY2(
        davit.waitForLine("copied", "to", u"ops/registry-login"_s), davit.errorText().constData());
    const QByteArray secrets = "controller=\"secrets\",plugin=\"replicator\"";
    QTRY_VERIFY_WITH_TIMEOUT(
        httpGet(port, "/metrics")
            .contains("controller_runtime_reconcile_total{" + secrets + ",result=\"success\"}"),
        5000);
    const QByteArray written
        = "replicator_copies_written_total{kind=\"Secret\",plugin=\"replicator\"}";
    QTRY_VERIFY_WITH_TIMEOUT(httpGet(port, "/metrics").contains("\n" + written + " 3"), 20000);
    const QByteArray page = httpGet(port, "/metrics");
    for (const QByteArray &start :
        QByteArrayList{"controller_runtime_reconcile_errors_total{" + secrets + "} 0",
            "controller_runtime_max_concurrent_reconciles{" + secrets + "} 2",
            "controller_runtime_reconcile_time_seconds_count{" + secrets,
            "workqueue_adds_total{controller=\"secrets\",name=\"secrets\",plugin=\"replicator\"}",
            "workqueue_depth{controller=\"secrets\",name=\"secrets\",plugin=\"replicator\","
            "priority=\"",
            "workqueue_unfinished_work_seconds{", "workqueue_longest_running_processor_seconds{",
            "workqueue_retries_total{", "rest_client_requests_total{code=\"200\"",
            "rest_client_request_duration_seconds_bucket{", "process_resident_memory_bytes ",
            "davit_build_info{", "davit_cache_synced{resource=\"v1 Secret\"} 1",
            "davit_handler_pending{delivery=\"latest\",plugin=\"replicator\",resource=\"v1 "
            "Secret\"} ", // B33
            "davit_plugin_state{plugin=\"replicator\",state=\"Running\",version=\"1.0.0\"} 1"})
        QVERIFY2(page.contains("\n" + start), (start + "\n" + page).constData());
    // B66: no series is named after an object.
    QVERIFY(!page.contains("registry-login"));
    QCOMPARE(davit.stop(), 0);
}

QTEST_GUILESS_MAIN(tst_Run)
#include "tst_run.moc"
