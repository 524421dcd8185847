// What people mistype in a kubeconfig: refused, or told as a warning where kubectl goes on as well.
#include "kubeconfigrig.h"

#include <QTemporaryDir>
#include <QTest>

using namespace davit;
using namespace davit::transport;
using namespace kubeconfigrig;
using namespace Qt::Literals::StringLiterals;

class tst_KubeconfigMistakes : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void refused_data();
    void refused();
    void servers_data();
    void servers();
    void warnings_data();
    void warnings();
    void missingFiles();
};

void tst_KubeconfigMistakes::refused_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("sentence"); // after "kubeconfig <path>: "
    const auto row = [](const char *name, const QByteArray &text, const char *sentence) {
        QTest::newRow(name) << text << QString::fromLatin1(sentence);
    };
    row("another apiVersion", "apiVersion: v2\n" + config(kServer, "token: t"),
        "its apiVersion is v2, not v1; name a kubeconfig");
    row("an apiVersion that is a number", "apiVersion: 1\n" + config(kServer, "token: t"),
        "its apiVersion is 1, not v1; name a kubeconfig");
    row("a kind that is no text", "kind: [Config]\n" + config(kServer, "token: t"),
        "its kind is [\"Config\"], not Config; name a kubeconfig");
    row("a token beside the name", "users: [{name: a}, {name: u, token: abc}]",
        "users[1], \"u\": token stands beside name, put it into user: {...}");
    row("a token beside an empty user", "users: [{name: u, user: null, token: abc}]",
        "users[0], \"u\": token stands beside name, put it into user: {...}");
    row("a token beside a user", "users: [{name: u, user: {}, token: abc}]",
        "users[0], \"u\": token stands beside name, put it into user: {...}");
    row("an exec program beside the name", "users: [{name: u, exec: {command: x}}]",
        "users[0], \"u\": exec stands beside name, put it into user: {...}");
    row("a server beside the name", "clusters: [{name: c, server: \"https://h:1\"}]",
        "clusters[0], \"c\": server stands beside name, put it into cluster: {...}");
    row("a cluster and a user beside the name", "contexts: [{name: c, cluster: c, user: u}]",
        "contexts[0], \"c\": cluster, user stand beside name, put them into context: {...}");
}

void tst_KubeconfigMistakes::refused()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, sentence);
    QTemporaryDir folder;
    const QString path = folder.filePath(u"config"_s);
    write(path, text);
    const auto loaded = loadClusterConfig({path, {}}, environmentOf({}));
    QVERIFY(!loaded.isOk());
    QCOMPARE(loaded.error().code(), ErrorCode::InvalidConfiguration);
    QCOMPARE(loaded.error().message(), u"kubeconfig %1: "_s.arg(path) + sentence);
}

void tst_KubeconfigMistakes::servers_data()
{
    QTest::addColumn<QByteArray>("server");
    QTest::addColumn<bool>("isTaken");
    const auto row = [](const QByteArray &server, bool isTaken) {
        QTest::newRow(server.constData()) << server << isTaken;
    };
    for (const char *wrong :
        {"https:/127.0.0.1:29001", "http:/h:1", "https//127.0.0.1:29001", "https://https://h:1",
            "https://http://h:1", "HTTPS://HTTPS://h:1", "https:h:1", "https;//h:1", "https.//h:1",
            "https:///h:1", "https:// h:1", "//h:1", "https:", "https://", "http", "https/h:1",
            "h:1//x", "https:\\\\h:1", "https://h:70000", "https://h:x", "htps://h:1"})
        row(wrong, false);
    for (const char *right :
        {"https://h:1", "h:1", "h", "https://h", "https://h:1/", "https://h:1/a/b",
            "https://https.example:1", "https://http:6443", "https://[::1]:1", "HTTPS://h:1"})
        row(right, true);
}

