// No secret leaves the process but to the server: the real davit with each kind of credential at
// the highest log level, with servers that accept it, refuse it, repeat it in their answers, or
// break; then everything that can be read of the process is searched.
#include "../transport/rawserver.h"
#include "../transport/tlsfixture.h"
#include "hostprocess.h"
#include "testfile.h"

#include <host/processlimits.h>

#include <QDirIterator>
#include <QTcpSocket>
#include <QTest>
#include <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace Qt::Literals::StringLiterals;

namespace {

const QString kSleeper = QStringLiteral(DAVIT_BUILD_DIR "/tests/sleeper");

enum class Server : quint8 {
    Good, // then the lists are forbidden, in words that repeat the request
    Refusing, // 401, in such words
    Breaking, // after each request
    RefusingProxy // 407, in such words
};

// A message that repeats what it got, as some proxies do, and the credential in other dresses.
QByteArray echo(int status, const RawRequest &request)
{
    QByteArray head = request.head;
    head.replace("\r\n", " ").replace('"', '\'');
    QByteArray credential = request.headers.value("authorization");
    if (credential.isEmpty())
        credential = request.headers.value("proxy-authorization");
    const QByteArray bare = credential.mid(credential.indexOf(' ') + 1);
    const QByteArray password = QByteArray::fromBase64(bare);
    QByteArrayList dresses{bare, "Bearer%20" + bare, "Bearer: " + bare, bare.toPercentEncoding()};
    if (credential.startsWith("Basic"))
        dresses << password << password.mid(password.indexOf(':') + 1)
                << password.toPercentEncoding();
    return R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":)"
        + QByteArray::number(status) + R"(,"reason":"Forbidden","message":"token )"
        + dresses.join(" is not known, token ") + " is not known; you sent: " + head + "\"}";
}

class EchoServer
{
public:
    explicit EchoServer(Server kind)
        : m_kind(kind)
        , m_server([this](RawConnection &connection) { serve(connection); },
              kind == Server::RefusingProxy ? std::nullopt : std::optional(askingTls()))
    { }
    quint16 port() const { return m_server.port(); }
    int lists() const { return m_lists; }
    int requests() const { return m_requests; }

private:
    // Takes a client certificate, and nobody needs one.
    static QSslConfiguration askingTls()
    {
        QSslConfiguration tls = mutualTls();
        tls.setPeerVerifyMode(QSslSocket::QueryPeer);
        return tls;
    }
    void serve(RawConnection &connection)
    {
        RawRequest request;
        while (connection.read(request)) {
            ++m_requests;
            if (m_kind == Server::Breaking)
                return connection.reset();
            if (m_kind == Server::RefusingProxy)
                connection.answer(
                    407, echo(407, request), "Proxy-Authenticate: Basic realm=\"p\"\r\n");
            else if (m_kind == Server::Refusing)
                connection.answer(401, echo(401, request));
            else if (request.target == "/api")
                connection.answer(200, R"({"kind":"APIVersions","versions":["v1"]})");
            else if (request.target == "/apis")
                connection.answer(200, R"({"kind":"APIGroupList","groups":[]})");
            else if (request.target == "/api/v1")
                connection.answer(200,
                    R"({"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":)"
                    R"("configmaps","namespaced":true,"kind":"ConfigMap","verbs":["list","watch"]}]})");
            else {
                ++m_lists;
                connection.answer(403, echo(403, request));
            }
        }
    }

    const Server m_kind;
    std::atomic<int> m_requests{0};
    std::atomic<int> m_lists{0};
    RawServer m_server; // last: its threads use the others
};

QByteArray contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QByteArray fetch(const QString &address, const QByteArray &target)
{
    QTcpSocket socket;
    socket.connectToHost(address.section(u':', 0, 0), address.section(u':', 1).toUShort());
    if (!socket.waitForConnected(5000))
        return {};
    socket.write("GET " + target + " HTTP/1.0\r\n\r\n");
    QByteArray answer;
    while (socket.waitForReadyRead(5000))
        answer += socket.readAll();
    return answer + socket.readAll();
}

} // namespace

class tst_Secrets : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void nothingIsTold_data();
    void nothingIsTold();
    void queries_data() { nothingIsTold_data(); }
    void queries();
    void coreDumps_data();
    void coreDumps();
    void notDumpable();

