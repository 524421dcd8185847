#include "kubeconfigrig.h"
#include "observability/redaction.h"
#include "transport/httpheaders.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

using namespace davit;
using namespace davit::transport;
using namespace kubeconfigrig;
using namespace Qt::Literals::StringLiterals;

class tst_Kubeconfig : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void mergedFiles();
    void mergedFilesFromAnotherFolder();
    void ipv6Server();
    void keyKinds_data();
    void keyKinds();
    void faults_data();
    void faults();
    void accepted_data();
    void accepted();
    void order_data();
    void order();
    void allFaultsInOneMessage();
    void basic_data();
    void basic();
    void impersonation();
    void firstEntryWins_data();
    void firstEntryWins();
    void proxyOfTheEnvironment_data();
    void proxyOfTheEnvironment();
};

// B08, seen from the root folder.
void tst_Kubeconfig::mergedFiles()
{
    const QString list = data("B08/one/config.yaml") + u':' + data("B08/missing.yaml") + u':'
        + data("B08/two/config.yaml");
    const auto loaded = loadClusterConfig({}, environmentOf({{"KUBECONFIG", list}}));
    QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
    const ClusterConfig &config = loaded.value();
    QCOMPARE(config.contextName, QStringLiteral("team/prod@eu-west"));
    QCOMPARE(config.server, QUrl(QStringLiteral("https://127.0.0.1:28643")));
    QCOMPARE(config.caPem, contents(data("B08/one/pki/ca.pem")));
    QCOMPARE(config.isInsecure, false);
    QCOMPARE(config.namespaceName, QStringLiteral("apps"));
    QCOMPARE(config.userName, QStringLiteral("alice"));
    QCOMPARE(config.token, "tok-from-two"_ba);
    QCOMPARE(config.tokenFile, QDir::cleanPath(data("B08/two/secrets/token")));
}

void tst_Kubeconfig::mergedFilesFromAnotherFolder()
{
    const QString before = QDir::currentPath();
    QVERIFY(QDir::setCurrent(data("B08")));
    const auto loaded = loadClusterConfig(
        {}, environmentOf({{"KUBECONFIG", QStringLiteral("one/config.yaml:two/config.yaml")}}));
    QDir::setCurrent(before);
    QVERIFY(loaded.isOk());
    QCOMPARE(loaded.value().token, "tok-from-two"_ba);
}

void tst_Kubeconfig::ipv6Server()
{
    const auto loaded = loadClusterConfig({data("B04-kubeconfig.yaml"), {}}, environmentOf({}));
    QVERIFY(loaded.isOk());
    QCOMPARE(loaded.value().server.toString(), QStringLiteral("https://[::1]:28643"));
    QCOMPARE(loaded.value().server.host(), QStringLiteral("::1"));
}

void tst_Kubeconfig::keyKinds_data()
{
    QTest::addColumn<QString>("context");
    for (const char *name : {"ec-sec1", "ec-pkcs8", "rsa-pkcs1", "rsa-pkcs8"})
        QTest::addRow("B10 %s", name) << QString::fromLatin1(name);
}

void tst_Kubeconfig::keyKinds()
{
    QFETCH(const QString, context);
    const auto loaded
        = loadClusterConfig({data("B10-kubeconfig.yaml"), context}, environmentOf({}));
    QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
    QCOMPARE(loaded.value().userName, context);
    QVERIFY(loaded.value().clientKeyPem.contains("PRIVATE KEY"));
}

