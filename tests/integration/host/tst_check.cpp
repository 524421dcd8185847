// "davit check" and "davit get --raw" as a person runs them: against the embedded server, against
// servers that are not well, and, with DAVIT_REAL_KUBECONFIG, against kube-apiserver.
#include "../transport/tlsfixture.h"
#include "apidriver.h"
#include "davitcommand.h"
#include "troubledserver.h"

#include <host/check.h>
#include <host/checkrights.h>
#include <testing/embeddedapiserver.h>
#include <transport/httpheaders.h>

#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>
#include <QTemporaryDir>
#include <QTest>

using namespace davit;
using namespace Qt::Literals::StringLiterals;

namespace {

const QString kReplicator = QStringLiteral(DAVIT_BUILD_DIR "/plugins/replicator.so");

} // namespace

class tst_Check : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void rights();
    void good();
    void troubles_data();
    void troubles();
    void installedKinds();
    void noServer();
    void wrongCa();
    void expired();
    void configurations_data();
    void configurations();
    void brokenPlugin();
    void get_data();
    void get();
    void realUsers_data();
    void realUsers();
    void realRaw();
    void realImpersonationExtra();

private:
    // A kubeconfig with one user, whose entry is in flow style.
    QString kubeconfig(const QByteArray &server, const QByteArray &user, const QString &caFile = {})
    {
        return writeKubeconfig(m_dir, server, user, caFile);
    }
    void prepareReal();

    QTemporaryDir m_dir;
    testing::EmbeddedApiServer m_embedded;
    QString m_real; // its folder; empty: not asked for
    QByteArray m_realServer;
    QByteArray m_powerfulToken; // of a service account that may do what the replicator does
    QByteArray m_powerlessToken;
};

void tst_Check::initTestCase()
{
    QVERIFY(m_embedded.start().isOk());
    QVERIFY(m_embedded.writeKubeconfig(m_dir.filePath(u"embedded"_s)).isOk());
    QVERIFY(QDir(m_dir.path()).mkpath(u"plugins"_s));
    QVERIFY(QDir(m_dir.path()).mkpath(u"broken"_s));
    writeFile(m_dir, u"broken/broken.so"_s, "no library");
    if (qEnvironmentVariableIsSet("DAVIT_REAL_KUBECONFIG"))
        prepareReal();
}

// Each right once, rules of resources that are declared for some namespaces there only.
void tst_Check::rights()
{
    pluginhost::PluginMetadata metadata;
    pluginhost::DeclaredResource secrets;
    secrets.gvk = {{}, u"v1"_s, u"Secret"_s};
    secrets.plural = u"secrets"_s;
    secrets.namespaces = {u"a"_s, u"b"_s};
    metadata.resources = {secrets};
    metadata.rbac = {
        {{QString()}, {u"secrets"_s}, {}, {u"patch"_s, u"get"_s}},
        {{u"apps"_s}, {u"deployments/status"_s, u"*"_s}, {u"web"_s}, {u"update"_s}},
        {{}, {}, {}, {u"get"_s}, {u"/metrics"_s}},
    };
    QStringList texts;
    for (const host::Right &right : host::rightsOf(metadata)) {
        QStringList verbs;
        for (const QString &verb : right.verbs)
            verbs << verb;
        texts << verbs.join(u',') + u' ' + right.text();
    }
    QCOMPARE(texts,
        QStringList({u"get /metrics"_s, u"get,list,patch,watch secrets in namespace a"_s,
            u"get,list,patch,watch secrets in namespace b"_s,
            u"update * of apps named web in all namespaces"_s,
            u"update deployments/status of apps named web in all namespaces"_s}));
}

void tst_Check::good()
{
    const Outcome outcome = davitWith({u"check"_s, u"--kubeconfig"_s, m_dir.filePath(u"embedded"_s),
        u"--plugin-dir"_s, kReplicator});
    QVERIFY2(outcome.exitCode == 0, qPrintable(outcome.out + outcome.errors));
    QVERIFY2(finding(outcome, u"configuration"_s).contains(u"taken because --kubeconfig names it"),
        qPrintable(outcome.out));
    QVERIFY2(finding(outcome, u"server"_s)
                 .startsWith(u"ok: http://127.0.0.1:%1, Kubernetes v1.37"_s.arg(m_embedded.port())),
        qPrintable(outcome.out));
    QCOMPARE(finding(outcome, u"identity"_s),
        u"ok: the server takes us for embedded of the groups system:masters, "
        "system:authenticated"_s);
    QCOMPARE(finding(outcome, u"replicator"_s), u"ok: has all of its 17 rights"_s);
    QVERIFY2(
        outcome.out.endsWith(u"\n\nDavit can work with this cluster.\n"), qPrintable(outcome.out));
    QCOMPARE(outcome.errors, QString());
    QCOMPARE(m_embedded.countRequests("POST", "selfsubjectaccessreviews"), 17);
}