private:
    QString kubeconfig(quint16 port, const QByteArray &user, const QByteArray &cluster) const;

    QTemporaryDir m_dir;
};

QString tst_Secrets::kubeconfig(
    quint16 port, const QByteArray &user, const QByteArray &cluster) const
{
    return writeFile(m_dir, u"kubeconfig"_s,
        "current-context: c\nclusters: [{name: c, cluster: {certificate-authority: ca.pem"
            + QByteArray(cluster).replace("PORT", QByteArray::number(port))
            + ", server: \"https://127.0.0.1:" + QByteArray::number(port)
            + "\"}}]\nusers: [{name: u, user: {" + user
            + "}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n");
}

void tst_Secrets::initTestCase()
{
    std::signal(SIGHUP, SIG_DFL);
    writeFile(m_dir, u"ca.pem"_s, caseData(u"common-ca.pem"_s));
    writeFile(m_dir, u"token"_s, "file-token-4711\n");
    writeFile(m_dir, u"printed"_s,
        R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
        R"("status":{"token":"exec-token-4711"}})");
    const auto member = [](const QByteArray &pem) { return QByteArray(pem).replace('\n', "\\n"); };
    writeFile(m_dir, u"printed-key"_s,
        R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
        R"("status":{"clientCertificateData":")"
            + member(caseData(u"B10-client-ec.pem"_s)) + R"(","clientKeyData":")"
            + member(caseData(u"B10-key-ec-sec1.pem"_s)) + "\"}}");
    writeFile(m_dir, u"key.sh"_s, "#!/bin/sh\ncat \"$(dirname \"$0\")/printed-key\"\n", true);
    // Another token for each request: the one before has expired.
    writeFile(m_dir, u"rotating.sh"_s,
        "#!/bin/sh\nprintf '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":"
        "\"ExecCredential\",\"status\":{\"token\":\"rotating-token-%s\",\"expirationTimestamp\":"
        "\"2020-01-01T00:00:00Z\"}}' $$\n",
        true);
    writeFile(m_dir, u"plugin.sh"_s, "#!/bin/sh\ncat \"$(dirname \"$0\")/printed\"\n", true);
}

void tst_Secrets::nothingIsTold_data()
{
    QTest::addColumn<Server>("server");
    QTest::addColumn<QByteArray>("user");
    QTest::addColumn<QByteArray>("cluster"); // more members
    QTest::addColumn<QByteArrayList>("secrets");
    const QByteArray key = caseData(u"B10-key-ec-sec1.pem"_s);
    const QByteArray keyLine = key.split('\n').value(4);
    const QByteArray keyUser = "client-certificate-data: "
        + caseData(u"B10-client-ec.pem"_s).toBase64() + ", client-key-data: " + key.toBase64();
    struct Kind
    {
        const char *name;
        QByteArray user;
        QByteArray cluster;
        QByteArrayList secrets;
    };
    const std::vector<Kind> kinds{
        {"token", "token: static-token-4711", "", {"static-token-4711"}},
        {"short token", "token: hunter2", "", {"hunter2"}},
        {"token file", "tokenFile: token", "", {"file-token-4711"}},
        {"basic", "username: alice, password: \"pass word-4711\"", "",
            {"pass word-4711", "alice:pass word-4711"}},
        {"exec token",
            "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin.sh, "
            "interactiveMode: Never, provideClusterInfo: true}",
            "", {"exec-token-4711"}},
        {"exec tokens that rotate",
            "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./rotating.sh, "
            "interactiveMode: Never}",
            "", {"rotating-token"}},
        {"exec client key",
            "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./key.sh, "
            "interactiveMode: Never, provideClusterInfo: true}",
            "", {keyLine}},
        {"client key", keyUser, "", {keyLine, key.left(60)}},
        {"token and impersonation", "token: static-token-4711, as: jane, as-groups: [a]", "",
            {"static-token-4711"}},
        {"password of a proxy", "token: static-token-4711",
            ", proxy-url: \"http://proxyuser:proxy%204711@127.0.0.1:PORT\"",
            {"static-token-4711", "proxy 4711", "proxy%204711", "proxyuser:proxy 4711"}},
    };
    const std::pair<const char *, Server> servers[]
        = {{"good", Server::Good}, {"refused", Server::Refusing}, {"broken", Server::Breaking},
            {"refused by the proxy", Server::RefusingProxy}};
    const auto isOfProxy = [](Server server) {
        return server == Server::RefusingProxy || server == Server::Breaking;
    };
    for (const Kind &kind : kinds)
        for (const auto &[name, server] : servers)
            if (kind.cluster.isEmpty() ? server != Server::RefusingProxy : isOfProxy(server))
                QTest::addRow("%s, %s", kind.name, name)
                    << server << kind.user << kind.cluster << kind.secrets;
}

