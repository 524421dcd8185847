// What an exec plugin leaves behind when it has ended, in whatever way: its complaints, and nothing
// else.
#include "execrig.h"
#include "recorder.h"

#include <QDir>
#include <QTest>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

using namespace davit;
using namespace davit::transport;
using namespace execrig;
using namespace Qt::Literals::StringLiterals;

namespace {

// Children of this process that have ended and wait for somebody to look, as /proc has them.
QByteArrayList zombies()
{
    QByteArrayList found;
    const QByteArray ours = " Z " + QByteArray::number(getpid()) + ' ';
    for (const QString &number : QDir(u"/proc"_s).entryList(QDir::Dirs)) {
        QFile file(u"/proc/"_s + number + u"/stat"_s);
        if (!file.open(QIODevice::ReadOnly))
            continue;
        const QByteArray stat = file.readAll(); // "17 (sh) Z 16 …": number, name, state, parent
        if (stat.mid(stat.lastIndexOf(')') + 1).startsWith(ours))
            found += stat;
    }
    return found;
}

} // namespace

class tst_ExecEnd : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void standardError_data();
    void standardError();
    void noZombies_data();
    void noZombies();
    void childrenEndWithTheProgram_data();
    void childrenEndWithTheProgram();
};

void tst_ExecEnd::standardError_data()
{
    QTest::addColumn<QByteArray>("last"); // line of the program
    QTest::newRow("C-71 of one that works") << ""_ba;
    QTest::newRow("C-71 of one that fails") << "exit 3\n"_ba;
}

// Unchanged, where the host's own goes.
void tst_ExecEnd::standardError()
{
    QFETCH(const QByteArray, last);
    RawServer server(tellToken, serverTls());
    const QTemporaryDir folder;
    const QByteArray seen = folder.filePath(u"seen"_s).toUtf8();
    const int file = ::open(seen.constData(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    const int before = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    QVERIFY(file >= 0 && before >= 0 && ::dup2(file, STDERR_FILENO) == STDERR_FILENO);
    const auto body = getOnce(*makeQnamTransport(execConfig(
        server.port(), folder, "echo 'log in at x.io' >&2\n" + last + printing(folder))));
    ::dup2(before, STDERR_FILENO);
    ::close(before);
    ::close(file);
    QCOMPARE(body.isOk(), last.isEmpty());
    QFile written(QString::fromUtf8(seen));
    QVERIFY(written.open(QIODevice::ReadOnly));
    QCOMPARE(written.readAll(), "log in at x.io\n"_ba);
}

void tst_ExecEnd::noZombies_data()
{
    QTest::addColumn<QByteArray>("script"); // empty: there is no such program
    QTest::addColumn<bool>("isWaitedFor"); // else its transport ends first
    QTest::newRow("it works") << "printf '%s' "
                                 "'{\"apiVersion\":\"client.authentication.k8s.io/v1\","
                                 "\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t\"}}'\n"_ba
                              << true;
    QTest::newRow("it fails") << "exit 3"_ba << true;
    QTest::newRow("it is killed") << "kill -9 $$"_ba << true;
    QTest::newRow("it prints too much, and is ended") << "exec yes"_ba << true;
    QTest::newRow("it is missing") << ""_ba << true;
    QTest::newRow("it outlives its transport") << "exec sleep 300"_ba << false;
}

void tst_ExecEnd::noZombies()
{
    QFETCH(const QByteArray, script);
    QFETCH(const bool, isWaitedFor);
    RawServer server(tellToken, serverTls());
    const QTemporaryDir folder;
    const QByteArray begun = folder.filePath(u"begun"_s).toUtf8();
    ClusterConfig config
        = execConfig(server.port(), folder, "echo $$ > " + begun + '\n' + script + '\n');
    if (script.isEmpty())
        config.exec->command = folder.filePath(u"missing"_s);
    auto transport = makeQnamTransport(config);
    {
        Caller caller(*transport);
        Recorder recorder;
        const auto exchange = caller.start(Request{}, recorder);
        if (isWaitedFor)
            QVERIFY(recorder.waitForEnd());
        else
            QTRY_VERIFY(
                QFile(QString::fromUtf8(begun)).size() > 0); // the program is another process
    }
    if (!isWaitedFor)
        transport.reset();
    QCOMPARE(zombies(), QByteArrayList()); // whoever is told of its end may rely on it
    QFile number(QString::fromUtf8(begun));
    QCOMPARE(number.open(QIODevice::ReadOnly), !script.isEmpty());
    if (!script.isEmpty())
        QVERIFY(!QFile::exists(u"/proc/"_s + QString::fromLatin1(number.readAll().trimmed())));
}

void tst_ExecEnd::childrenEndWithTheProgram_data()
{
    QTest::addColumn<QByteArray>("last"); // what the program does once it has a child
    QTest::newRow("it is given up") << "exec yes"_ba;
    QTest::newRow("the transport ends") << "wait"_ba;
}

// Those that stay in its process group; a child of its child is one of them.
void tst_ExecEnd::childrenEndWithTheProgram()
{
    QFETCH(const QByteArray, last);
    RawServer server(tellToken, serverTls());
    const QTemporaryDir folder;
    const QString numberFile = folder.filePath(QStringLiteral("child"));
    auto transport = makeQnamTransport(execConfig(server.port(), folder,
        "sh -c 'sleep 300 & echo $! > " + numberFile.toUtf8() + "; wait' &\nwhile [ ! -s "
            + numberFile.toUtf8() + " ]; do sleep 0.01; done\n" + last + '\n'));
    {
        Caller caller(*transport);
        Recorder recorder;
        const auto exchange = caller.start(Request{}, recorder);
        const auto number = [&numberFile] {
            QFile file(numberFile);
            return file.open(QIODevice::ReadOnly) ? file.readAll().trimmed() : QByteArray();
        };
        QTRY_VERIFY(number().toInt() > 0);
        if (last != "wait")
            QVERIFY(recorder.waitForEnd());
    }
    transport.reset();
    QFile number(numberFile);
    QVERIFY(number.open(QIODevice::ReadOnly));
    const QString stat
        = QStringLiteral("/proc/%1/stat").arg(QString::fromLatin1(number.readAll().trimmed()));
    const auto isThere = [&stat] {
        QFile file(stat); // a zombie waits for its new parent only
        return file.open(QIODevice::ReadOnly) && !file.readAll().contains(") Z ");
    };
    QTRY_VERIFY(!isThere());
}

QTEST_GUILESS_MAIN(tst_ExecEnd)
#include "tst_execend.moc"