// NOLINTNEXTLINE(readability-function-size): a table
void tst_Check::troubles_data()
{
    QTest::addColumn<Trouble>("trouble");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QString>("topic");
    QTest::addColumn<QString>("text"); // its beginning; PORT stands for the server's
    const auto row = [](const char *name, const Trouble &trouble, int exitCode, const char *topic,
                         const char *text) {
        QTest::newRow(name) << trouble << exitCode << QString::fromLatin1(topic)
                            << QString::fromLatin1(text);
    };
    const auto with = [](auto change) {
        Trouble trouble;
        change(trouble);
        return trouble;
    };
    row("well", {}, 0, "identity", "ok: the server takes us for bob of the groups dev");
    row("its clock is behind", with([](Trouble &t) { t.date = "Mon, 30 Nov 2020 03:40:00 GMT"; }),
        0, "clock", "look: is ");
    row("the credential is refused", with([](Trouble &t) { t.versionStatus = 401; }), 4,
        "credential", "ok: a token\nFAIL: https://127.0.0.1:");
    row("no version", with([](Trouble &t) { t.versionStatus = 403; }), 0, "server",
        "look: https://127.0.0.1:PORT does not tell its version (403 Because: of User \"bob\"), "
        "which davit does not need; to see it, bind the ClusterRole system:public-info-viewer to "
        "this user");
    row("it is not well", with([](Trouble &t) { t.versionStatus = 503; }), 3, "server",
        "FAIL: https://127.0.0.1:");
    row("no API server", with([](Trouble &t) { t.versionStatus = 404; }), 2, "server",
        "FAIL: what answers at https://127.0.0.1:");
    row("anonymous", with([](Trouble &t) { t.user = "system:anonymous"; }), 4, "identity",
        "FAIL: the server takes us for nobody (system:anonymous); give the user in kubeconfig ");
    row("anonymous, who may not even ask", with([](Trouble &t) {
        t.user = "system:anonymous";
        t.identityStatus = 403;
    }),
        4, "identity", "FAIL: the server takes us for nobody (system:anonymous)");
    row("it may not ask who it is", with([](Trouble &t) { t.identityStatus = 403; }), 5, "identity",
        "FAIL: the server does not tell who we are: 403 Because: of User \"bob\"");
    row("not well when asked who we are", with([](Trouble &t) { t.identityStatus = 503; }), 3,
        "identity", "FAIL: https://127.0.0.1:");
    row("not well when asked for rights", with([](Trouble &t) { t.rightStatus = 500; }), 3,
        "plugins",
        "FAIL: the server does not say what this user may do: 500 Because: of User "
        "\"bob\"; look at its log");
    row("a server before 1.28", with([](Trouble &t) { t.identityStatus = 404; }), 0, "identity",
        "look: the server does not tell, Kubernetes 1.28 and later do");
    row("it may not ask for its rights", with([](Trouble &t) { t.rightStatus = 403; }), 5,
        "plugins", "FAIL: the server does not say what this user may do: 403 Because");
    row("a kind is not served", with([](Trouble &t) {
        t.coreStatus = 200;
        t.core = R"({"resources":[{"kind":"Secret"},{"kind":"Namespace"}]})";
    }),
        0, "replicator",
        "look: the cluster does not serve v1 ConfigMap; install its CustomResourceDefinition, "
        "until then davit waits for it\nok: has all of its 17 rights");
    row("a group is not served", with([](Trouble &t) { t.coreStatus = 404; }), 0, "replicator",
        "look: the cluster does not serve v1 ");
    row("it does not say what it serves", with([](Trouble &t) { t.coreStatus = 403; }), 0,
        "replicator", "ok: has all of its 17 rights");
    row("rights are missing", with([](Trouble &t) { t.denied = "events"; }), 5, "replicator",
        "FAIL: may not create, patch events in all namespaces; grant it (kubectl create "
        "clusterrole "
        "NAME --verb=create,patch --resource=events, then bind that to bob)");
}