// Which secrets, plain or in base64, the text holds.
static QByteArrayList foundIn(const QByteArray &text, const QByteArrayList &secrets)
{
    QByteArrayList found;
    for (const QByteArray &secret : secrets)
        if (secret.isEmpty() || text.contains(secret)
            || text.contains(secret.toBase64(QByteArray::OmitTrailingEquals).chopped(2)))
            found << secret;
    return found;
}

// What the executable and the libraries of Davit keep in variables that live as long as the
// process: their writable segments, and what the loader puts behind them for what begins as zero.
static QByteArray variablesOf(qint64 process)
{
    QFile memory(u"/proc/%1/mem"_s.arg(process));
    QByteArray all;
    if (!memory.open(QIODevice::ReadOnly | QIODevice::Unbuffered))
        return all;
    QByteArray endOfOurs;
    for (const QByteArray &line : contentOf(u"/proc/%1/maps"_s.arg(process)).split('\n')) {
        const QByteArrayList fields = line.simplified().split(' ');
        const QByteArrayList range = fields[0].split('-');
        if (range.size() != 2 || !fields.value(1).startsWith("rw"))
            continue;
        const QByteArray file = fields.value(5).split('/').last();
        const bool isOurs = file == "davit" || file.startsWith("libDavit");
        if (!isOurs && !(fields.size() == 5 && range[0] == endOfOurs))
            continue;
        endOfOurs = isOurs ? range[1] : QByteArray();
        const qint64 begin = range[0].toLongLong(nullptr, 16);
        if (memory.seek(begin))
            all += memory.read(range[1].toLongLong(nullptr, 16) - begin);
    }
    return all;
}

