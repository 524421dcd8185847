#include "host/configfile.h"

#include <QJsonDocument>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace davit;
using namespace davit::host;

class tst_ConfigFile : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void reads_data();
    void reads();
    void initialSync();
    void contentType_data();
    void contentType();
    void limits();
    void execPolicy_data();
    void execPolicy();
    void missing();
    void none();

private:
    QTemporaryDir m_dir;
};

// NOLINTNEXTLINE(readability-function-size): a table
void tst_ConfigFile::reads_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("seen"); // the plugins' part as JSON, or what follows the path
    const QByteArray head = "apiVersion: davit.dev/v1alpha1\nkind: DavitConfiguration\n";
    const auto row = [](const char *name, const QByteArray &text, const char *seen) {
        QTest::newRow(name) << text << QString::fromUtf8(seen);
    };
    row("nothing for plugins", head, "{}");
    row("one plugin", head + "plugins:\n  replicator:\n    deniedNamespaces: [\"kube-*\"]\n",
        R"({"replicator":{"deniedNamespaces":["kube-*"]}})");
    row("JSON is YAML",
        R"({"apiVersion":"davit.dev/v1alpha1","kind":"DavitConfiguration","plugins":{"a":{"b":1}}})",
        R"({"a":{"b":1}})");
    row("no YAML", "a: [", " is no YAML: line 1");
    row("empty", "", " holds 0 documents; it must hold one");
    row("two documents", head + "---\n" + head, " holds 2 documents; it must hold one");
    row("a list", "- a", " is no mapping; begin it with \"apiVersion: davit.dev/v1alpha1\"");
    row("another version", "apiVersion: davit.dev/v9\nkind: DavitConfiguration\n",
        " must begin with \"apiVersion: davit.dev/v1alpha1\" and \"kind: DavitConfiguration\"");
    row("an unknown member", head + "plugin: {}\n",
        " has an unknown member \"plugin\"; known are apiVersion, kind, contentType, "
        "initialSync, limits, execPrograms and plugins");
    row("B20 limits", head + "limits: {eventBytes: 32Mi, itemBytes: 65536, listBytes: 1Gi}\n",
        "{}");
    row("B20 limits without a number", head + "limits: {eventBytes: much}\n",
        " has \"limits.eventBytes\" that is no number of bytes from 65536 to 268435456, such as "
        "32Mi");
    row("B20 limits out of range", head + "limits: {itemBytes: 1Ki}\n",
        " has \"limits.itemBytes\" that is no number of bytes from 65536 to 268435456");
    row("B20 an unknown limit", head + "limits: {pageBytes: 1Mi}\n",
        " has an unknown member \"limits.pageBytes\"; known are eventBytes, itemBytes and "
        "listBytes");
    row("limits are a word", head + "limits: none\n",
        " has \"limits\" that is no mapping from name to bytes");
    row("ways to fill a cache", head + "initialSync: {\"*\": watchList, v1 Pod: list}\n", "{}");
    row("initialSync is a word", head + "initialSync: list\n",
        " has \"initialSync\" that is no mapping from kind to auto, list or watchList");
    row("an unknown way", head + "initialSync: {v1 Pod: fast}\n",
        " has \"initialSync.v1 Pod\" that is none of auto, list and watchList");
    row("C-25 JSON for all caches", head + "contentType: application/json\n", "{}");
    row("C-25 protobuf for the kinds of Kubernetes",
        head + "contentType: application/vnd.kubernetes.protobuf\n", "{}");
    row("C-25 another content type", head + "contentType: application/cbor\n",
        " has a \"contentType\" that is neither application/vnd.kubernetes.protobuf nor "
        "application/json");
    row("C-25 a content type that is no text", head + "contentType: [application/json]\n",
        " has a \"contentType\" that is neither application/vnd.kubernetes.protobuf nor "
        "application/json");
    row("C-72 no program", head + "execPrograms: {policy: DenyAll}\n", "{}");
    row("C-72 without a policy", head + "execPrograms: {allow: [/bin/a]}\n",
        " has \"execPrograms\" without a policy");
    row("C-72 an empty list", head + "execPrograms: {policy: AllowList, allow: []}\n",
        " has \"execPrograms.allow\" that is no list");
    row("C-72 a list beside another policy",
        head + "execPrograms: {policy: AllowAll, allow: [/bin/a]}\n",
        " has \"execPrograms.allow\" that is no list");
    row("C-72 a number in the list", head + "execPrograms: {policy: AllowList, allow: [1]}\n",
        " has \"execPrograms.allow\" that is no list");
    row("C-72 an unknown member", head + "execPrograms: {policy: AllowAll, deny: [/bin/a]}\n",
        " has an unknown member \"execPrograms.deny\"");
    row("plugins is a list", head + "plugins: [a]\n",
        " has \"plugins\" that is no mapping from plugin Id to settings");
    row("a plugin is a text", head + "plugins: {a: b}\n", " has \"plugins.a\" that is no mapping");
}