void tst_Check::troubles()
{
    QFETCH(const Trouble, trouble);
    QFETCH(const int, exitCode);
    QFETCH(const QString, topic);
    QFETCH(QString, text);
    RawServer server([&](RawConnection &connection) { play(trouble, connection); }, serverTls());
    text.replace(u"PORT"_s, QString::number(server.port()));
    const QString path = kubeconfig("https://127.0.0.1:" + QByteArray::number(server.port()),
        "token: secret-of-bob", QStringLiteral(DAVIT_TEST_DATA "/cases/common-ca.pem"));
    const Outcome outcome
        = davitWith({u"check"_s, u"--kubeconfig"_s, path, u"--plugin-dir"_s, kReplicator});
    QVERIFY2(outcome.exitCode == exitCode, qPrintable(outcome.out + outcome.errors));
    QVERIFY2(finding(outcome, topic).startsWith(text), qPrintable(outcome.out));
    QVERIFY2(!outcome.out.contains(u"secret-of-bob"), qPrintable(outcome.out));
    QCOMPARE(outcome.out.contains(u"Davit can work with this cluster."), exitCode == 0);
    QCOMPARE(outcome.out.contains(u"exit code %1."_s.arg(exitCode)), exitCode != 0);
}

// M-9: without the watch of definitions davit works, and is slower to notice.
void tst_Check::installedKinds()
{
    Trouble trouble;
    trouble.denied = "customresourcedefinitions";
    RawServer server([&](RawConnection &connection) { play(trouble, connection); }, serverTls());
    const QString path = kubeconfig("https://127.0.0.1:" + QByteArray::number(server.port()),
        "token: t", QStringLiteral(DAVIT_TEST_DATA "/cases/common-ca.pem"));
    const QString plugin = QStringLiteral(DAVIT_BUILD_DIR "/tests/fixture-plugins/optionalkind.so");
    for (const QString &file : {plugin, kReplicator}) {
        const Outcome outcome
            = davitWith({u"check"_s, u"--kubeconfig"_s, path, u"--plugin-dir"_s, file});
        QVERIFY2(outcome.exitCode == 0, qPrintable(outcome.out + outcome.errors));
        QCOMPARE(outcome.out.contains(u"customresourcedefinitions"), file == plugin);
        if (file == plugin)
            QVERIFY2(
                finding(outcome, u"optional-kind"_s)
                    .contains(u"look: may not list, watch customresourcedefinitions of "
                              "apiextensions.k8s.io in all namespaces, so kinds that are "
                              "installed or changed later are noticed 10 s late; grant it ("_s),
                qPrintable(outcome.out));
    }
}

void tst_Check::noServer()
{
    const QString path = kubeconfig("https://127.0.0.1:1", "token: t");
    const Outcome outcome = davitWith({u"check"_s, u"--kubeconfig"_s, path});
    QVERIFY2(outcome.exitCode == 3, qPrintable(outcome.out));
    const QString text = finding(outcome, u"server"_s);
    QVERIFY2(text.startsWith(u"FAIL: GET https://127.0.0.1:1/version: "), qPrintable(text));
    QVERIFY2(text.endsWith(u"check that the server runs, its address in kubeconfig %1, context "
                           "\"c\", and firewalls between"_s.arg(path)),
        qPrintable(text));
}

void tst_Check::wrongCa()
{
    RawServer server([](RawConnection &connection) { play({}, connection); }, serverTls());
    const QString path = kubeconfig("https://127.0.0.1:" + QByteArray::number(server.port()),
        "token: t", QStringLiteral(DAVIT_TEST_DATA "/cases/B64-gen1.pem"));
    const Outcome outcome = davitWith({u"check"_s, u"--kubeconfig"_s, path});
    QVERIFY2(outcome.exitCode == 3, qPrintable(outcome.out));
    QVERIFY2(finding(outcome, u"server"_s).contains(u"check certificate-authority"),
        qPrintable(outcome.out));
}