void tst_Secrets::nothingIsTold()
{
    QFETCH(const Server, server);
    QFETCH(const QByteArray, user);
    QFETCH(const QByteArray, cluster);
    QFETCH(const QByteArrayList, secrets);
    EchoServer echo(server);
    HostProcess davit;
    davit.run({u"--kubeconfig"_s, kubeconfig(echo.port(), user, cluster), u"--plugin-dir"_s,
        kSleeper, u"--zap-log-level=debug"_s, u"--metrics-bind-address=127.0.0.1:0"_s,
        u"--health-probe-bind-address=127.0.0.1:0"_s});
    QVERIFY2(davit.waitForLine("davit begins"), davit.errorText().constData());
    const QJsonObject begin = davit.linesWith("davit begins").value(0);
    if (server == Server::Refusing) {
        QCOMPARE(davit.waitForExit(), 2);
    } else {
        if (server == Server::Good)
            QTRY_VERIFY_WITH_TIMEOUT(echo.lists() >= 2, 30000);
        else
            QVERIFY2(
                davit.waitForLine("waiting for the API server"), davit.errorText().constData());
        const QString proc = u"/proc/%1/"_s.arg(davit.processId());
        const QByteArray commandLine = contentOf(proc + u"cmdline"_s);
        QVERIFY(commandLine.contains("--kubeconfig"));
        QCOMPARE(foundIn(commandLine, secrets), QByteArrayList());
        QCOMPARE(foundIn(contentOf(proc + u"environ"_s), secrets), QByteArrayList());
        const QByteArray variables = variablesOf(davit.processId());
        if (::geteuid() == 0)
            QVERIFY(variables.size() > 4096);
        else // its own user, too, is kept from it, since it dumps no core
            QVERIFY(!QFile(proc + u"mem"_s).open(QIODevice::ReadOnly));
        for (const QByteArray &secret : std::as_const(secrets))
            QVERIFY2(!variables.contains(secret), "in a variable");
        const QByteArray metrics = fetch(begin[u"metrics"_s].toString(), "/metrics");
        QVERIFY2(metrics.contains("process_cpu_seconds_total"), metrics.constData());
        QCOMPARE(foundIn(metrics, secrets), QByteArrayList());
        const QByteArray readiness = fetch(begin[u"probes"_s].toString(), "/readyz?verbose");
        QVERIFY2(readiness.contains("plugins"), readiness.constData());
        QCOMPARE(foundIn(readiness, secrets), QByteArrayList());
        davit.signalOnce(SIGSEGV); // its last words
#ifdef __SANITIZE_ADDRESS__
        QCOMPARE(davit.waitForExit(), 1); // the sanitizer's own last words follow ours
#else
        QCOMPARE(davit.waitForExit(), -2);
#endif
    }
    QVERIFY(!cluster.isEmpty() || echo.requests() > 0);
    QVERIFY2(foundIn(davit.errorText(), secrets).isEmpty(), davit.errorText().constData());
    QDirIterator files(davit.stateDir(), QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
    while (files.hasNext()) {
        const QString path = files.next();
        QVERIFY2(foundIn(contentOf(path), secrets).isEmpty(), qPrintable(path));
    }
}

// The commands that ask once.
void tst_Secrets::queries()
{
    QFETCH(const Server, server);
    QFETCH(const QByteArray, user);
    QFETCH(const QByteArray, cluster);
    QFETCH(const QByteArrayList, secrets);
    EchoServer echo(server);
    const QString path = kubeconfig(echo.port(), user, cluster);
    QProcess check;
    QProcess get; // side by side: each asks a server that breaks off for 10 s
    check.start(
        QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"), {u"check"_s, u"--kubeconfig"_s, path});
    get.start(QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"),
        {u"get"_s, u"--raw"_s, u"/api/v1/configmaps"_s, u"--kubeconfig"_s, path});
    for (QProcess *const davit : {&check, &get}) {
        QVERIFY(davit->waitForFinished(60000));
        QCOMPARE(davit->exitStatus(), QProcess::NormalExit);
        QVERIFY(davit->exitCode() != 0);
        const QByteArray text = davit->readAllStandardOutput() + davit->readAllStandardError();
        QVERIFY(!text.isEmpty());
        QVERIFY2(foundIn(text, secrets).isEmpty(), text.constData());
    }
}

void tst_Secrets::coreDumps_data()
{
    QTest::addColumn<QStringList>("flags");
    QTest::addColumn<bool>("areAllowed");
    QTest::newRow("as it is") << QStringList() << false;
#ifndef __SANITIZE_ADDRESS__ // which allows none
    rlimit limit{};
    QCOMPARE(::getrlimit(RLIMIT_CORE, &limit), 0);
    if (limit.rlim_max != 0) // else nothing on this machine may dump core
        QTest::newRow("allowed") << QStringList{u"--allow-core-dumps"_s} << true;
#endif
}

void tst_Secrets::coreDumps()
{
    QFETCH(const QStringList, flags);
    QFETCH(const bool, areAllowed);
    rlimit limit{};
    QCOMPARE(::getrlimit(RLIMIT_CORE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    QCOMPARE(::setrlimit(RLIMIT_CORE, &limit), 0); // for the child
    HostProcess davit;
    davit.run(QStringList{u"--embedded"_s, u"--plugin-dir"_s, kSleeper} + flags);
    QVERIFY2(davit.waitForLine("connected"), davit.errorText().constData());
    const QByteArray limits = contentOf(u"/proc/%1/limits"_s.arg(davit.processId()));
    const qsizetype at = limits.indexOf("Max core file size");
    QVERIFY(at >= 0);
    const QByteArray soft = limits.mid(at + 18, 40).simplified().split(' ').value(0);
    QCOMPARE(soft != "0", areAllowed);
    QCOMPARE(davit.stop(), 0);
}

// A pipe in kernel.core_pattern ignores the limit, and asks for this.
void tst_Secrets::notDumpable()
{
    const int before = ::prctl(PR_GET_DUMPABLE);
    rlimit limit{};
    QCOMPARE(::getrlimit(RLIMIT_CORE, &limit), 0);
    davit::host::forbidCoreDumps();
    const int after = ::prctl(PR_GET_DUMPABLE);
    ::prctl(PR_SET_DUMPABLE, before);
    QCOMPARE(after, 0);
}

QTEST_GUILESS_MAIN(tst_Secrets)
#include "tst_secrets.moc"
