// Each example, and the replicator's way of building, as a user does it: out of the tree, against
// the installed SDK, with CMake's find_package.
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

class tst_Examples : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void builds_data();
    void builds();
    void staySmall_data() { builds_data(); }
    void staySmall();

private:
    // Runs it; the output when it fails, else empty.
    static QByteArray run(const QStringList &command);

    QTemporaryDir m_dir;
};

QByteArray tst_Examples::run(const QStringList &command)
{
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(command.first(), command.mid(1));
    const bool isGood = process.waitForFinished(240'000)
        && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
    return isGood ? QByteArray()
                  : command.join(QLatin1Char(' ')).toUtf8() + '\n' + process.readAll();
}

void tst_Examples::initTestCase()
{
    for (const char *component : {"library", "sdk"}) {
        const QByteArray fault = run(
            {QStringLiteral("cmake"), QStringLiteral("--install"), QStringLiteral(DAVIT_BUILD_DIR),
                QStringLiteral("--component"), QString::fromUtf8(component),
                QStringLiteral("--prefix"), m_dir.filePath(QStringLiteral("prefix"))});
        QVERIFY2(fault.isEmpty(), fault.constData());
    }
}

void tst_Examples::builds_data()
{
    QTest::addColumn<QString>("folder");
    QTest::addColumn<QString>("plugin");
    QTest::newRow("01-log-events")
        << QStringLiteral("01-log-events") << QStringLiteral("log-events.so");
    QTest::newRow("02-reconcile-configmap")
        << QStringLiteral("02-reconcile-configmap") << QStringLiteral("reconcile-configmap.so");
}

void tst_Examples::builds()
{
    QFETCH(const QString, folder);
    QFETCH(const QString, plugin);
    const QString build = m_dir.filePath(folder);
    QByteArray fault = run({QStringLiteral("cmake"), QStringLiteral("-S"),
        QStringLiteral(DAVIT_SOURCE_DIR "/examples/") + folder, QStringLiteral("-B"), build,
        QStringLiteral("-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Wno-psabi -Werror"),
        QStringLiteral("-DCMAKE_PREFIX_PATH=") + m_dir.filePath(QStringLiteral("prefix"))});
    QVERIFY2(fault.isEmpty(), fault.constData());
    fault = run({QStringLiteral("cmake"), QStringLiteral("--build"), build});
    QVERIFY2(fault.isEmpty(), fault.constData());
    fault = run({QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"), QStringLiteral("plugin"),
        QStringLiteral("inspect"), build + QStringLiteral("/plugins/") + plugin});
    QVERIFY2(fault.isEmpty(), fault.constData());
}

// One idea each, under 100 lines, the CMake file included.
void tst_Examples::staySmall()
{
    QFETCH(const QString, folder);
    qsizetype lines = 0;
    const QDir dir(QStringLiteral(DAVIT_SOURCE_DIR "/examples/") + folder);
    for (const QString &name : dir.entryList(QDir::Files)) {
        QFile file(dir.filePath(name));
        QVERIFY(file.open(QIODevice::ReadOnly));
        if (!name.endsWith(QStringLiteral(".md")))
            lines += file.readAll().count('\n');
    }
    QVERIFY2(lines > 10 && lines < 100, qPrintable(QString::number(lines)));
}

QTEST_GUILESS_MAIN(tst_Examples)
#include "tst_examples.moc"