// A token that is over is told also when there is no server that could refuse it.
void tst_Check::expired()
{
    const auto token = [](qint64 exp) {
        return "token: h." + ("{\"exp\":" + QByteArray::number(exp) + '}').toBase64() + ".s";
    };
    const Outcome over = davitWith(
        {u"check"_s, u"--kubeconfig"_s, kubeconfig("https://127.0.0.1:1", token(1600000000))});
    QVERIFY2(over.exitCode == 3, qPrintable(over.out));
    QVERIFY2(
        finding(over, u"token"_s)
            .contains(u" ago, at 2020-09-13T12:26:40Z; nobody renews a token that stands in the "
                      "kubeconfig"),
        qPrintable(over.out));
    const Outcome lasting = davitWith(
        {u"check"_s, u"--kubeconfig"_s, kubeconfig("https://127.0.0.1:1", token(4000000000))});
    QVERIFY2(finding(lasting, u"token"_s).startsWith(u"ok: good for "), qPrintable(lasting.out));
}

void tst_Check::configurations_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("sentence"); // "%1": the kubeconfig
    QTest::newRow("no such file") << QStringList{u"--kubeconfig"_s,
        u"/no/config"_s} << u"kubeconfig /no/config does not exist; correct --kubeconfig"_s;
    QTest::newRow("no such context")
        << QStringList{u"--kubeconfig"_s, u"%1"_s, u"--context=x"_s}
        << u"kubeconfig %1: context \"x\" does not exist; correct it: there "
           "is bad"_s;
    QTest::newRow("a broken one") << QStringList{u"--kubeconfig"_s, u"%1"_s, u"--context=bad"_s}
                                  << u"kubeconfig %1: user \"bad\": token is no text, put it in "
                                     "quotes"_s;
    QTest::newRow("none")
        << QStringList()
        << u"no cluster is configured: /nonexistent/.kube/config does not exist "
           "or names none, and this is no pod; name a kubeconfig with --kubeconfig "
           "or KUBECONFIG"_s;
}

void tst_Check::configurations()
{
    QFETCH(QStringList, arguments);
    QFETCH(const QString, sentence);
    const QString path = writeFile(m_dir, u"broken-kubeconfig"_s,
        "clusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\"}}]\n"
        "users: [{name: bad, user: {token: 12345678}}]\n"
        "contexts: [{name: bad, context: {cluster: c, user: bad}}]\n");
    arguments.replaceInStrings(u"%1"_s, path);
    const QString want = QString(sentence).replace(u"%1"_s, path);
    const Outcome check = davitWith(QStringList{u"check"_s} + arguments);
    QVERIFY2(check.exitCode == 2, qPrintable(check.out));
    QCOMPARE(finding(check, u"configuration"_s), u"FAIL: "_s + want);
    const Outcome get = davitWith(QStringList{u"get"_s, u"--raw=/version"_s} + arguments);
    QCOMPARE(get.exitCode, 2);
    QCOMPARE(get.errors, u"davit: "_s + want + u'\n');
    QCOMPARE(get.out, QString());
    QVERIFY(!check.out.contains(u"12345678"));
}

void tst_Check::brokenPlugin()
{
    const QStringList begin{u"check"_s, u"--kubeconfig"_s, m_dir.filePath(u"embedded"_s)};
    const Outcome broken
        = davitWith(begin + QStringList{u"--plugin-dir"_s, m_dir.filePath(u"broken"_s)});
    QVERIFY2(broken.exitCode == 2, qPrintable(broken.out));
    QVERIFY2(finding(broken, u"broken.so"_s)
                 .startsWith(u"FAIL: would not be loaded, and what it needs is not known: "_s
                     + m_dir.filePath(u"broken/broken.so"_s) + u": it is no Qt plugin ("_s),
        qPrintable(broken.out));
    QVERIFY2(!broken.out.contains(u"Davit can work with this cluster."), qPrintable(broken.out));
    // The others are looked at all the same.
    const Outcome both = davitWith(begin
        + QStringList{
            u"--plugin-dir"_s, m_dir.filePath(u"broken"_s), u"--plugin-dir"_s, kReplicator});
    QVERIFY2(both.exitCode == 2, qPrintable(both.out));
    QVERIFY2(finding(both, u"replicator"_s).startsWith(u"ok: "), qPrintable(both.out));
    const Outcome missing = davitWith(begin + QStringList{u"--plugin-dir"_s, u"/no/plugins"_s});
    QVERIFY2(missing.exitCode == 2, qPrintable(missing.out));
    const Outcome empty
        = davitWith(begin + QStringList{u"--plugin-dir"_s, m_dir.filePath(u"plugins"_s)});
    QVERIFY2(empty.exitCode == 0, qPrintable(empty.out));
    QVERIFY2(finding(empty, u"plugins"_s).startsWith(u"look: there are none in "),
        qPrintable(empty.out));
}