void tst_KubeconfigMistakes::servers()
{
    QFETCH(const QByteArray, server);
    QFETCH(const bool, isTaken);
    QTemporaryDir folder;
    const QString path = folder.filePath(u"config"_s);
    for (const QByteArray &member : {"server: '"_ba, "server: \"https://h:1\", proxy-url: '"_ba}) {
        const bool isProxy = member.contains("proxy");
        if (isProxy && (!server.contains("://") || server.startsWith("https://https.")))
            continue; // a proxy wants a scheme
        write(path, config(member + server + "'", "token: t"));
        const auto loaded = loadClusterConfig({path, {}}, environmentOf({}));
        QCOMPARE(loaded.isOk(), isTaken);
        if (loaded.isOk())
            continue;
        const QString what = isProxy ? u"proxy-url is no address like http://host:3128, "
                                       "https://host:3128 or socks5://host:1080"_s
                                     : u"server \"%1\" is no address like https://host:6443"_s.arg(
                                         QString::fromLatin1(server));
        QCOMPARE(loaded.error().message(), u"kubeconfig %1: cluster \"c\": "_s.arg(path) + what);
    }
}

void tst_KubeconfigMistakes::warnings_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QStringList>("sentences"); // after "kubeconfig <path>: "
    const auto row = [](const char *name, const QByteArray &text, const QStringList &sentences) {
        QTest::newRow(name) << text << sentences;
    };
    const QString leftOut = u"%1: davit knows no %2 there and leaves it out; %3"_s;
    const auto of = [&](const char *entry, const char *member, const char *advice) {
        return leftOut.arg(QLatin1String(entry), QLatin1String(member), QLatin1String(advice));
    };
    row("nothing odd", "apiVersion: v1\nkind: Config\nnews: [1]\n" + config(kServer, "token: t"),
        {});
    row("all that there is",
        config(kServer + ", disable-compression: true, extensions: [], tls-server-name: h",
            "token: t, as: a, as-uid: b, as-groups: [c], extensions: []",
            "cluster: c, user: u, namespace: ns, extensions: []"),
        {});
    row("no credential for a letter", config(kServer, "tokn: abc"),
        {of("user \"u\"", "tokn", "is token meant?")});
    row("another case", config(kServer, "tokenfile: abc"),
        {of("user \"u\"", "tokenfile", "is tokenFile meant?")});
    row("a member of another entry", config(kServer, "token: t, server: x"),
        {of("user \"u\"", "server", "remove it, or correct its name")});
    row("of each entry",
        config(kServer + ", x-y: 1", "token: t, zzzz: 1", "cluster: c, user: u, namspace: a"),
        {of("context \"c\"", "namspace", "is namespace meant?"),
            of("cluster \"c\"", "x-y", "remove it, or correct its name"),
            of("user \"u\"", "zzzz", "remove it, or correct its name")});
    row("of an exec program",
        config(kServer,
            "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, "
            "interactiveMode: Never, arg: [a]}"),
        {of("user \"u\": exec", "arg", "is args meant?")});
}

void tst_KubeconfigMistakes::warnings()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QStringList, sentences);
    QTemporaryDir folder;
    const QString path = folder.filePath(u"config"_s);
    write(path, text);
    const auto loaded = loadClusterConfig({path, {}}, environmentOf({}));
    QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
    QStringList wanted;
    for (const QString &sentence : sentences)
        wanted << u"kubeconfig %1: "_s.arg(path) + sentence;
    QCOMPARE(loaded.value().warnings, wanted);
}

// kubectl goes on without them, and says so.
void tst_KubeconfigMistakes::missingFiles()
{
    QTemporaryDir folder;
    const QString path = folder.filePath(u"config"_s);
    write(path, config(kServer, "token: t"));
    const QString variable = u"%1/nope:%2:%1/no/such"_s.arg(folder.path(), path);
    const auto loaded = loadClusterConfig({}, environmentOf({{"KUBECONFIG", variable}}));
    QVERIFY(loaded.isOk());
    QCOMPARE(loaded.value().warnings,
        QStringList{u"KUBECONFIG names %1/nope, %1/no/such, which do not exist; correct it, or "
                    "leave it out"_s.arg(folder.path())});
}

QTEST_GUILESS_MAIN(tst_KubeconfigMistakes)
#include "tst_kubeconfigmistakes.moc"