// NOLINTNEXTLINE(readability-function-size): a table
void tst_Kubeconfig::faults_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<ErrorCode>("code");
    QTest::addColumn<QString>("sentence"); // after "kubeconfig <path>: "
    const auto row = [&](const char *name, const QByteArray &text, const char *sentence,
                         ErrorCode code = ErrorCode::InvalidConfiguration) {
        QTest::newRow(name) << text << code << QString::fromLatin1(sentence);
    };

    row("C-54 not YAML", "a: [", "line 1: end of sequence flow not found; mend it there");
    row("no text", QByteArray("\xff\xfe\0", 3), "it is not UTF-8 text, save it as UTF-8");
    row("not a map", "- a", "it is no map of clusters, users and contexts; name a kubeconfig");
    row("another kind", "kind: Pod", "its kind is Pod, not Config; name a kubeconfig");
    row("C-57 two of one name", "users: [{name: a}, {name: a}]",
        "\"users\" has two entries named \"a\"; rename or remove one");
    row("a list that is none", "users: {a: b}",
        "\"users\" is no list; write its entries as - {name: ...}");
    row("an entry that is no map", "users: [{name: a}, b]",
        "users[1] is no map; write it as {name: ..., user: {...}}");
    row("no name", "clusters: [{cluster: {}}]", "clusters[0] has no name; add one");
    row("a name that is a number", "users: [{name: a}, {name: 5}]",
        "users[1]: name is no text; put it in quotes");
    row("a user that is no map", "users: [{name: a}, {name: b, user: token}]",
        "users[1], \"b\": user is no map; write it as user: {...}");
    row("no current-context, no contexts", "clusters: [{name: a}]",
        "no current-context is set; choose one with --context, or with kubectl config "
        "use-context: there is no context at all");
    row("no current-context", "contexts: [{name: b}, {name: a}]",
        "no current-context is set; choose one with --context, or with kubectl config "
        "use-context: there are a, b");
    row("unknown context", "current-context: x\ncontexts: [{name: a}]",
        "the current-context \"x\" does not exist; correct it: there is a");
    row("unknown context of many",
        "current-context: x\ncontexts: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}, "
        "{name: f}, {name: g}, {name: h}, {name: i}, {name: j}]",
        "the current-context \"x\" does not exist; correct it: there are a, b, c, d, e, f, g, h "
        "and 2 "
        "more");
    row("unknown user", config(kServer, "token: t", "cluster: c, user: bob"),
        "context \"c\": its user \"bob\" does not exist, correct it: there is u");
    row("no cluster named", config(kServer, "token: t", "user: u"),
        "context \"c\": it names no cluster, add it: there is c");
    row("namespace", config(kServer, "token: t", "cluster: c, user: u, namespace: A_b"),
        "context \"c\": namespace \"A_b\" is no valid name, it is lower-case letters, digits and "
        "\"-\"");
    row("no server", config("", "token: t"),
        "cluster \"c\": server is missing, add it, like https://host:6443");
    row("NUL in a path", config(kServer + R"(, certificate-authority: "/etc/hostname\0x")", ""),
        "cluster \"c\": certificate-authority holds a NUL character, remove it");
    row("a server that is a number", config("server: 5", "token: t"),
        "cluster \"c\": server is no text, put it in quotes");
    row("current-context is a list", "current-context: [a]",
        "current-context is no text, put it in quotes");
    row("exec is a list", config(kServer, "exec: []"),
        "user \"u\": exec is no map of apiVersion, command and more");
    row("server with a wrong scheme", config("server: \"ftp://h\"", ""),
        "cluster \"c\": server \"ftp://h\" is no address like https://host:6443");
    row("server with a password", config("server: \"https://u:hunter2@h:1\"", ""),
        "cluster \"c\": server holds a user name, put it into the user's username and password");
    row("no server, with a password", config("server: \"ftp://u:hunter2@h:1\"", ""),
        "cluster \"c\": server is no address like https://host:6443");
    row("B04 bare IPv6", config("server: \"https://fd00::1:6443\"", ""),
        "cluster \"c\": server \"https://fd00::1:6443\" is no address like https://host:6443");
    row("CA data and file",
        config(kServer + ", certificate-authority-data: YQ==, certificate-authority: x", ""),
        "cluster \"c\": certificate-authority-data and certificate-authority exclude each other, "
        "remove one");
    row("CA file missing", config(kServer + ", certificate-authority: /no/ca", ""),
        "cluster \"c\": certificate-authority /no/ca cannot be read: No such file or directory, "
        "correct "
        "the path or the file");
    row("CA no base64", config(kServer + ", certificate-authority-data: \"*\"", ""),
        "cluster \"c\": certificate-authority-data is no base64, write what base64 -w0 FILE "
        "prints, or "
        "name the file with certificate-authority");
    row("C-38 CA and insecure",
        config(kServer + ", insecure-skip-tls-verify: true, certificate-authority: /dev/null", ""),
        "cluster \"c\": a certificate authority and insecure-skip-tls-verify exclude each other, "
        "remove one");
    row("C-38 certificate without key", config(kServer, "client-certificate-data: YQ=="),
        "user \"u\": the client certificate has no client-key, add it");
    row("C-38 key without certificate", config(kServer, "client-key-data: YQ=="),
        "user \"u\": the client key has no client-certificate, add it");
    row("proxy", config(kServer + ", proxy-url: \"ftp://p:1\"", ""),
        "cluster \"c\": proxy-url is no address like http://host:3128, https://host:3128 or "
        "socks5://host:1080");
    row("flag that is none", config(kServer + ", insecure-skip-tls-verify: \"yes\"", ""),
        "cluster \"c\": insecure-skip-tls-verify is neither true nor false, write one of them "
        "without quotes");
    row("token as a number", config(kServer, "token: 12"),
        "user \"u\": token is no text, put it in quotes");
    row("token and basic", config(kServer, "token: t, username: a"),
        "user \"u\": token and basic authentication exclude each other, remove one");
    row("exec and auth-provider",
        config(kServer,
            "auth-provider: {name: x}, exec: {"
            "apiVersion: client.authentication.k8s.io/v1beta1, command: x}"),
        "user \"u\": exec and auth-provider exclude each other, remove one");
    row("token file missing", config(kServer, "tokenFile: /no/token"),
        "user \"u\": tokenFile /no/token cannot be read: No such file or directory, correct the "
        "path or "
        "the file");
    row("token file that is empty", config(kServer, "tokenFile: /dev/null"),
        "user \"u\": tokenFile /dev/null is empty, write a token into it or correct the path");
    row("token with a header in it", config(kServer, R"(token: "a\r\nX-Remote-User: root")"),
        "user \"u\": token holds control characters, a token is one line");
    row("token file of several lines", config(kServer, "tokenFile: /proc/self/status"),
        "user \"u\": tokenFile /proc/self/status holds control characters, a token is one line");
    row("CA that is a directory", config(kServer + ", certificate-authority: /proc", "token: t"),
        "cluster \"c\": certificate-authority /proc cannot be read: it is a directory, correct the "
        "path "
        "or the file");
    row("CA that is a device", config(kServer + ", certificate-authority: /dev/zero", "token: t"),
        "cluster \"c\": certificate-authority /dev/zero cannot be read: it is a device, correct "
        "the path "
        "or the file");
    row("certificate and key missing",
        config(kServer, "client-certificate: /no/cert, client-key: /no/key"),
        "user \"u\": client-certificate /no/cert cannot be read: No such file or directory, "
        "correct the "
        "path or the file; client-key /no/key cannot be read: No such file or directory, correct "
        "the path or the file");
    row("certificate data and file",
        config(
            kServer, "client-certificate-data: YQ==, client-certificate: x, client-key-data: YQ=="),
        "user \"u\": client-certificate-data and client-certificate exclude each other, remove "
        "one");
    row("auth-provider", config(kServer, "auth-provider: {name: gcp}"),
        "user \"u\": auth-provider is not supported, use an exec plugin, a token or a client "
        "certificate",
        ErrorCode::Unsupported);
    row("C-38 token file and basic", config(kServer, "tokenFile: token, password: hunter2"),
        "user \"u\": token and basic authentication exclude each other, remove one");
    row("basic without a name", config(kServer, "password: hunter2"),
        "user \"u\": username is missing beside password, add it");
    row("basic with a colon", config(kServer, "username: \"a:b\", password: hunter2"),
        "user \"u\": username holds a colon, basic authentication cannot send it, use a token");
    row("C-48 groups without user", config(kServer, "token: t, as-groups: [a]"),
        "user \"u\": as-uid, as-groups and as-user-extra mean nothing without as, add it or remove "
        "them");
    row("C-48 extra without user", config(kServer, "token: t, as-user-extra: {scope: [a]}"),
        "user \"u\": as-uid, as-groups and as-user-extra mean nothing without as, add it or remove "
        "them");
    row("groups that are no list", config(kServer, "token: t, as: a, as-groups: admins"),
        "user \"u\": as-groups is no list of texts, write it as [\"a\", \"b\"]");
    row("extra that is no map", config(kServer, "token: t, as: a, as-user-extra: [x]"),
        "user \"u\": as-user-extra is no map, write it as {scopes: [view]}");
    row("extra with a value that is no list",
        config(kServer, "token: t, as: a, as-user-extra: {scope: view}"),
        "user \"u\": as-user-extra: a value is no list of texts, write it as {scopes: [view]}");
    row("a group with a header in it",
        config(kServer, R"(token: t, as: a, as-groups: ["b\r\nX-Remote-User: root"])"),
        "user \"u\": as: Group holds control characters, remove them");
}

