// What `davit check` tells of the configuration before it asks anybody: nothing listens there.
#include "testfile.h"

#include <host/check.h>

#include <QTemporaryDir>
#include <QTest>

using namespace davit::host;
using namespace Qt::Literals::StringLiterals;

class tst_CheckConfiguration : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void mergedFiles_data();
    void mergedFiles();
    void credential_data();
    void credential();

private:
    // The lines of a topic for this KUBECONFIG, without the test's folder.
    QStringList told(const QString &variable, const QString &topic);

    QTemporaryDir m_dir;
};

QStringList tst_CheckConfiguration::told(const QString &variable, const QString &topic)
{
    qputenv("KUBECONFIG", variable.toLocal8Bit());
    QStringList lines;
    check({}, [&](const Finding &finding) {
        if (finding.topic == topic)
            lines << toLine(finding).remove(m_dir.path()).simplified();
    });
    qunsetenv("KUBECONFIG");
    return lines;
}

void tst_CheckConfiguration::mergedFiles_data()
{
    QTest::addColumn<QStringList>("files");
    QTest::addColumn<QStringList>("lines");
    const QString end = u", namespace default; taken because KUBECONFIG names it"_s;
    const QString lost = u"look configuration KUBECONFIG names /nope, which does not exist; "
                         u"correct it, or leave it "
                         "out"_s;
    QTest::newRow("one file") << QStringList{u"all"_s}
                              << QStringList{u"ok configuration kubeconfig /all, context \"c\", "
                                             "user \"u\""_s
                                     + end};
    QTest::newRow("one of them is missing")
        << QStringList{u"nope"_s, u"all"_s}
        << QStringList{
               u"ok configuration kubeconfig /all, context \"c\", user \"u\""_s + end, lost};
    QTest::newRow("each entry from another file")
        << QStringList{u"nope"_s, u"m1"_s, u"m2"_s, u"m3"_s}
        << QStringList{u"ok configuration kubeconfig /m3, context \"c\", user \"u\" of /m2, "
                       "cluster \"k\" of /m1"_s
                   + end,
               lost};
    QTest::newRow("the first that has an entry counts")
        << QStringList{u"m2"_s, u"all"_s}
        << QStringList{
               u"ok configuration kubeconfig /all, context \"c\", user \"u\" of /m2"_s + end};
}

void tst_CheckConfiguration::mergedFiles()
{
    QFETCH(const QStringList, files);
    const QByteArray cluster
        = "clusters: [{name: k, cluster: {server: \"https://127.0.0.1:1\"}}]\n";
    const QByteArray user = "users: [{name: u, user: {token: t}}]\n";
    const QByteArray context
        = "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n";
    writeFile(m_dir, u"m1"_s, cluster);
    writeFile(m_dir, u"m2"_s, user);
    writeFile(m_dir, u"m3"_s, context);
    writeFile(m_dir, u"all"_s, cluster + user + context);
    QStringList paths;
    for (const QString &file : files)
        paths << m_dir.filePath(file);
    QTEST(told(paths.join(u':'), u"configuration"_s), "lines");
}

void tst_CheckConfiguration::credential_data()
{
    QTest::addColumn<QByteArray>("user");
    QTest::addColumn<QString>("line");
    const auto row = [](const char *name, const QByteArray &user, const char *line) {
        QTest::newRow(name) << user << QString::fromLatin1(line);
    };
    row("token", "token: t", "ok credential a token");
    row("token file", "tokenFile: token", "ok credential the token in /token");
    row("token file beside a token", "token: t, tokenFile: token",
        "ok credential the token in /token");
    row("token file that is not there, beside a token", "token: t, tokenFile: /nope/x",
        "look credential a token, since tokenFile /nope/x cannot be read: No such file or "
        "directory; correct the path or the file, or remove one of both");
    row("token file that is empty, beside a token", "token: t, tokenFile: empty",
        "look credential a token, since tokenFile /empty is empty; correct the path or the file, "
        "or remove one of both");
    row("token file with a header in it, beside a token", "token: t, tokenFile: lines",
        "look credential a token, since tokenFile /lines holds control characters, a token is one "
        "line; correct the path or the file, or remove one of both");
    row("nothing", "", "ok credential nothing, it is anonymous");
}

void tst_CheckConfiguration::credential()
{
    QFETCH(const QByteArray, user);
    writeFile(m_dir, u"token"_s, "from-file\n");
    writeFile(m_dir, u"empty"_s, "\n");
    writeFile(m_dir, u"lines"_s, "a\nb\n");
    const QString path = writeFile(m_dir, u"config"_s,
        "current-context: c\nclusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\"}}]\n"
        "users: [{name: u, user: {"
            + user + "}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n");
    QTEST(told(path, u"credential"_s).value(0), "line");
}

QTEST_GUILESS_MAIN(tst_CheckConfiguration)
#include "tst_checkconfiguration.moc"