void tst_Check::get_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<int>("fault"); // a status that the server answers with; 0: none
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QString>("sentence"); // "%1": the server; empty: the body is printed
    QTest::newRow("a list") << u"/api/v1/namespaces?limit=1"_s << 0 << 0 << QString();
    QTest::newRow("plain text") << u"/healthz"_s << 0 << 0 << QString();
    QTest::newRow("nothing there")
        << u"/api/v1/nothing"_s << 0 << 1
        << u"GET %1/api/v1/nothing: 404 NotFound: the server could not find the requested resource"_s;
    QTest::newRow("refused") << u"/version"_s << 401 << 4 << u"GET %1/version: 401 Unauthorized"_s;
    QTest::newRow("forbidden") << u"/version"_s << 403 << 5 << u"GET %1/version: 403 Forbidden"_s;
    QTest::newRow("no path") << u"version"_s << 0 << 2
                             << u"--raw \"version\" is no path; write it as /api/v1/namespaces, "
                                "percent-encoded where it must be"_s;
    QTest::newRow("a path with a header in it")
        << u"/version HTTP/1.1\r\nX: y"_s << 0 << 2
        << u"--raw \"/version HTTP/1.1\r\nX: y\" is no path; write it as /api/v1/namespaces, "
           "percent-encoded where it must be"_s;
    for (const char *const path : {"/a%zz", "/a|b", "/a/../b", "//a", "/a/./b", "/a/%2e%2e/b",
             "/a/%2E/b", "/a/.%2e", "/a/..%2fb", "/a/b%2f../c"})
        QTest::newRow(path) << QString::fromLatin1(path) << 0 << 2
                            << u"--raw \"PATH\" is no path; write it as /api/v1/namespaces, "
                               "percent-encoded where it must be"_s.replace(
                                   u"PATH"_s, QString::fromLatin1(path));
}

void tst_Check::get()
{
    QFETCH(const QString, path);
    QFETCH(const int, fault);
    QFETCH(const int, exitCode);
    QFETCH(QString, sentence);
    if (fault != 0) {
        testing::ApiServerFault trouble;
        trouble.pathContains = path.toUtf8();
        trouble.httpStatus = fault;
        m_embedded.addFault(trouble);
    }
    const Outcome outcome
        = davitWith({u"get"_s, u"--raw"_s, path, u"--kubeconfig"_s, m_dir.filePath(u"embedded"_s)});
    m_embedded.clearFaults();
    QVERIFY2(outcome.exitCode == exitCode, qPrintable(outcome.out + outcome.errors));
    if (!sentence.isEmpty()) {
        QVERIFY2(
            outcome.errors.startsWith(u"davit: "_s + sentence.replace(u"%1"_s, m_embedded.url())),
            qPrintable(outcome.errors));
        QCOMPARE(outcome.out.contains(u"\"Failure\""), exitCode != 2);
        return;
    }
    QCOMPARE(outcome.out, QString::fromUtf8(m_embedded.request("GET", path.toUtf8()).body));
    QCOMPARE(outcome.errors, QString());
}

