// ThreadSanitizer still sees a race of ours under the suppressions of packaging/tsan.supp, wherever
// Qt's frames stand around it. Each row starts this program again with a race planted on purpose.
#include <support/strand.h>

#include <QCoreApplication>
#include <QProcess>
#include <QSemaphore>
#include <QTest>
#include <QThread>
#include <QThreadPool>
#include <QtConcurrentRun>

using namespace Qt::StringLiterals;

namespace {

int planted = 0;

void raceOnThreads()
{
    QThread a;
    QThread b;
    QObject inA;
    QObject inB;
    inA.moveToThread(&a);
    inB.moveToThread(&b);
    a.start();
    b.start();
    QMetaObject::invokeMethod(
        &inA, [] { ++planted; }, Qt::QueuedConnection);
    QMetaObject::invokeMethod(
        &inB, [] { ++planted; }, Qt::QueuedConnection);
    for (QThread *thread : {&a, &b}) {
        thread->quit();
        thread->wait();
    }
}

void raceOnPool()
{
    QThreadPool pool;
    for (int i = 0; i < 2; ++i)
        (void)QtConcurrent::run(&pool, [] { ++planted; });
    pool.waitForDone();
}

// One strand orders its own work; two do not order each other's.
void postToStrands(int strands)
{
    QThreadPool pool;
    davit::support::Strand first(pool);
    davit::support::Strand second(pool);
    QSemaphore done;
    for (int i = 0; i < 200; ++i)
        (i % strands ? second : first).post([&] {
            ++planted;
            done.release();
        });
    done.acquire(200);
}

int plant(const QString &where)
{
    if (where == u"threads"_s)
        raceOnThreads();
    else if (where == u"pool"_s)
        raceOnPool();
    else
        postToStrands(where == u"two strands"_s ? 2 : 1);
    return 0;
}

} // namespace

class tst_TsanSelfTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void reports_data();
    void reports();
};

void tst_TsanSelfTest::reports_data()
{
    QTest::addColumn<bool>("isReported");
    QTest::newRow("threads") << true;
    QTest::newRow("pool") << true;
    QTest::newRow("two strands") << true;
    QTest::newRow("one strand") << false;
}

void tst_TsanSelfTest::reports()
{
    QFETCH(bool, isReported);
    QByteArray output;
    int exitCode = 0;
    // A race is seen only while both accesses are remembered: not in each run of a busy machine.
    for (int run = 0; run < 20 && exitCode != 66; ++run) {
        QProcess process;
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start(QCoreApplication::applicationFilePath(),
            {u"--race"_s, QString::fromLatin1(QTest::currentDataTag())});
        QVERIFY(process.waitForFinished());
        output = process.readAll();
        exitCode = process.exitCode();
    }
    QVERIFY2(output.contains("ThreadSanitizer: data race") == isReported, output.constData());
    QCOMPARE(exitCode, isReported ? 66 : 0);
}

int main(int argc, char **argv)
{
    QCoreApplication application(argc, argv);
    if (argc == 3 && qstrcmp(argv[1], "--race") == 0)
        return plant(QString::fromLatin1(argv[2]));
    tst_TsanSelfTest test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_tsanselftest.moc"