void tst_Kubeconfig::faults()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, sentence);
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("config"));
    write(path, text);
    write(folder.filePath(QStringLiteral("token")), "from-file");
    const auto loaded = loadClusterConfig({path, {}}, environmentOf({}));
    QVERIFY(!loaded.isOk());
    QTEST(loaded.error().code(), "code");
    for (const char *secret : {"hunter2", "secret@"})
        QVERIFY(!loaded.error().message().contains(QLatin1String(secret)));
    const QString message = loaded.error().message();
    QCOMPARE(message, QStringLiteral("kubeconfig %1: ").arg(path) + sentence);
    QCOMPARE(davit::observability::redacted(message), message); // as it is shown
}

void tst_Kubeconfig::accepted_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("server");
    QTest::addColumn<QByteArray>("token");
    QTest::newRow("token") << config(kServer, "token: t") << "https://h:1"
                           << "t"_ba;
    QTest::newRow("C-60 no scheme, insecure")
        << config("server: \"h:1\", insecure-skip-tls-verify: true", "token: t") << "https://h:1"
        << "t"_ba;
    QTest::newRow("C-60 no scheme, no TLS settings")
        << config("server: \"h:1\"", "") << "http://h:1"
        << ""_ba;
    QTest::newRow("C-59 no credentials without TLS")
        << config("server: \"http://h:1\"", "token: t") << "http://h:1"
        << ""_ba;
    QTest::newRow("C-59 token beside an unreadable tokenFile")
        << config(kServer, "token: t, tokenFile: /no/token") << "https://h:1"
        << "t"_ba;
    QTest::newRow("members that nobody knows, disable-compression")
        << "apiVersion: v1\nkind: Config\nnews: [1]\n"
            + config(kServer + ", disable-compression: true, x: {y: 1}", "token: t, z: 1",
                "cluster: c, user: u, w: 1")
        << "https://h:1"
        << "t"_ba;
    QTest::newRow("a broken entry that is not chosen")
        << config(kServer, "token: t") + "preferences: {}\n"
        << "https://h:1"
        << "t"_ba;
    QTest::newRow("JSON")
        << R"({"current-context":"c","clusters":[{"name":"c","cluster":{"server":"https://h:1"}}],
              "users":[{"name":"u","user":{"token":"t"}},{"name":"broken","user":{"token":1}}],
              "contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]})"_ba
        << "https://h:1"
        << "t"_ba;
}