// Two service accounts, one with the rights of the replicator, and their tokens (TokenRequest).
void tst_Check::prepareReal()
{
    const QString path = qEnvironmentVariable("DAVIT_REAL_KUBECONFIG");
    m_real = QFileInfo(path).absolutePath();
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    const qsizetype begin = text.indexOf("https://");
    m_realServer = text.mid(begin, text.indexOf('"', begin) - begin);
    ApiDriver api(path);
    const auto object = [](const char *json) { return QJsonDocument::fromJson(json).object(); };
    const auto made = [&](const char *target, const char *json) {
        const ApiDriver::Answer answer
            = api.call("POST", QString::fromLatin1(target), object(json));
        QVERIFY2(answer.httpStatus == 201, qPrintable(answer.text));
    };
    const auto tokenOf = [&](const char *name) {
        const ApiDriver::Answer answer = api.call("POST",
            u"/api/v1/namespaces/default/serviceaccounts/%1/token"_s.arg(QLatin1String(name)),
            object(R"({"spec":{"expirationSeconds":3600}})"));
        return answer.body["status"_L1]["token"_L1].toString().toLatin1();
    };
    made("/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"powerful"}})");
    made("/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"powerless"}})");
    made("/apis/rbac.authorization.k8s.io/v1/clusterroles",
        R"({"metadata":{"name":"check"},"rules":[{"apiGroups":[""],"verbs":["*"],
            "resources":["secrets","configmaps","namespaces","events"]}]})");
    made("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        R"({"metadata":{"name":"check"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
            "kind":"ClusterRole","name":"check"},"subjects":[{"kind":"ServiceAccount",
            "name":"powerful","namespace":"default"}]})");
    m_powerfulToken = tokenOf("powerful");
    m_powerlessToken = tokenOf("powerless");
    QVERIFY(!m_powerfulToken.isEmpty() && !m_powerlessToken.isEmpty());
    writeFile(m_dir, u"token"_s, m_powerfulToken);
    writeFile(m_dir, u"plugin.sh"_s,
        "#!/bin/sh\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":"
        "\"ExecCredential\",\"status\":{\"token\":\""
            + m_powerfulToken + "\",\"expirationTimestamp\":\"2040-01-01T00:00:00Z\"}}'\n",
        true);
}

// NOLINTNEXTLINE(readability-function-size): a table
void tst_Check::realUsers_data()
{
    QTest::addColumn<QByteArray>("user"); // ADMIN, POWERFUL, POWERLESS stand for what they have
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QString>("topic");
    QTest::addColumn<QString>("text"); // its beginning
    const auto row = [](const char *name, const QByteArray &user, int exitCode, const char *topic,
                         const char *text) {
        QTest::newRow(name) << user << exitCode << QString::fromLatin1(topic)
                            << QString::fromLatin1(text);
    };
    const char *const powerful
        = "ok: the server takes us for system:serviceaccount:default:powerful of the groups ";
    row("client certificate", "ADMIN", 0, "identity",
        "ok: the server takes us for admin of the groups system:masters, system:authenticated");
    row("how long the certificate lasts", "ADMIN", 0, "client cert", "ok: good for 36");
    row("bearer token of a TokenRequest", "token: POWERFUL", 0, "identity", powerful);
    row("how long the token lasts", "token: POWERFUL", 0, "token", "ok: good for ");
    row("token file", "tokenFile: token", 0, "identity", powerful);
    row("exec plugin",
        "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin.sh, "
        "interactiveMode: Never}",
        0, "identity", powerful);
    row("how long the exec plugin's credential lasts",
        "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin.sh, "
        "interactiveMode: Never}",
        0, "token", "ok: good for ");
    row("C-48 impersonation", "ADMIN, as: jane, as-groups: [a], as-uid: u7", 5, "identity",
        "ok: the server takes us for jane of the groups a, system:authenticated, as the "
        "kubeconfig asks (as)");
    row("C-48 impersonation of who may all", "ADMIN, as: jane, as-groups: [system:masters]", 0,
        "replicator", "ok: has all of its 17 rights");
    row("C-48 impersonation that is not allowed", "token: POWERLESS, as: jane", 5, "identity",
        "FAIL: the server does not tell who we are: 403 Forbidden: ");
    row("a user without rights", "token: POWERLESS", 5, "replicator",
        "FAIL: may not create, delete, get, list, patch, watch configmaps in all namespaces; grant "
        "it (kubectl create clusterrole NAME --verb=create,delete,get,list,patch,watch "
        "--resource=configmaps, then bind that to system:serviceaccount:default:powerless)\n");
    row("a bad token", "token: nobody", 4, "credential", "ok: a token\nFAIL: https://127.0.0.1:");
    row("basic authentication, which kube-apiserver has not", "username: a, password: b", 4,
        "identity", "FAIL: the server takes us for nobody");
    row("no credential", "", 4, "identity", "FAIL: the server takes us for nobody");
}