void tst_ConfigFile::reads()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, seen);
    QFile file(m_dir.filePath(QStringLiteral("config.yaml")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
    file.close();
    const Result<Configuration> result = readConfiguration(file.fileName());
    if (result.isOk()) {
        QCOMPARE(
            QString::fromUtf8(QJsonDocument(result.value().plugins).toJson(QJsonDocument::Compact)),
            seen);
        return;
    }
    const QString head = QStringLiteral("configuration file ") + file.fileName();
    QCOMPARE(result.error().message().left(head.size() + seen.size()), head + seen);
}

void tst_ConfigFile::initialSync()
{
    QFile file(m_dir.filePath(QStringLiteral("sync.yaml")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("apiVersion: davit.dev/v1alpha1\nkind: DavitConfiguration\n"
               "initialSync: { \"*\": watchList, v1 Pod: list, apps/v1 Deployment: auto }\n");
    file.close();
    const Result<Configuration> result = readConfiguration(file.fileName());
    QVERIFY(result.isOk());
    const auto &syncs = result.value().initialSync;
    QCOMPARE(syncs.size(), 3);
    QCOMPARE(syncs.value(QStringLiteral("*")), cache::InitialSync::WatchList);
    QCOMPARE(syncs.value(QStringLiteral("v1 Pod")), cache::InitialSync::List);
    QCOMPARE(syncs.value(QStringLiteral("apps/v1 Deployment")), cache::InitialSync::Auto);
}

void tst_ConfigFile::contentType_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("prefersProtobuf");
    QTest::newRow("not said") << QByteArray() << true;
    QTest::newRow("JSON") << QByteArray("contentType: application/json\n") << false;
    QTest::newRow("protobuf") << QByteArray("contentType: application/vnd.kubernetes.protobuf\n")
                              << true;
}

void tst_ConfigFile::contentType()
{
    QFETCH(const QByteArray, text);
    const QString path = m_dir.filePath(QStringLiteral("contentType"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("apiVersion: davit.dev/v1alpha1\nkind: DavitConfiguration\n" + text);
    file.close();
    const Result<Configuration> read = readConfiguration(path);
    QVERIFY2(read.isOk(), qPrintable(read.isOk() ? QString() : read.error().message()));
    QTEST(read.value().prefersProtobuf, "prefersProtobuf");
}

void tst_ConfigFile::limits()
{
    const QString path = m_dir.filePath(QStringLiteral("limits"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("apiVersion: davit.dev/v1alpha1\nkind: DavitConfiguration\n"
               "limits: {eventBytes: 32Mi, listBytes: 1Gi}\n");
    file.close();
    const Result<Configuration> read = readConfiguration(path);
    QVERIFY2(read.isOk(), qPrintable(read.isOk() ? QString() : read.error().message()));
    QCOMPARE(read.value().limits.maxEventBytes, qsizetype(32) << 20);
    QCOMPARE(read.value().limits.maxItemBytes, codec::Limits().maxItemBytes);
    QCOMPARE(read.value().maxListBytes, qint64(1) << 30);
}

void tst_ConfigFile::execPolicy_data() // C-72
{
    QTest::addColumn<QStringList>("allowed"); // empty: all
    QTest::addColumn<QString>("command");
    QTest::addColumn<bool>("isAllowed");
    const QString shell = QStandardPaths::findExecutable(QStringLiteral("sh"));
    const QStringList absolute{QStringLiteral("/opt/a"), shell};
    QTest::newRow("all") << QStringList() << QStringLiteral("/opt/b") << true;
    QTest::newRow("named") << absolute << QStringLiteral("/opt/a") << true;
    QTest::newRow("named in another way") << absolute << QStringLiteral("/opt/x/../a") << true;
    QTest::newRow("by its name in PATH") << absolute << QStringLiteral("sh") << true;
    QTest::newRow("a name in the list") << QStringList{QStringLiteral("sh")} << shell << true;
    QTest::newRow("not named") << absolute << QStringLiteral("/opt/b") << false;
    QTest::newRow("the same name elsewhere")
        << QStringList{QStringLiteral("sh")} << QStringLiteral("/tmp/sh") << false;
    QTest::newRow("not there") << absolute << QStringLiteral("no-such-program-4711") << false;
}

void tst_ConfigFile::execPolicy()
{
    QFETCH(const QStringList, allowed);
    QFETCH(const QString, command);
    ExecPolicy policy;
    policy.kind = allowed.isEmpty() ? ExecPolicy::Kind::AllowAll : ExecPolicy::Kind::AllowList;
    policy.allowed = allowed;
    QTEST(policy.allows(command), "isAllowed");
    policy.kind = ExecPolicy::Kind::DenyAll;
    QVERIFY(!policy.allows(command));
}

void tst_ConfigFile::missing()
{
    const Result<Configuration> result = readConfiguration(m_dir.filePath(QStringLiteral("none")));
    QVERIFY(!result.isOk());
    QCOMPARE(result.error().message(),
        QStringLiteral("configuration file %1 cannot be read (No such file or directory); check "
                       "--config")
            .arg(m_dir.filePath(QStringLiteral("none"))));
}

void tst_ConfigFile::none()
{
    const Result<Configuration> result = readConfiguration({});
    QVERIFY(result.isOk());
    QVERIFY(result.value().plugins.isEmpty());
}

QTEST_GUILESS_MAIN(tst_ConfigFile)
#include "tst_configfile.moc"