void tst_Kubeconfig::accepted()
{
    QFETCH(const QByteArray, text);
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("config"));
    write(path, text);
    const auto loaded = loadClusterConfig({path, {}}, environmentOf({}));
    QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
    QTEST(loaded.value().server.toString(), "server");
    QTEST(loaded.value().token, "token");
    QCOMPARE(loaded.value().namespaceName, QStringLiteral("default"));
}

// C-63: flag, KUBECONFIG, in-cluster, ~/.kube/config.
void tst_Kubeconfig::order_data()
{
    QTest::addColumn<QString>("flag");
    QTest::addColumn<QString>("variable");
    QTest::addColumn<bool>("isInPod");
    QTest::addColumn<bool>("hasHome");
    QTest::addColumn<QString>("host"); // empty: an error
    QTest::addColumn<QString>("choice");
    QTest::newRow("flag first") << "flag"
                                << "variable" << true << true << "flag.example"
                                << "--kubeconfig names it";
    QTest::newRow("KUBECONFIG next") << ""
                                     << "variable" << true << true << "variable.example"
                                     << "KUBECONFIG names it";
    QTest::newRow("then the pod") << ""
                                  << "" << true << true << "10.0.0.1"
                                  << "this is a pod and neither --kubeconfig nor KUBECONFIG is set";
    QTest::newRow("then home") << ""
                               << "" << false << true << "home.example"
                               << "neither --kubeconfig nor KUBECONFIG is set and this is no pod";
    QTest::newRow("nothing") << ""
                             << "" << false << false << ""
                             << "";
    QTest::newRow("a flag that names nothing is no reason to look on")
        << "missing"
        << "variable" << true << true << ""
        << "";
    QTest::newRow("B01 a fault is no reason to look on") << ""
                                                         << "broken" << true << true << ""
                                                         << "";
    QTest::newRow("C-53 all of KUBECONFIG missing, no pod") << ""
                                                            << "missing" << false << true << ""
                                                            << "";
    QTest::newRow("C-61 all of KUBECONFIG missing, in a pod")
        << ""
        << "missing" << true << true << "10.0.0.1"
        << "this is a pod and the files of KUBECONFIG name no cluster";
    QTest::newRow("C-58 empty file, no pod") << ""
                                             << "empty" << false << true << ""
                                             << "";
}