void tst_Check::realUsers()
{
    QVERIFY2(!m_real.isEmpty(), "set DAVIT_REAL_KUBECONFIG");
    QFETCH(QByteArray, user);
    QFETCH(const int, exitCode);
    QFETCH(const QString, topic);
    QFETCH(const QString, text);
    const QByteArray folder = m_real.toUtf8();
    user.replace("POWERFUL", m_powerfulToken);
    user.replace("POWERLESS", m_powerlessToken);
    user.replace("ADMIN",
        "client-certificate: \"" + folder + "/admin.crt\", client-key: \"" + folder
            + "/admin.key\"");
    const QString path = kubeconfig(m_realServer, user, m_real + u"/ca.crt"_s);
    const Outcome outcome
        = davitWith({u"check"_s, u"--kubeconfig"_s, path, u"--plugin-dir"_s, kReplicator});
    QVERIFY2(outcome.exitCode == exitCode, qPrintable(outcome.out + outcome.errors));
    QVERIFY2(finding(outcome, topic).startsWith(text), qPrintable(outcome.out));
    QVERIFY2(!outcome.out.contains(QString::fromLatin1(m_powerfulToken)), qPrintable(outcome.out));
}

void tst_Check::realRaw()
{
    QVERIFY2(!m_real.isEmpty(), "set DAVIT_REAL_KUBECONFIG");
    const auto get = [&](const QByteArray &token) {
        return davitWith({u"get"_s, u"--raw"_s, u"/api/v1/namespaces/default"_s, u"--kubeconfig"_s,
            kubeconfig(m_realServer, "token: " + token, m_real + u"/ca.crt"_s)});
    };
    const Outcome good = get(m_powerfulToken);
    QCOMPARE(good.exitCode, 0);
    QCOMPARE(QJsonDocument::fromJson(good.out.toUtf8())["metadata"_L1]["name"_L1].toString(),
        u"default"_s);
    const Outcome forbidden = get(m_powerlessToken);
    QCOMPARE(forbidden.exitCode, 5);
    QVERIFY2(forbidden.errors.contains(u"403 Forbidden: namespaces \"default\" is forbidden: User "
                                       "\"system:serviceaccount:default:powerless\" cannot get"),
        qPrintable(forbidden.errors));
    QCOMPARE(get("nobody").exitCode, 4);
}

// Several values of one key where Qt can send them, and a key that must be escaped, as the server
// reads them.
void tst_Check::realImpersonationExtra()
{
    QVERIFY2(!m_real.isEmpty(), "set DAVIT_REAL_KUBECONFIG");
    const QByteArray folder = m_real.toUtf8();
    const bool canRepeat = transport::canRepeatHeaders();
    ApiDriver api(kubeconfig(m_realServer,
        "client-certificate: \"" + folder + "/admin.crt\", client-key: \"" + folder
            + "/admin.key\", as: jane, as-uid: u7, as-groups: [\"a, b\"" + (canRepeat ? ", c" : "")
            + "], as-user-extra: {acme.com/Project: [x" + (canRepeat ? ", z" : "") + "]}",
        m_real + u"/ca.crt"_s));
    const ApiDriver::Answer answer = api.call("POST",
        u"/apis/authentication.k8s.io/v1/selfsubjectreviews"_s,
        {{u"apiVersion"_s, u"authentication.k8s.io/v1"_s}, {u"kind"_s, u"SelfSubjectReview"_s}});
    QVERIFY2(answer.httpStatus == 201, qPrintable(answer.text));
    const QJsonValue info = answer.body["status"_L1]["userInfo"_L1];
    QCOMPARE(info["username"_L1].toString(), u"jane"_s);
    QCOMPARE(info["uid"_L1].toString(), u"u7"_s);
    QJsonArray groups{u"a, b"_s, u"c"_s, u"system:authenticated"_s};
    QJsonArray extra{u"x"_s, u"z"_s};
    if (!canRepeat) {
        groups.removeAt(1);
        extra.removeLast();
    }
    QCOMPARE(info["groups"_L1].toArray(), groups);
    QCOMPARE(info["extra"_L1]["acme.com/project"_L1].toArray(), extra);
}

// Without a real kube-apiserver the rows that ask one are left out; conformance runs all.
int main(int argc, char **argv)
{
    QCoreApplication app(argc, argv);
    tst_Check test;
    QStringList arguments = QCoreApplication::arguments();
    const QMetaObject &meta = *test.metaObject();
    const bool isReal = !qEnvironmentVariableIsEmpty("DAVIT_REAL_KUBECONFIG");
    for (int i = meta.methodOffset(); !isReal && i < meta.methodCount(); ++i) {
        const QByteArray name = meta.method(i).name();
        if (!name.startsWith("real") && !name.endsWith("_data") && !name.endsWith("TestCase"))
            arguments.append(QString::fromLatin1(name));
    }
    return QTest::qExec(&test, arguments);
}
#include "tst_check.moc"
