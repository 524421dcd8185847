#include "host/statedir.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <unistd.h>

using namespace davit;
using namespace davit::host;

class tst_StateDir : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void refused_data();
    void refused();
    void ready();
    void oneHostEach();
    void defaultIsMade();

private:
    QTemporaryDir m_dir;
};

void tst_StateDir::refused_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("fault");
    QFile file(m_dir.filePath(QStringLiteral("file")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    QTest::newRow("missing") << m_dir.filePath(QStringLiteral("none"))
                             << QStringLiteral("does not exist; create it, or give");
    QTest::newRow("a file") << file.fileName() << QStringLiteral("is no directory; give");
    // Nobody may write there, root neither.
    QTest::newRow("read-only") << QStringLiteral("/proc/self")
                               << QStringLiteral("is not writable; give");
}

void tst_StateDir::refused()
{
    QFETCH(const QString, path);
    QFETCH(const QString, fault);
    const Result<QString> result = prepareStateDir(path);
    QVERIFY(!result.isOk());
    QCOMPARE(result.error().message(),
        QStringLiteral("state directory %1 %2 one that is writable and not mounted noexec with "
                       "--state-dir")
            .arg(path, fault));
}

void tst_StateDir::ready()
{
    const Result<QString> result = prepareStateDir(m_dir.path());
    QVERIFY(result.isOk());
    QCOMPARE(result.value(), m_dir.path());
}

void tst_StateDir::oneHostEach()
{
    const QTemporaryDir mine;
    const QTemporaryDir other;
    QVERIFY(lockStateDir(mine.path()).isOk());
    QCOMPARE(lockStateDir(mine.path()).error().message(), // the kernel asks which file, not who
        QStringLiteral("state directory %1 is in use by another davit (process %2); stop that one, "
                       "or give this one another directory with --state-dir")
            .arg(mine.path())
            .arg(QCoreApplication::applicationPid()));
    QVERIFY(lockStateDir(other.path()).isOk());
    QVERIFY(
        QFile::link(QStringLiteral("/etc/passwd"), m_dir.filePath(QStringLiteral("davit.lock"))));
    QVERIFY(!lockStateDir(m_dir.path()).isOk()); // no link is followed
}

void tst_StateDir::defaultIsMade()
{
    const QString wanted = m_dir.filePath(QStringLiteral("state/davit"));
    qputenv("STATE_DIRECTORY", wanted.toUtf8());
    const Result<QString> result = prepareStateDir({});
    qunsetenv("STATE_DIRECTORY");
    QVERIFY(result.isOk());
    QCOMPARE(result.value(), wanted);
    QVERIFY(QFile::exists(wanted));
}

QTEST_GUILESS_MAIN(tst_StateDir)
#include "tst_statedir.moc"