void tst_Kubeconfig::order()
{
    QFETCH(const QString, flag);
    QFETCH(const QString, variable);
    QFETCH(const bool, isInPod);
    QFETCH(const bool, hasHome);
    QFETCH(const QString, host);
    QTemporaryDir folder;
    for (const char *name : {"flag", "variable"}) {
        write(folder.filePath(QLatin1String(name)),
            config("server: \"https://" + QByteArray(name) + ".example\"", "token: t"));
    }
    write(folder.filePath(QStringLiteral("broken")), "current-context: none\n");
    write(folder.filePath(QStringLiteral("empty")), "");
    write(folder.filePath(QStringLiteral("token")), "pod-token\n");
    QVERIFY(QDir(folder.path()).mkpath(QStringLiteral("home/.kube")));
    if (hasHome) {
        write(folder.filePath(QStringLiteral("home/.kube/config")),
            config("server: \"https://home.example\"", "token: t"));
    }
    QHash<QByteArray, QString> variables;
    if (!variable.isEmpty())
        variables.insert("KUBECONFIG", folder.filePath(variable));
    if (isInPod) {
        variables.insert("KUBERNETES_SERVICE_HOST", QStringLiteral("10.0.0.1"));
        variables.insert("KUBERNETES_SERVICE_PORT", QStringLiteral("443"));
    }
    LoadEnvironment environment = environmentOf(variables);
    environment.homeFolder = folder.filePath(QStringLiteral("home"));
    environment.serviceAccountFolder = folder.path();
    const auto loaded
        = loadClusterConfig({flag.isEmpty() ? QString() : folder.filePath(flag), {}}, environment);
    QCOMPARE(loaded.isOk(), !host.isEmpty());
    if (loaded.isOk()) {
        QCOMPARE(loaded.value().server.host(), host);
        QTEST(loaded.value().choice, "choice");
        const QStringList warnings = loaded.value().warnings.filter(QStringLiteral("KUBECONFIG"));
        if (variable == QLatin1StringView("missing")) // C-53
            QCOMPARE(warnings,
                QStringList{QStringLiteral("KUBECONFIG names %1, and none of that exists: the "
                                           "in-cluster configuration is used")
                                .arg(folder.filePath(variable))});
        else
            QCOMPARE(warnings, QStringList());
    } else
        QCOMPARE(loaded.error().code(), ErrorCode::InvalidConfiguration);
}

void tst_Kubeconfig::allFaultsInOneMessage()
{
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("config"));
    write(path,
        config("", "client-certificate-data: YQ==, client-key-data: \"*\"",
            "cluster: c, user: u, namespace: A"));
    const auto loaded = loadClusterConfig({path, {}}, environmentOf({}));
    QVERIFY(!loaded.isOk());
    QCOMPARE(loaded.error().message().split(QStringLiteral("; ")).size(), 3);
}

void tst_Kubeconfig::basic_data()
{
    QTest::addColumn<QByteArray>("server");
    QTest::addColumn<QString>("user");
    QTest::newRow("over TLS") << kServer << "alice";
    QTest::newRow("C-59 not without it") << "server: \"http://h:1\""_ba
                                         << "";
}

// C-73: what stands in the file goes before an exec plugin.
void tst_Kubeconfig::basic()
{
    QFETCH(const QByteArray, server);
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("config"));
    write(path,
        config(server,
            "username: alice, password: \"p: w\", exec: {apiVersion: "
            "client.authentication.k8s.io/v1beta1, command: x}"));
    const auto loaded = loadClusterConfig({path, {}}, environmentOf({}));
    QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
    QTEST(loaded.value().basicUser, "user");
    QCOMPARE(loaded.value().basicPassword, loaded.value().basicUser.isEmpty() ? ""_ba : "p: w"_ba);
    QVERIFY(!loaded.value().exec);
}

// C-48
void tst_Kubeconfig::impersonation()
{
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("config"));
    write(path,
        config(kServer,
            "token: t, as: jane, as-uid: \"7\", as-groups: [a, b], as-user-extra: "
            "{Scope/x: [view, edit], none: []}"));
    const auto loaded = loadClusterConfig({path, {}}, environmentOf({}));
    if (!canRepeatHeaders()) { // Qt 6.8: what cannot be sent is refused
        QVERIFY(!loaded.isOk());
        const QString fault = loaded.error().message();
        QVERIFY2(fault.contains(u"as: Group has 2 values"_s), qPrintable(fault));
        QVERIFY2(fault.contains(u"as: Extra-scope%2Fx has 2 values"_s), qPrintable(fault));
        return;
    }
    QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
    const Impersonation &as = loaded.value().impersonation;
    QCOMPARE(as.user, QStringLiteral("jane"));
    QCOMPARE(as.uid, QStringLiteral("7"));
    QCOMPARE(as.groups, QStringList({QStringLiteral("a"), QStringLiteral("b")}));
    QCOMPARE(as.extra.size(), 2);
    QCOMPARE(as.extra[0], std::pair(u"Scope/x"_s, QStringList({u"view"_s, u"edit"_s})));
}

void tst_Kubeconfig::firstEntryWins_data()
{
    QTest::addColumn<QStringList>("order");
    QTest::addColumn<QStringList>("want"); // server, CA file, name for TLS, token, user
    QTest::newRow("T92 C-55 only the second file names a CA") << QStringList{u"one"_s, u"two"_s,
        u"one"_s} << QStringList{u"https://one:1"_s, QString(), QString(), u"t1"_s, QString()};
    QTest::newRow("C-55 the other way round")
        << QStringList{u"two"_s, u"one"_s}
        << QStringList{u"https://two:1"_s, data("common-ca.pem"), u"two"_s, QString(), u"a"_s};
}

// An entry is taken whole, from the first file that has it.
void tst_Kubeconfig::firstEntryWins()
{
    QFETCH(const QStringList, order);
    QTemporaryDir folder;
    write(folder.filePath(u"one"_s),
        "clusters: [{name: c, cluster: {server: \"https://one:1\"}}]\n"
        "users: [{name: u, user: {token: t1}}]\n");
    write(folder.filePath(u"two"_s),
        config("server: \"https://two:1\", certificate-authority: \""
                + data("common-ca.pem").toUtf8() + "\", tls-server-name: two",
            "username: a, password: b"));
    QStringList files;
    for (const QString &name : order)
        files += folder.filePath(name);
    const auto loaded = loadClusterConfig({}, environmentOf({{"KUBECONFIG", files.join(u':')}}));
    QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
    const ClusterConfig &merged = loaded.value();
    QTEST((QStringList{merged.server.toString(), merged.caFile, merged.tlsServerName,
              QString::fromUtf8(merged.token), merged.basicUser}),
        "want");
    QCOMPARE(merged.caPem.isEmpty(), merged.caFile.isEmpty());
}

void tst_Kubeconfig::proxyOfTheEnvironment_data()
{
    QTest::addColumn<QString>("variable");
    QTest::addColumn<QString>("proxyUrl"); // of the kubeconfig; empty: none
    QTest::addColumn<bool>("isInPod");
    QTest::addColumn<QString>("want"); // a proxy, or a sentence
    const QString fault = QStringLiteral(
        "HTTPS_PROXY in the environment is no address like http://host:3128, https://host:3128 or "
        "socks5://host:1080; or name the server in NO_PROXY");
    QTest::newRow("C-36 http") << "http://p:3128"
                               << "" << false << "http://p:3128";
    QTest::newRow("C-36 socks5") << "socks5://p:1080"
                                 << "" << false << "socks5://p:1080";
    QTest::newRow("C-36 the kubeconfig goes first") << "https://p:3128"
                                                    << "http://q:1" << false << "http://q:1";
    QTest::newRow("C-36 over TLS") << "https://p:3128"
                                   << "" << false << "https://p:3128";
    QTest::newRow("C-36 no proxy") << "ftp://p:3128"
                                   << "" << false << fault;
    QTest::newRow("C-36 in a pod") << "http://p:3128"
                                   << "" << true << "http://p:3128";
    QTest::newRow("C-36 in a pod, over TLS") << "https://p:3128"
                                             << "" << true << "https://p:3128";
    QTest::newRow("C-36 in a pod, no proxy") << "ftp://p:3128"
                                             << "" << true << fault;
}

void tst_Kubeconfig::proxyOfTheEnvironment()
{
    QFETCH(const QString, variable);
    QFETCH(const QString, proxyUrl);
    QFETCH(const bool, isInPod);
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("config"));
    write(path,
        config(kServer + (proxyUrl.isEmpty() ? ""_ba : ", proxy-url: \"" + proxyUrl.toUtf8() + '"'),
            "token: t"));
    write(folder.filePath(QStringLiteral("token")), "pod-token");
    QHash<QByteArray, QString> variables{{"HTTPS_PROXY", variable}};
    if (isInPod) {
        variables.insert("KUBERNETES_SERVICE_HOST", QStringLiteral("10.0.0.1"));
        variables.insert("KUBERNETES_SERVICE_PORT", QStringLiteral("443"));
    }
    LoadEnvironment environment = environmentOf(variables);
    environment.serviceAccountFolder = folder.path();
    const auto loaded = loadClusterConfig({isInPod ? QString() : path, {}}, environment);
    QTEST(loaded.isOk() ? loaded.value().proxyUrl.toString() : loaded.error().message(), "want");
}

QTEST_GUILESS_MAIN(tst_Kubeconfig)
#include "tst_kubeconfig.moc"
